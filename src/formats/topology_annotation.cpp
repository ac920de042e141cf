#include "rankward/formats/topology_annotation.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "json_cursor.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {
namespace {

using topology::Bytes;
using topology::GigabytesPerSecond;
using topology::Gpu;
using topology::Health;
using topology::LinkLayer;
using topology::MigProfile;
using topology::Nic;
using topology::NodeTopology;
using topology::PathType;
using topology::PortState;
using topology::TopologyManagerPolicy;

constexpr std::int64_t kVersion = 1;
// Far above any real node, low enough that sums of them fit.
constexpr std::int64_t kMaxIndex = 1023;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMaxSlices = 1024;
constexpr std::int64_t kMaxNvlinks = 255;
constexpr double kMaxRate = 10'000;

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr std::array kHealth = {Word<Health>{"healthy", Health::kHealthy},
                                Word<Health>{"unhealthy", Health::kUnhealthy}};
constexpr std::array kLinkLayers = {Word<LinkLayer>{"InfiniBand", LinkLayer::kInfiniBand},
                                    Word<LinkLayer>{"Ethernet", LinkLayer::kEthernet},
                                    Word<LinkLayer>{"EFA", LinkLayer::kEfa}};
constexpr std::array kStates = {Word<PortState>{"active", PortState::kActive},
                                Word<PortState>{"down", PortState::kDown}};
constexpr std::array kPolicies = {
    Word<TopologyManagerPolicy>{"none", TopologyManagerPolicy::kNone},
    Word<TopologyManagerPolicy>{"best-effort", TopologyManagerPolicy::kBestEffort},
    Word<TopologyManagerPolicy>{"restricted", TopologyManagerPolicy::kRestricted},
    Word<TopologyManagerPolicy>{"single-numa-node", TopologyManagerPolicy::kSingleNumaNode}};
constexpr std::array kScopes = {Word<bool>{"container", false}, Word<bool>{"pod", true}};
template <class Words, class Value>
bool read_word(Cursor& cursor, const Words& words, Value& out) {
  if (cursor.null()) return true;
  const std::size_t at = cursor.offset();
  std::string scratch;
  std::string_view text;
  if (!cursor.string(text, scratch)) return false;
  std::string accepted;
  for (const auto& word : words) {
    if (word.text == text) {
      out = word.value;
      return true;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(word.text);
  }
  return cursor.fail("must be one of " + accepted, at);
}

// "" where the value is not in the table: it is unknown and not written.
template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  return {};
}

bool read_path(Cursor& cursor, PathType& out) {
  const std::size_t at = cursor.offset();
  std::string scratch;
  std::string_view text;
  if (!cursor.string(text, scratch)) return false;
  const std::optional<PathType> path = topology::path_type(text);
  if (!path) return cursor.fail("must be one of X, NVL, C2C, PIX, PXB, PHB, NODE, SYS, ?", at);
  out = *path;
  return true;
}

bool read_unsigned(Cursor& cursor, std::optional<std::uint32_t>& out) {
  if (cursor.null()) return true;
  std::int64_t value = 0;
  if (!read_integer(cursor, 0, kMaxIndex, value)) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool read_bytes(Cursor& cursor, std::optional<Bytes>& out) {
  if (cursor.null()) return true;
  std::int64_t value = 0;
  if (!read_integer(cursor, 1, kMaxBytes, value)) return false;
  out = Bytes{value};
  return true;
}

bool read_rate(Cursor& cursor, std::optional<GigabytesPerSecond>& out) {
  if (cursor.null()) return true;
  const std::size_t at = cursor.offset();
  std::string_view literal;
  if (!cursor.number(literal)) return false;
  double value = 0;
  const auto [last, error] =
      std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error != std::errc() || value <= 0 || value > kMaxRate) {
    return cursor.fail("must be above 0 and at most 10000 gigabytes a second", at);
  }
  out = GigabytesPerSecond{value};
  return true;
}

bool read_mig(Cursor& cursor, MigProfile& out) {
  const std::size_t at = cursor.offset();
  if (cursor.peek() != '{') return cursor.expected("an object");
  if (!cursor.object(field("profile", out.profile),
                     field("count", [&] { return read_integer(cursor, 0, kMaxSlices, out.count); }),
                     field("memoryBytes", [&] { return read_bytes(cursor, out.memory); }))) {
    return false;
  }
  return !out.profile.empty() ||
         cursor.fail(Error::invalid("must be given").at_field("profile").at_byte(at));
}

bool read_gpu(Cursor& cursor, Gpu& out) {
  const std::size_t at = cursor.offset();
  std::optional<std::uint32_t> index;
  const auto mig = [&](std::size_t) { return read_mig(cursor, out.mig.emplace_back()); };
  if (cursor.peek() != '{') return cursor.expected("an object");
  if (!cursor.object(field("index", [&] { return read_unsigned(cursor, index); }),
                     field("uuid", out.uuid), field("busId", out.pci_bus_id),
                     field("numaNode", [&] { return read_unsigned(cursor, out.numa_node); }),
                     field("memoryBytes", [&] { return read_bytes(cursor, out.memory); }),
                     field("model", out.model),
                     field("health", [&] { return read_word(cursor, kHealth, out.health); }),
                     field("mig", [&] { return cursor.items(mig); }))) {
    return false;
  }
  if (!index) return cursor.fail(Error::invalid("must be given").at_field("index").at_byte(at));
  out.index = *index;
  return true;
}

bool read_nic(Cursor& cursor, Nic& out) {
  const std::size_t at = cursor.offset();
  if (cursor.peek() != '{') return cursor.expected("an object");
  if (!cursor.object(
          field("device", out.device), field("busId", out.pci_bus_id),
          field("numaNode", [&] { return read_unsigned(cursor, out.numa_node); }),
          field("gigabytesPerSecond", [&] { return read_rate(cursor, out.rate); }),
          field("linkLayer", [&] { return read_word(cursor, kLinkLayers, out.link_layer); }),
          field("state", [&] { return read_word(cursor, kStates, out.state); }),
          field("resource", out.resource))) {
    return false;
  }
  return !out.device.empty() ||
         cursor.fail(Error::invalid("must be given").at_field("device").at_byte(at));
}

// Rows of cells, kept with their shape until it is known how many GPUs and NICs there are.
template <class Cell>
struct Matrix {
  std::vector<std::size_t> row_sizes;
  std::vector<Cell> cells;
};

template <class Cell, class ReadCell>
bool read_matrix(Cursor& cursor, Matrix<Cell>& out, ReadCell&& read_cell) {
  return cursor.items([&](std::size_t) {
    if (cursor.peek() != '[') return cursor.expected("an array");
    const std::size_t before = out.cells.size();
    const bool good = cursor.items([&](std::size_t) {
      return cursor.peek() == 'n' ? cursor.expected("given") : read_cell(out.cells.emplace_back());
    });
    out.row_sizes.push_back(out.cells.size() - before);
    return good;
  });
}

template <class Cell>
Result<void> take_matrix(Matrix<Cell>&& matrix, std::string_view key, std::size_t rows,
                         std::size_t columns, std::vector<Cell>& out) {
  if (matrix.row_sizes.empty()) return {};
  const bool right = matrix.row_sizes.size() == rows &&
                     std::all_of(matrix.row_sizes.begin(), matrix.row_sizes.end(),
                                 [&](std::size_t size) { return size == columns; });
  if (!right) {
    return Error::invalid("must have " + std::to_string(rows) + " rows of " +
                          std::to_string(columns))
        .at_field(std::string(key));
  }
  out = std::move(matrix.cells);
  return {};
}

class AnnotationReader {
 public:
  explicit AnnotationReader(std::string_view text) : cursor_(text) {}

  Result<NodeTopology> read() {
    const auto gpu = [&](std::size_t) { return read_gpu(cursor_, out_.gpus.emplace_back()); };
    const auto nic = [&](std::size_t) { return read_nic(cursor_, out_.nics.emplace_back()); };
    const auto path = [&](PathType& cell) { return read_path(cursor_, cell); };
    const auto links = [&](std::uint8_t& cell) {
      std::int64_t count = 0;
      if (!read_integer(cursor_, 0, kMaxNvlinks, count)) return false;
      cell = static_cast<std::uint8_t>(count);
      return true;
    };
    const auto manager = [&] {
      return cursor_.object(
          field("policy", [&] { return read_word(cursor_, kPolicies, out_.topology_manager); }),
          field("scope",
                [&] { return read_word(cursor_, kScopes, out_.topology_manager_pod_scope); }));
    };
    const bool good =
        cursor_.document(field("time", [&] { return read_time(); }), field("driver", out_.driver),
                         field("gpuDirect", out_.gpu_direct), field("topologyManager", manager),
                         field("gpus", [&] { return cursor_.items(gpu); }),
                         field("nics", [&] { return cursor_.items(nic); }),
                         field("gpuPaths", [&] { return read_matrix(cursor_, gpu_paths_, path); }),
                         field("nvlinks", [&] { return read_matrix(cursor_, nvlinks_, links); }),
                         field("nicPaths", [&] { return read_matrix(cursor_, nic_paths_, path); }));
    if (!good) return cursor_.take_error();
    return finish();
  }

 private:
  bool read_time() {
    if (cursor_.null()) return true;
    return read_integer(cursor_, 0, std::int64_t{1} << 40, out_.reported_at.emplace());
  }

  Result<NodeTopology> finish() {
    std::vector<std::uint32_t> indexes;
    for (const Gpu& gpu : out_.gpus)
      indexes.push_back(gpu.index);
    std::sort(indexes.begin(), indexes.end());
    if (std::adjacent_find(indexes.begin(), indexes.end()) != indexes.end()) {
      return Error::invalid("must give each GPU an index of its own").at_field("gpus");
    }
    const std::size_t gpus = out_.gpus.size();
    const std::size_t nics = out_.nics.size();
    auto done = take_matrix(std::move(gpu_paths_), "gpuPaths", gpus, gpus, out_.gpu_paths);
    if (done) done = take_matrix(std::move(nvlinks_), "nvlinks", gpus, gpus, out_.nvlinks);
    if (done) done = take_matrix(std::move(nic_paths_), "nicPaths", gpus, nics, out_.nic_paths);
    if (!done) return done.error();
    out_.sources = static_cast<std::uint8_t>(topology::Source::kAnnotation);
    return std::move(out_);
  }

  Cursor cursor_;
  NodeTopology out_;
  Matrix<PathType> gpu_paths_;
  Matrix<std::uint8_t> nvlinks_;
  Matrix<PathType> nic_paths_;
};

// Looked at first: another version may mean other types.
Result<void> check_version(std::string_view text) {
  Cursor cursor(text);
  bool given = false;
  const auto version = [&] {
    given = true;
    const std::size_t at = cursor.offset();
    std::int64_t value = 0;
    return read(cursor, value) &&
           (value == kVersion || cursor.fail("must be 1, the only version known here", at));
  };
  if (!cursor.document(field("version", version))) return cursor.take_error();
  if (!given) return Error::invalid("must be 1").at_field("version");
  return {};
}

void put_text(JsonWriter& writer, std::string_view key, std::string_view text) {
  if (!text.empty()) writer.member(key, text);
}

template <class Integer>
void put_integer(JsonWriter& writer, std::string_view key, std::optional<Integer> value) {
  if (value) writer.member(key, *value);
}

void put_bytes(JsonWriter& writer, std::optional<Bytes> bytes) {
  if (bytes) writer.member("memoryBytes", bytes->count);
}

void put_gpu(JsonWriter& writer, const Gpu& gpu, bool with_uuids) {
  writer.begin_object().member("index", gpu.index);
  if (with_uuids) put_text(writer, "uuid", gpu.uuid);
  put_text(writer, "busId", gpu.pci_bus_id);
  put_integer(writer, "numaNode", gpu.numa_node);
  put_bytes(writer, gpu.memory);
  put_text(writer, "model", gpu.model);
  put_text(writer, "health", word_of(kHealth, gpu.health));
  if (!gpu.mig.empty()) {
    writer.key("mig").begin_array();
    for (const MigProfile& mig : gpu.mig) {
      writer.begin_object().member("profile", mig.profile).member("count", mig.count);
      // What the table says is no report.
      if (!mig.memory_from_table) put_bytes(writer, mig.memory);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
}

void put_nic(JsonWriter& writer, const Nic& nic) {
  writer.begin_object().member("device", nic.device);
  put_text(writer, "busId", nic.pci_bus_id);
  put_integer(writer, "numaNode", nic.numa_node);
  if (nic.rate) writer.member("gigabytesPerSecond", nic.rate->value);
  put_text(writer, "linkLayer", word_of(kLinkLayers, nic.link_layer));
  put_text(writer, "state", word_of(kStates, nic.state));
  put_text(writer, "resource", nic.resource);
  writer.end_object();
}

template <class Cell, class PutCell>
void put_matrix(JsonWriter& writer, std::string_view key, const std::vector<Cell>& cells,
                std::size_t columns, PutCell&& put_cell) {
  if (cells.empty() || columns == 0) return;
  writer.key(key).begin_array();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % columns == 0) writer.begin_array();
    put_cell(cells[i]);
    if ((i + 1) % columns == 0) writer.end_array();
  }
  writer.end_array();
}

std::string print(const NodeTopology& topology, bool with_uuids) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().member("version", kVersion);
  put_integer(writer, "time", topology.reported_at);
  put_text(writer, "driver", topology.driver);
  if (topology.gpu_direct) writer.member("gpuDirect", *topology.gpu_direct);
  if (topology.topology_manager != TopologyManagerPolicy::kUnknown) {
    writer.key("topologyManager").begin_object();
    writer.member("policy", word_of(kPolicies, topology.topology_manager));
    writer.member("scope", word_of(kScopes, topology.topology_manager_pod_scope)).end_object();
  }
  if (!topology.gpus.empty()) {
    writer.key("gpus").begin_array();
    for (const Gpu& gpu : topology.gpus)
      put_gpu(writer, gpu, with_uuids);
    writer.end_array();
  }
  if (!topology.nics.empty()) {
    writer.key("nics").begin_array();
    for (const Nic& nic : topology.nics)
      put_nic(writer, nic);
    writer.end_array();
  }
  const auto path = [&](PathType cell) { writer.value(topology::to_string(cell)); };
  put_matrix(writer, "gpuPaths", topology.gpu_paths, topology.gpus.size(), path);
  put_matrix(writer, "nvlinks", topology.nvlinks, topology.gpus.size(),
             [&](std::uint8_t links) { writer.value(std::uint32_t{links}); });
  put_matrix(writer, "nicPaths", topology.nic_paths, topology.nics.size(), path);
  writer.end_object();
  return out;
}

}  // namespace

Result<NodeTopology> read_topology(std::string_view annotation) {
  if (annotation.size() > kMaxTopologyBytes) {
    return Error(ErrorKind::kTooLarge,
                 "must not be larger than " + std::to_string(kMaxTopologyBytes) + " bytes");
  }
  if (auto known = check_version(annotation); !known) return known.error();
  return AnnotationReader(annotation).read();
}

Result<std::string> print_topology(const NodeTopology& topology) {
  for (const bool with_uuids : {true, false}) {
    std::string out = print(topology, with_uuids);
    if (out.size() <= kMaxTopologyBytes) return out;
  }
  return Error(ErrorKind::kTooLarge, "must fit " + std::to_string(kMaxTopologyBytes) +
                                         " bytes, and does not without UUIDs either");
}

}  // namespace rankward::formats
