#include "findings_sarif.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "rankward/admission/rules.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/net/percent_encoding.hpp"
#include "rankward/server/application.hpp"

namespace rankward::commands {
namespace {

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

std::string_view level_of(admission::Mode mode) {
  switch (mode) {
    case admission::Mode::kEnforce:
      return "error";
    case admission::Mode::kWarn:
      return "warning";
    default:
      return "note";
  }
}

void write_text(std::string_view name, std::string_view text, formats::JsonWriter& json) {
  json.key(name).begin_object().member("text", text).end_object();
}

void write_rule(const admission::RuleInfo& rule, formats::JsonWriter& json) {
  json.begin_object().member("id", rule.id);
  write_text("shortDescription", rule.title, json);
  write_text("fullDescription", rule.why, json);
  write_text("help", "Fix: " + std::string(rule.fix), json);
  json.member("helpUri", documentation_of(rule.id))
      .key("defaultConfiguration")
      .begin_object()
      .member("enabled", rule.default_mode != admission::Mode::kOff)
      .member("level", level_of(rule.default_mode))
      .end_object()
      .end_object();
}

void write_physical_location(std::string_view file, std::size_t line, formats::JsonWriter& json) {
  json.key("physicalLocation")
      .begin_object()
      .key("artifactLocation")
      .begin_object()
      .member("uri", uri_of(file))
      .end_object();
  if (line != 0) {
    json.key("region")
        .begin_object()
        .member("startLine", static_cast<std::uint64_t>(line))
        .end_object();
  }
  json.end_object();
}

void write_location(const LocatedFinding& found, formats::JsonWriter& json) {
  json.begin_object();
  if (!found.file.empty()) write_physical_location(found.file, found.line, json);
  json.key("logicalLocations")
      .begin_array()
      .begin_object()
      .member("name", found.name)
      .member("fullyQualifiedName", found.object() + " " + found.finding.field)
      .member("kind", "resource")
      .end_object()
      .end_array()
      .end_object();
}

// FNV-1a, 64 bits. The same finding keeps it while lines move and lists grow.
std::string fingerprint_of(const LocatedFinding& found) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    hash *= 0x100000001b3U;
  };
  for (const std::string_view part :
       {std::string_view(found.api_version), std::string_view(found.kind),
        std::string_view(found.namespace_), std::string_view(found.name), found.finding.rule,
        std::string_view(found.finding.container), std::string_view(found.finding.subject)}) {
    add(part);
  }
  return fmt::format("{:016x}", hash);
}

std::uint64_t index_of(std::string_view rule) {
  std::uint64_t index = 0;
  for (const admission::RuleInfo& info : admission::catalogue()) {
    if (info.id == rule) break;
    ++index;
  }
  return index;
}

void write_result(const LocatedFinding& found, formats::JsonWriter& json) {
  json.begin_object()
      .member("ruleId", found.finding.rule)
      .member("ruleIndex", index_of(found.finding.rule))
      .member("level", level_of(found.finding.mode));
  write_text("message", found.object() + ": " + found.finding.message(), json);
  json.key("locations").begin_array();
  write_location(found, json);
  json.end_array()
      .key("partialFingerprints")
      .begin_object()
      .member("rankward/v1", fingerprint_of(found))
      .end_object();
  if (!found.fix_hint.empty() || !found.helm_template.empty()) {
    json.key("properties").begin_object();
    if (!found.fix_hint.empty()) json.member("fixHint", found.fix_hint);
    if (!found.helm_template.empty()) json.member("template", found.helm_template);
    json.end_object();
  }
  json.end_object();
}

void write_invocation(const FindingsReport& report, formats::JsonWriter& json) {
  json.key("invocations").begin_array().begin_object();
  json.member("executionSuccessful", report.unreadable.empty())
      .key("toolExecutionNotifications")
      .begin_array();
  for (const Error& why : report.unreadable) {
    json.begin_object().member("level", "error");
    write_text("message", why.to_string(), json);
    if (!why.source().empty()) {
      json.key("locations").begin_array().begin_object();
      write_physical_location(why.source(), why.line().value_or(0), json);
      json.end_object().end_array();
    }
    json.end_object();
  }
  json.end_array().end_object().end_array();
}

}  // namespace

std::string uri_of(std::string_view path) {
  while (path.substr(0, 2) == "./")
    path.remove_prefix(2);
  if (path == "-") path = "standard input";
  return (path.substr(0, 1) == "/" ? "file://" : "") +
         net::percent_encoded(path, [](char c) { return c == '/' || net::is_unreserved(c); });
}

std::string findings_sarif(const FindingsReport& report) {
  std::string text;
  formats::JsonWriter json(text);
  json.begin_object()
      .member("$schema", kSchema)
      .member("version", "2.1.0")
      .key("runs")
      .begin_array()
      .begin_object()
      .key("tool")
      .begin_object()
      .key("driver")
      .begin_object()
      .member("name", "rankward")
      .member("version", server::kVersion)
      .member("informationUri", documentation_of(""))
      .key("rules")
      .begin_array();
  for (const admission::RuleInfo& rule : admission::catalogue())
    write_rule(rule, json);
  json.end_array().end_object().end_object();
  write_invocation(report, json);
  json.key("results").begin_array();
  for (const LocatedFinding& found : report.standing)
    write_result(found, json);
  json.end_array().end_object().end_array().end_object();
  return text + "\n";
}

}  // namespace rankward::commands
