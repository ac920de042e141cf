#include <charconv>

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

void append_integer(std::int64_t number, std::string& out) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  if (error == std::errc()) out.append(digits, end);
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
  out.reserve(out.size() + text_size(names.first(count)) + 2);
  out.push_back('[');
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "{\"Host\":" : ",{\"Host\":";
    append_json_string(out, names[i]);
    out += ",\"Score\":";
    append_integer(scores[i], out);
    out.push_back('}');
  }
  out.push_back(']');
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
