#include "rankward/formats/topology_matrix.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "matrix_text.hpp"

namespace rankward::formats {
namespace {

using topology::NodeTopology;
using topology::PathType;

constexpr std::uint32_t kMaxIndex = 1023;
constexpr std::size_t kMaxNameBytes = 64;

// One form a number, so that GPU1 and GPU01 are not two GPUs of one index.
std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  if (text.size() > 1 && text.front() == '0') return {};
  std::uint32_t value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || last != text.data() + text.size() || value > most) return {};
  return value;
}

// "GPU7" or "NIC7".
std::optional<std::uint32_t> numbered(std::string_view title, std::string_view kind) {
  if (title.substr(0, kind.size()) != kind) return {};
  return number(title.substr(kind.size()), kMaxIndex);
}

bool is_device_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '_' || c == '-' || c == '.';
         });
}

struct Cell {
  PathType path = PathType::kUnknown;
  std::uint8_t nvlinks = 0;
};

std::optional<Cell> cell_of(std::string_view word) {
  if (word == "SOC") return Cell{PathType::kSys, 0};  // older drivers
  if (word == "PSB") return Cell{PathType::kPix, 0};  // one switch, on the board
  if (word.size() > 2 && word.substr(0, 2) == "NV") {
    if (const auto links = number(word.substr(2), 255); links && *links > 0) {
      return Cell{PathType::kNvLink, static_cast<std::uint8_t>(*links)};
    }
  }
  // Words of ours that nvidia-smi does not print.
  const auto path = topology::path_type(word);
  if (!path || path == PathType::kUnknown || path == PathType::kNvLink) return {};
  return Cell{*path, 0};
}

class MatrixReader {
 public:
  explicit MatrixReader(std::string_view text) : rest_(text) {}

  Result<NodeTopology> read() {
    auto done = read_header();
    if (done) done = read_rows();
    if (done) done = read_legend();
    if (!done) return done.error();
    fill_missing_rows();
    return std::move(out_);
  }

 private:
  struct Column {
    std::string_view title;
    bool gpu = false;
    std::size_t position = 0;  // among the GPUs or among the NICs
    bool has_row = false;
  };

  std::string_view next_line() {
    ++line_;
    return take_line(rest_);
  }

  [[nodiscard]] Error wrong(std::string message, std::string_view row = {}) const {
    return Error::invalid(std::move(message)).at_field(std::string(row)).at_line(line_);
  }

  Result<void> read_header() {
    std::string_view line = next_line();
    while (trimmed(line).empty() && !rest_.empty())
      line = next_line();
    std::string_view word = take_word(line);
    for (; !word.empty() && word != "CPU"; word = take_word(line)) {
      if (auto done = add_column(word); !done) return done;
    }
    if (out_.gpus.empty()) return wrong("must begin with the titles of the columns: GPU0 GPU1 ...");
    if (word.empty()) {
      return wrong(
          "must have a column CPU Affinity, as `nvidia-smi topo -m` prints; the matrix of `topo "
          "-p2p` has none and says something else");
    }
    return read_affinity_titles(word, line);
  }

  Result<void> add_column(std::string_view title) {
    if (columns_.size() == kMaxMatrixColumns) {
      return Error(ErrorKind::kTooLarge,
                   "must not have more than " + std::to_string(kMaxMatrixColumns) + " columns")
          .at_line(line_);
    }
    Column column{title};
    if (const auto index = numbered(title, "GPU")) {
      column.gpu = true;
      column.position = out_.gpus.size();
      out_.gpus.emplace_back().index = *index;
    } else if (out_.gpus.empty()) {
      return wrong("must begin with the titles of the columns, GPU0 first, not " + quoted(title));
    } else if (is_device_name(title) && title.substr(0, 3) != "GPU") {
      column.position = out_.nics.size();
      out_.nics.emplace_back().device = title;
    } else {
      return wrong("must have devices as titles, GPU0 or NIC0 or mlx5_0, not " + quoted(title));
    }
    if (!column_of_.emplace(title, columns_.size()).second) {
      return wrong("must not have the column " + quoted(title) + " twice");
    }
    columns_.push_back(column);
    return {};
  }

  // "CPU Affinity", from 2019 on "NUMA Affinity", from 2022 on "GPU NUMA ID".
  Result<void> read_affinity_titles(std::string_view word, std::string_view line) {
    std::string titles(word);
    for (word = take_word(line); !word.empty() && titles.size() < kMaxNameBytes;
         word = take_word(line)) {
      titles += ' ';
      titles += word;
    }
    constexpr std::string_view kKnown = "CPU Affinity NUMA Affinity GPU NUMA ID";
    constexpr std::string_view kShorter[] = {"CPU Affinity", "CPU Affinity NUMA Affinity", kKnown};
    for (const std::string_view known : kShorter) {
      ++affinity_columns_;
      if (titles == known) return {};
    }
    return wrong(
        "must end with CPU Affinity, NUMA Affinity, GPU NUMA ID or the first of them, not " +
        quoted(titles));
  }

  Result<void> read_rows() {
    out_.gpu_paths.assign(out_.gpus.size() * out_.gpus.size(), PathType::kUnknown);
    out_.nvlinks.assign(out_.gpu_paths.size(), 0);
    out_.nic_paths.assign(out_.gpus.size() * out_.nics.size(), PathType::kUnknown);
    bool any_gpu = false;
    while (!rest_.empty()) {
      std::string_view line = next_line();
      const std::string_view whole = trimmed(line);
      if (whole.empty() || whole == "Legend:" || whole == "NIC Legend:") break;
      const std::string_view title = take_word(line);
      const auto found = column_of_.find(title);
      if (found == column_of_.end()) {
        return wrong("must be a row of one of the columns' devices, not of " + quoted(title));
      }
      Column& row = columns_[found->second];
      if (row.has_row) return wrong("must not have a second row", title);
      row.has_row = true;
      any_gpu = any_gpu || row.gpu;
      if (auto done = read_row(row, found->second, line); !done) return done;
    }
    if (!any_gpu) return wrong("must have at least one row of a GPU below the titles");
    return {};
  }

  Result<void> read_row(const Column& row, std::size_t position, std::string_view line) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view word = take_word(line);
      const Column& column = columns_[i];
      if (word.empty()) {
        return wrong("must have a cell for each of the " + std::to_string(columns_.size()) +
                         " devices, and has " + std::to_string(i),
                     row.title);
      }
      const std::optional<Cell> cell = cell_of(word);
      if (!cell) {
        return wrong("must have X, NV#, C2C, PIX, PXB, PHB, NODE or SYS below " +
                         std::string(column.title) + ", not " + quoted(word),
                     row.title);
      }
      if ((cell->path == PathType::kSelf) != (i == position)) {
        return wrong("must have X below itself and nowhere else, not " + quoted(word) + " below " +
                         std::string(column.title),
                     row.title);
      }
      if (cell->path == PathType::kNvLink && !(row.gpu && column.gpu)) {
        return wrong("must not have NVLinks to a NIC below " + std::string(column.title),
                     row.title);
      }
      put(row, column, *cell);
    }
    return read_affinity(row, line);
  }

  void put(const Column& row, const Column& column, Cell cell) {
    if (row.gpu && column.gpu) {
      const std::size_t at = row.position * out_.gpus.size() + column.position;
      out_.gpu_paths[at] = cell.path;
      out_.nvlinks[at] = cell.nvlinks;
    } else if (row.gpu) {
      out_.nic_paths[row.position * out_.nics.size() + column.position] = cell.path;
    } else if (column.gpu && !column.has_row) {
      out_.nic_paths[column.position * out_.nics.size() + row.position] = cell.path;
    }
  }

  Result<void> read_affinity(const Column& row, std::string_view line) {
    const auto [fields, in_place] = affinity_fields(line);
    if (fields.size() > affinity_columns_) {
      return wrong("must not have more fields than there are titles", row.title);
    }
    for (const std::string_view field : fields) {
      if (field != "N/A" && field.find_first_not_of("0123456789-,") != std::string_view::npos) {
        return wrong("must have CPUs such as 0-31,64-95, a NUMA node or N/A after the paths, not " +
                         quoted(field),
                     row.title);
      }
    }
    if (row.gpu && fields.size() > 1 && (in_place || fields.size() == affinity_columns_)) {
      out_.gpus[row.position].numa_node = number(fields[1], kMaxIndex);
    }
    return {};
  }

  // "NIC0: mlx5_0", somewhere below the matrix. Other lines explain the path types.
  Result<void> read_legend() {
    std::vector<bool> named(out_.nics.size(), false);
    while (!rest_.empty()) {
      std::string_view line = next_line();
      std::string_view title = take_word(line);
      if (title.size() < 2 || title.back() != ':') continue;
      title.remove_suffix(1);
      if (!numbered(title, "NIC")) continue;
      const std::string_view device = take_word(line);
      const auto found = column_of_.find(title);
      if (found == column_of_.end()) {
        return wrong("must name a NIC that has a column, not " + quoted(title), "NIC Legend");
      }
      if (!is_device_name(device) || !trimmed(line).empty()) {
        return wrong("must be the name of a device, such as mlx5_0, not " + quoted(device), title);
      }
      const std::size_t nic = columns_[found->second].position;
      if (named[nic]) return wrong("must not be named twice", title);
      named[nic] = true;
      out_.nics[nic].device = device;
    }
    return {};
  }

  // Paths are the same in both directions.
  void fill_missing_rows() {
    const std::size_t gpus = out_.gpus.size();
    for (const Column& row : columns_) {
      if (!row.gpu || row.has_row) continue;
      for (std::size_t other = 0; other < gpus; ++other) {
        out_.gpu_paths[row.position * gpus + other] = out_.gpu_paths[other * gpus + row.position];
        out_.nvlinks[row.position * gpus + other] = out_.nvlinks[other * gpus + row.position];
      }
      out_.gpu_paths[row.position * gpus + row.position] = PathType::kSelf;
    }
    // No NVLink anywhere needs no table.
    if (std::all_of(out_.nvlinks.begin(), out_.nvlinks.end(), [](auto n) { return n == 0; })) {
      out_.nvlinks.clear();
    }
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  std::vector<Column> columns_;
  std::unordered_map<std::string_view, std::size_t> column_of_;
  std::size_t affinity_columns_ = 0;
  NodeTopology out_;
};

}  // namespace

bool is_topology_matrix(std::string_view text) {
  const std::string head = without_escapes(text.substr(0, 4096));
  std::string_view rest = head;
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  return numbered(rest.substr(0, rest.find_first_of(" \t\r\n")), "GPU").has_value();
}

Result<NodeTopology> read_topology_matrix(std::string_view text) {
  if (text.size() > kMaxMatrixBytes) {
    return Error(ErrorKind::kTooLarge,
                 "must not be larger than " + std::to_string(kMaxMatrixBytes) + " bytes");
  }
  const std::string plain = without_escapes(text);
  return MatrixReader(plain).read();
}

}  // namespace rankward::formats
