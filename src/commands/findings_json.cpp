#include "findings_json.hpp"

#include <cstdint>

namespace rankward::commands {
namespace {

void write_finding(const LocatedFinding& found, formats::JsonWriter& json) {
  json.begin_object();
  if (!found.file.empty()) {
    json.member("file", found.file).member("line", static_cast<std::uint64_t>(found.line));
  }
  if (!found.helm_template.empty()) json.member("template", found.helm_template);
  json.member("object", found.object())
      .member("apiVersion", found.api_version)
      .member("kind", found.kind)
      .member("namespace", found.namespace_)
      .member("name", found.name);
  if (!found.owner.empty()) json.member("owner", found.owner);
  json.member("rule", found.finding.rule)
      .member("mode", admission::to_string(found.finding.mode))
      .member("field", found.finding.field)
      .member("container", found.finding.container)
      .member("message", found.finding.message());
  if (!found.exempted_by.empty()) json.member("exemptedBy", found.exempted_by);
  if (!found.fix_hint.empty()) json.member("fixHint", found.fix_hint);
  json.end_object();
}

}  // namespace

void write_findings(const FindingsReport& report, formats::JsonWriter& json) {
  json.key("findings").begin_array();
  for (const LocatedFinding& found : report.standing)
    write_finding(found, json);
  json.end_array().key("exempt").begin_array();
  for (const LocatedFinding& found : report.exempt)
    write_finding(found, json);
  json.end_array().key("unreadable").begin_array();
  for (const Error& why : report.unreadable)
    json.value(why.to_string());
  json.end_array();
}

void write_counts(const ObjectCounts& counts, formats::JsonWriter& json) {
  json.member("objects", static_cast<std::uint64_t>(counts.judged))
      .member("denied", static_cast<std::uint64_t>(counts.denied))
      .member("warned", static_cast<std::uint64_t>(counts.warned))
      .member("clean", static_cast<std::uint64_t>(counts.clean()))
      .member("excluded", static_cast<std::uint64_t>(counts.excluded))
      .member("notJudged", static_cast<std::uint64_t>(counts.not_judged));
}

std::string findings_json(const FindingsReport& report) {
  std::string text;
  formats::JsonWriter json(text);
  json.begin_object();
  write_findings(report, json);
  write_counts(report.counts, json);
  json.end_object();
  return text + "\n";
}

}  // namespace rankward::commands
