#include <algorithm>
#include <charconv>

#include "json_text.hpp"
#include "rankward/formats/extender.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {
namespace {

// So much larger than its text one entry of an answer gets: keys, quotes, commas.
constexpr std::size_t kEntryOverhead = 32;

std::size_t text_size(std::span<const std::string_view> texts) {
  std::size_t size = 0;
  for (const std::string_view text : texts)
    size += text.size() + kEntryOverhead;
  return size;
}

std::size_t text_size(std::span<const RejectedNode> nodes) {
  std::size_t size = 0;
  for (const RejectedNode& node : nodes) {
    size += node.name.size() + node.reason.size() + kEntryOverhead;
  }
  return size;
}

void append_rejected(std::string_view key, std::span<const RejectedNode> nodes, std::string& out) {
  out += ",\"";
  out += key;
  out += "\":{";
  bool first = true;
  for (const RejectedNode& node : nodes) {
    if (!first) out.push_back(',');
    first = false;
    append_json_string(out, node.name);
    out.push_back(':');
    append_json_string(out, node.reason);
  }
  out.push_back('}');
}

constexpr std::string_view kHost = "{\"Host\":\"";
constexpr std::string_view kScore = "\",\"Score\":";
constexpr std::size_t kMaxDigits = 20;  // of an int64, with its sign

bool all_plain(std::span<const std::string_view> names) {
  return std::all_of(names.begin(), names.end(),
                     [](std::string_view name) { return plain_prefix(name) == name.size(); });
}

// Names as Kubernetes has them need no escapes: one growth of `out`, then only copies.
void write_plain_priorities(std::span<const std::string_view> names,
                            std::span<const std::int64_t> scores, std::string& out) {
  const std::size_t start = out.size();
  std::size_t bound = start + 2;
  for (const std::string_view name : names) {
    bound += kHost.size() + name.size() + kScore.size() + kMaxDigits + 2;
  }
  out.resize(bound);
  char* to = out.data() + start;
  char* const end = out.data() + bound;
  *to++ = '[';
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) *to++ = ',';
    to += kHost.copy(to, kHost.size());
    to += names[i].copy(to, names[i].size());
    to += kScore.copy(to, kScore.size());
    to = std::to_chars(to, end, scores[i]).ptr;
    *to++ = '}';
  }
  *to++ = ']';
  out.resize(static_cast<std::size_t>(to - out.data()));
}

// An array, each entry in the words of `append`.
template <class Append>
void append_array(std::span<const std::string_view> entries, std::string& out, Append&& append) {
  out.push_back('[');
  bool first = true;
  for (const std::string_view entry : entries) {
    if (!first) out.push_back(',');
    first = false;
    append(entry);
  }
  out.push_back(']');
}

}  // namespace

void write_filter_result(const FilterResult& result, std::string& out) {
  out.reserve(out.size() + text_size(result.passed) + text_size(result.failed) +
              text_size(result.failed_and_unresolvable) + result.error.size() + 160);
  out += "{\"Nodes\":";
  if (result.form == NodeForm::kNodes) {
    out += "{\"metadata\":{},\"items\":";
    append_array(result.passed, out, [&](std::string_view node) { out += node; });
    out.push_back('}');
  } else {
    out += "null";
  }
  out += ",\"NodeNames\":";
  if (result.form == NodeForm::kNames) {
    append_array(result.passed, out, [&](std::string_view name) { append_json_string(out, name); });
  } else {
    out += "null";
  }
  append_rejected("FailedNodes", result.failed, out);
  append_rejected("FailedAndUnresolvableNodes", result.failed_and_unresolvable, out);
  out += ",\"Error\":";
  append_json_string(out, result.error);
  out.push_back('}');
}

void write_host_priorities(std::span<const std::string_view> names,
                           std::span<const std::int64_t> scores, std::string& out) {
  const std::size_t count = std::min(names.size(), scores.size());
  if (all_plain(names.first(count))) {
    write_plain_priorities(names.first(count), scores, out);
    return;
  }
  JsonWriter writer(out);
  writer.begin_array();
  for (std::size_t i = 0; i < count; ++i) {
    writer.begin_object().member("Host", names[i]).member("Score", scores[i]).end_object();
  }
  writer.end_array();
}

void write_preemption_result(std::span<const PreemptionCandidate> candidates, std::string& out) {
  out += "{\"NodeNameToMetaVictims\":{";
  JsonWriter writer(out);
  for (const PreemptionCandidate& candidate : candidates) {
    writer.key(candidate.node).begin_object().key("Pods").begin_array();
    for (const PreemptionVictim& victim : candidate.victims) {
      writer.begin_object().member("UID", victim.uid).end_object();
    }
    writer.end_array().member("NumPDBViolations", candidate.pdb_violations).end_object();
  }
  out += "}}";
}

}  // namespace rankward::formats
