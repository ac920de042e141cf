#include "policy_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rankward/admission/rules.hpp"
#include "yaml_path.hpp"

namespace rankward::commands {
namespace {

using admission::Mode;

// Of one result; a finding of more objects gives several results.
constexpr std::size_t kMaxResources = 250;

std::string_view result_of(const LocatedFinding& found) {
  if (!found.exempted_by.empty()) return "skip";
  return found.finding.mode == Mode::kEnforce ? "fail" : "warn";
}

// The schema of v1alpha2 knows high, medium and low.
std::string_view severity_of(Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return "high";
    case Mode::kWarn:
      return "medium";
    default:
      return "low";
  }
}

std::string_view category_of(std::string_view rule) {
  constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
      {"HP-", "Host paths"},         {"ENV-", "Device variables"}, {"RT-", "Runtime classes"},
      {"ANN-", "Annotations"},       {"PRIV-", "Privileges"},      {"SCH-", "Scheduling"},
      {"REQ-", "Resource requests"}, {"FAB-", "Fabric tests"},     {"KEY-", "Annotations"}};
  for (const auto& [prefix, category] : kCategories) {
    if (rule.substr(0, prefix.size()) == prefix) return category;
  }
  return "GPU access";
}

// What makes two findings one result.
using ResultKey = std::tuple<std::string_view, std::string, std::string, std::string, std::string>;

struct ReportResult {
  const LocatedFinding* first = nullptr;
  std::vector<const LocatedFinding*> objects;
};

std::size_t place_in_catalogue(std::string_view rule) {
  std::size_t place = 0;
  for (const admission::RuleInfo& info : admission::catalogue()) {
    if (info.id == rule) break;
    ++place;
  }
  return place;
}

std::vector<ReportResult> results_of(const std::vector<const LocatedFinding*>& findings) {
  std::map<ResultKey, std::size_t> places;
  std::vector<ReportResult> out;
  for (const LocatedFinding* found : findings) {
    ResultKey key{result_of(*found), std::string(found->finding.rule), found->owner,
                  found->exempted_by, found->finding.message()};
    const auto [place, fresh] = places.try_emplace(std::move(key), out.size());
    if (!fresh && out[place->second].objects.size() == kMaxResources) {
      place->second = out.size();
    } else if (!fresh) {
      out[place->second].objects.push_back(found);
      continue;
    }
    out.push_back({found, {found}});
  }
  std::stable_sort(out.begin(), out.end(), [](const ReportResult& a, const ReportResult& b) {
    return place_in_catalogue(a.first->finding.rule) < place_in_catalogue(b.first->finding.rule);
  });
  return out;
}

std::string in_yaml(const ReportResult& result, admission::UnixSeconds now) {
  const LocatedFinding& found = *result.first;
  const admission::Finding& finding = found.finding;
  std::string out = fmt::format(
      "- policy: rankward\n"
      "  source: rankward\n"
      "  rule: {}\n"
      "  category: {}\n"
      "  result: {}\n"
      "  severity: {}\n"
      "  message: {}\n"
      "  timestamp: {{seconds: {}, nanos: 0}}\n"
      "  properties:\n"
      "    field: {}\n",
      finding.rule, category_of(finding.rule), result_of(found), severity_of(finding.mode),
      yaml_string(finding.message()), now, yaml_string(finding.field));
  if (!finding.container.empty()) out += "    container: " + yaml_string(finding.container) + "\n";
  if (!found.owner.empty()) out += "    owner: " + yaml_string(found.owner) + "\n";
  if (!found.exempted_by.empty()) {
    out += "    exemptedBy: " + yaml_string(found.exempted_by) + "\n";
  }
  out += "  resources:\n";
  for (const LocatedFinding* object : result.objects) {
    out += fmt::format("  - apiVersion: {}\n    kind: {}\n    name: {}\n",
                       yaml_string(object->api_version), yaml_string(object->kind),
                       yaml_string(object->name));
    if (!object->namespace_.empty()) {
      out += "    namespace: " + yaml_string(object->namespace_) + "\n";
    }
    if (!object->uid.empty()) out += "    uid: " + yaml_string(object->uid) + "\n";
  }
  return out;
}

struct Summary {
  std::size_t fail = 0;
  std::size_t warn = 0;
  std::size_t skip = 0;

  void add(std::string_view result) {
    fail += result == "fail" ? 1 : 0;
    warn += result == "warn" ? 1 : 0;
    skip += result == "skip" ? 1 : 0;
  }
};

class ReportWriter {
 public:
  explicit ReportWriter(std::string name_space) : namespace_(std::move(name_space)) {}

  void add(std::string_view outcome, const std::string& result) {
    if (!results_.empty() && results_.size() + result.size() > kMaxReportBytes) end();
    summary_.add(outcome);
    results_ += result;
  }

  std::string finish() && {
    if (!results_.empty() || number_ == 1) end();
    return std::move(out_);
  }

 private:
  void end() {
    const bool whole_cluster = namespace_.empty();
    const std::string name = number_ == 1 ? "rankward" : "rankward-" + std::to_string(number_);
    out_ += fmt::format(
        "---\n"
        "apiVersion: wgpolicyk8s.io/v1alpha2\n"
        "kind: {}\n"
        "metadata:\n"
        "  name: {}\n",
        whole_cluster ? "ClusterPolicyReport" : "PolicyReport", name);
    if (!whole_cluster) out_ += "  namespace: " + yaml_string(namespace_) + "\n";
    out_ += fmt::format(
        "  labels: {{app.kubernetes.io/managed-by: rankward}}\n"
        "summary: {{pass: 0, fail: {}, warn: {}, error: 0, skip: {}}}\n",
        summary_.fail, summary_.warn, summary_.skip);
    out_ += results_.empty() ? "results: []\n" : "results:\n" + results_;
    results_.clear();
    summary_ = {};
    ++number_;
  }

  const std::string namespace_;
  std::string out_;
  std::string results_;
  Summary summary_;
  std::size_t number_ = 1;
};

}  // namespace

std::string policy_reports(const FindingsReport& report, const std::set<std::string>& namespaces,
                           admission::UnixSeconds now) {
  std::map<std::string, std::vector<const LocatedFinding*>> by_namespace;
  for (const std::string& name : namespaces)
    by_namespace[name];
  for (const auto* list : {&report.standing, &report.exempt}) {
    for (const LocatedFinding& found : *list)
      by_namespace[found.namespace_].push_back(&found);
  }
  std::string out;
  for (const auto& [name, findings] : by_namespace) {
    ReportWriter writer(name);
    for (const ReportResult& result : results_of(findings))
      writer.add(result_of(*result.first), in_yaml(result, now));
    out += std::move(writer).finish();
  }
  return out;
}

}  // namespace rankward::commands
