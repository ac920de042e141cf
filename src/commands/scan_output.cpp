#include "scan_output.hpp"

#include <cstdint>
#include <ostream>

#include "findings_json.hpp"
#include "findings_sarif.hpp"
#include "findings_text.hpp"
#include "policy_report.hpp"
#include "rankward/admission/rules.hpp"
#include "rankward/formats/json_writer.hpp"
#include "scan_summary.hpp"

namespace rankward::commands {
namespace {

std::string or_cluster(const std::string& namespace_) {
  return namespace_.empty() ? "(cluster)" : namespace_;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names)
    out.append(out.empty() ? "" : " ").append(name);
  return out;
}

void print_totals(const ScanReport& report, const Console& console) {
  const ObjectCounts& counts = report.found.counts;
  std::string line = counted(report.pods, "pod");
  if (counts.judged + counts.excluded > report.pods) {
    line += ", " + counted(counts.judged + counts.excluded - report.pods, "volume");
  }
  line += " scanned: " + std::to_string(counts.denied) + " would be denied, " +
          std::to_string(counts.warned) + " with warnings, " + std::to_string(counts.clean()) +
          " clean";
  if (!report.found.exempt.empty()) {
    line += "; " + counted(report.found.exempt.size(), "exempt finding");
  }
  if (counts.excluded != 0) {
    line += "; " + counted(counts.excluded, "pod") + " in excluded namespaces";
  }
  if (report.finished != 0)
    line += "; " + counted(report.finished, "finished pod") + " passed over";
  console.out << line << '\n';
}

void print_summary(const ScanSummary& summary, const Console& console) {
  Table rules({"RULE", "MODE", "FINDINGS", "OBJECTS", "OWNERS", "WHAT"});
  for (const RuleSummary& rule : summary.by_rule) {
    const admission::RuleInfo* info = admission::find_rule(rule.rule);
    rules.add({{std::string(rule.rule)},
               {std::string(admission::to_string(rule.strictest)), colour_of(rule.strictest)},
               {std::to_string(rule.findings)},
               {std::to_string(rule.objects)},
               {std::to_string(rule.owners)},
               {info == nullptr ? "" : std::string(info->title)}});
  }
  rules.print(console);
  console.out << '\n';
  Table namespaces({"NAMESPACE", "DENIED", "WARNED", "FINDINGS"});
  for (const NamespaceSummary& of : summary.by_namespace) {
    namespaces.add({{or_cluster(of.namespace_)},
                    {std::to_string(of.denied), of.denied == 0 ? Colour::kNone : Colour::kRed},
                    {std::to_string(of.warned), of.warned == 0 ? Colour::kNone : Colour::kYellow},
                    {std::to_string(of.findings)}});
  }
  namespaces.print(console);
  console.out << '\n';
  Table owners({"NAMESPACE", "OWNER", "OBJECTS", "MODE", "RULES"});
  for (const OwnerSummary& of : summary.by_owner) {
    owners.add({{or_cluster(of.namespace_)},
                {of.owner},
                {std::to_string(of.objects)},
                {std::string(admission::to_string(of.strictest)), colour_of(of.strictest)},
                {joined(of.rules)}});
  }
  owners.print(console);
  console.out << '\n';
}

void print_findings(const FindingsReport& report, const Console& console) {
  for (const LocatedFinding& found : report.standing) {
    const admission::Mode mode = found.finding.mode;
    console.out << found.object() << " of " << found.owner << ": "
                << console.paint(colour_of(mode), outcome_of(mode)) << ": "
                << found.finding.message() << '\n';
  }
  if (!report.standing.empty()) console.out << '\n';
}

void write_summary(const ScanSummary& summary, formats::JsonWriter& json) {
  json.key("byRule").begin_array();
  for (const RuleSummary& rule : summary.by_rule) {
    json.begin_object()
        .member("rule", rule.rule)
        .member("mode", admission::to_string(rule.strictest))
        .member("findings", static_cast<std::uint64_t>(rule.findings))
        .member("objects", static_cast<std::uint64_t>(rule.objects))
        .member("owners", static_cast<std::uint64_t>(rule.owners))
        .end_object();
  }
  json.end_array().key("byNamespace").begin_array();
  for (const NamespaceSummary& of : summary.by_namespace) {
    json.begin_object()
        .member("namespace", of.namespace_)
        .member("denied", static_cast<std::uint64_t>(of.denied))
        .member("warned", static_cast<std::uint64_t>(of.warned))
        .member("findings", static_cast<std::uint64_t>(of.findings))
        .end_object();
  }
  json.end_array().key("byOwner").begin_array();
  for (const OwnerSummary& of : summary.by_owner) {
    json.begin_object()
        .member("namespace", of.namespace_)
        .member("owner", of.owner)
        .member("objects", static_cast<std::uint64_t>(of.objects))
        .member("mode", admission::to_string(of.strictest))
        .key("rules")
        .begin_array();
    for (const std::string_view rule : of.rules)
      json.value(rule);
    json.end_array().end_object();
  }
  json.end_array();
}

std::string scan_json(const ScanReport& report) {
  std::string text;
  formats::JsonWriter json(text);
  json.begin_object();
  write_findings(report.found, json);
  write_summary(summarize(report.found), json);
  write_counts(report.found.counts, json);
  json.member("pods", static_cast<std::uint64_t>(report.pods))
      .member("finished", static_cast<std::uint64_t>(report.finished))
      .end_object();
  return text + "\n";
}

}  // namespace

void print_scan(const ScanReport& report, ScanForm form, admission::UnixSeconds now,
                const Console& console) {
  switch (form) {
    case ScanForm::kTable:
    case ScanForm::kWide:
      if (form == ScanForm::kWide) print_findings(report.found, console);
      if (!report.found.standing.empty()) print_summary(summarize(report.found), console);
      print_totals(report, console);
      break;
    case ScanForm::kJson:
      console.out << scan_json(report);
      break;
    case ScanForm::kSarif:
      console.out << findings_sarif(report.found);
      break;
    case ScanForm::kPolicyReport:
      console.out << policy_reports(report.found, report.namespaces, now);
      break;
  }
  print_unreadable(report.found, console);
}

}  // namespace rankward::commands
