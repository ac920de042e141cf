#include "fabric_test_program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

namespace rankward::admission {
namespace {

using std::string_view;

constexpr std::int64_t kKibibyte = 1024;
constexpr std::int64_t kMebibyte = kKibibyte * 1024;

// nccl-tests/src; rccl-tests has the same. All with "_perf" behind, some builds with "_mpi" too.
constexpr std::array<string_view, 10> kCollectives{
    "all_gather", "all_reduce", "alltoall",       "broadcast", "gather",
    "hypercube",  "reduce",     "reduce_scatter", "scatter",   "sendrecv"};
// nccl-tests/src/common.cu: maxBytes.
constexpr std::int64_t kCollectiveDefault = 32 * kMebibyte;

// linux-rdma/perftest.
constexpr std::array<string_view, 12> kPerftests{"ib_write_bw",
                                                 "ib_read_bw",
                                                 "ib_send_bw",
                                                 "ib_atomic_bw",
                                                 "raw_ethernet_bw",
                                                 "ib_write_lat",
                                                 "ib_read_lat",
                                                 "ib_send_lat",
                                                 "ib_atomic_lat",
                                                 "raw_ethernet_lat",
                                                 "raw_ethernet_burst_lat",
                                                 "raw_ethernet_fs_rate"};
// perftest_parameters.c: 65536 bytes where bandwidth is measured, 2 for latency; with -a all sizes
// to 2^23.
constexpr std::int64_t kBandwidthDefault = 64 * kKibibyte;
constexpr std::int64_t kLatencyDefault = 2;
constexpr std::int64_t kAllSizes = 8 * kMebibyte;

constexpr std::array<string_view, 3> kImages{"nccl-tests", "rccl-tests", "perftest"};

// "8G", "512M", "1024": a number and one letter, powers of 1024.
std::optional<std::int64_t> size_of(string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  const string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  if (unit.size() > 1) return std::nullopt;
  double factor = 1;
  if (!unit.empty()) {
    const std::size_t power = string_view("kmgt").find(static_cast<char>(unit[0] | 0x20));
    if (power == string_view::npos) return std::nullopt;
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  constexpr double kMost = 9e18;
  return number * factor > kMost ? INT64_MAX : static_cast<std::int64_t>(number * factor);
}

// Words as a shell would see them, roughly: what ends a command is a word of its own.
std::vector<string_view> words_of(const kube::Container& container) {
  constexpr string_view kEnds = ";&|";
  constexpr string_view kEndsAndBlanks = ";&| \t\r\n\\\"'()";
  std::vector<string_view> words;
  for (const auto* list : {&container.command, &container.args}) {
    for (string_view text : *list) {
      while (!text.empty()) {
        const std::size_t length = kEnds.find(text[0]) != string_view::npos
                                       ? 1
                                       : std::min(text.find_first_of(kEndsAndBlanks), text.size());
        if (length > 0) words.push_back(text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(length, 1));
      }
    }
  }
  return words;
}

bool ends_a_command(string_view word) {
  return word == ";" || word == "&" || word == "|";
}

string_view base_name(string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == string_view::npos ? path : path.substr(slash + 1);
}

bool is_collective(string_view name) {
  if (name.ends_with("_mpi")) name.remove_suffix(4);
  if (!name.ends_with("_perf")) return false;
  name.remove_suffix(5);
  return std::find(kCollectives.begin(), kCollectives.end(), name) != kCollectives.end();
}

bool is_perftest(string_view name) {
  return std::find(kPerftests.begin(), kPerftests.end(), name) != kPerftests.end();
}

// The text behind `-e`, `--maxbytes` or `--maxbytes=`, wherever it stands in the command.
std::optional<string_view> option(const std::vector<string_view>& words, std::size_t at,
                                  string_view brief, string_view full) {
  for (; at < words.size() && !ends_a_command(words[at]); ++at) {
    const string_view word = words[at];
    if (word == brief || word == full) return at + 1 < words.size() ? words[at + 1] : string_view();
    if (word.size() > full.size() && word.starts_with(full) && word[full.size()] == '=')
      return word.substr(full.size() + 1);
    if (word.size() > brief.size() && word.starts_with(brief)) return word.substr(brief.size());
  }
  return std::nullopt;
}

bool has_flag(const std::vector<string_view>& words, std::size_t at, string_view brief,
              string_view full) {
  for (; at < words.size() && !ends_a_command(words[at]); ++at)
    if (words[at] == brief || words[at] == full) return true;
  return false;
}

FabricTestProgram program_at(const std::vector<string_view>& words, std::size_t at,
                             string_view name) {
  FabricTestProgram out;
  out.name = name;
  const bool collective = is_collective(name);
  const auto text = collective ? option(words, at + 1, "-e", "--maxbytes")
                               : option(words, at + 1, "-s", "--size");
  if (!collective && has_flag(words, at + 1, "-a", "--all")) {
    out.stated = true;
    out.message_bytes = kAllSizes;
  } else if (text) {
    out.stated = true;
    out.message_bytes = size_of(*text);
  } else if (collective) {
    out.message_bytes = kCollectiveDefault;
  } else {
    out.message_bytes = name.ends_with("_lat") ? kLatencyDefault : kBandwidthDefault;
  }
  return out;
}

}  // namespace

std::optional<FabricTestProgram> fabric_test_program(const kube::Container& container) {
  const std::vector<string_view> words = words_of(container);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const string_view name = base_name(words[i]);
    if (is_collective(name) || is_perftest(name)) return program_at(words, i, name);
  }
  // "registry/nccl-tests:tag@digest" -> "nccl-tests:tag@digest"
  const string_view image = base_name(container.image);
  const string_view repository = image.substr(0, image.find_first_of(":@"));
  for (const string_view known : kImages) {
    if (repository.find(known) == string_view::npos) continue;
    FabricTestProgram out;
    out.name = repository;
    out.by_image = true;
    return out;
  }
  return std::nullopt;
}

}  // namespace rankward::admission
