#include "scan_summary.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rankward/admission/rules.hpp"

namespace rankward::commands {
namespace {

using admission::Mode;

// kind, namespace, name
using ObjectKey = std::tuple<std::string_view, std::string_view, std::string_view>;
using OwnerKey = std::pair<std::string_view, std::string_view>;

ObjectKey object_key(const LocatedFinding& found) {
  return {found.kind, found.namespace_, found.name};
}

struct Group {
  Mode strictest = Mode::kOff;
  std::size_t findings = 0;
  std::map<ObjectKey, Mode> objects;
  std::set<OwnerKey> owners;
  std::set<std::string_view> rules;

  void add(const LocatedFinding& found) {
    strictest = std::max(strictest, found.finding.mode);
    ++findings;
    Mode& of_object = objects.try_emplace(object_key(found), Mode::kOff).first->second;
    of_object = std::max(of_object, found.finding.mode);
    owners.emplace(found.namespace_, found.owner);
    rules.insert(found.finding.rule);
  }

  [[nodiscard]] std::size_t objects_of(Mode mode) const {
    return static_cast<std::size_t>(std::count_if(
        objects.begin(), objects.end(), [&](const auto& object) { return object.second == mode; }));
  }
};

std::vector<std::string_view> in_order(const std::set<std::string_view>& rules) {
  std::vector<std::string_view> out;
  for (const admission::RuleInfo& info : admission::catalogue()) {
    if (rules.count(info.id) != 0) out.push_back(info.id);
  }
  return out;
}

}  // namespace

ScanSummary summarize(const FindingsReport& report) {
  std::map<std::string_view, Group> rules;
  std::map<std::string_view, Group> namespaces;
  std::map<OwnerKey, Group> owners;
  for (const LocatedFinding& found : report.standing) {
    rules[found.finding.rule].add(found);
    namespaces[found.namespace_].add(found);
    owners[{found.namespace_, found.owner}].add(found);
  }
  ScanSummary out;
  for (const admission::RuleInfo& info : admission::catalogue()) {
    const auto group = rules.find(info.id);
    if (group == rules.end()) continue;
    out.by_rule.push_back({info.id, group->second.strictest, group->second.findings,
                           group->second.objects.size(), group->second.owners.size()});
  }
  for (const auto& [name, group] : namespaces) {
    out.by_namespace.push_back({std::string(name), group.objects_of(Mode::kEnforce),
                                group.objects_of(Mode::kWarn), group.findings});
  }
  std::stable_sort(out.by_namespace.begin(), out.by_namespace.end(),
                   [](const NamespaceSummary& a, const NamespaceSummary& b) {
                     return std::tie(a.denied, a.warned) > std::tie(b.denied, b.warned);
                   });
  for (const auto& [key, group] : owners) {
    out.by_owner.push_back({std::string(key.first), std::string(key.second), group.strictest,
                            group.objects.size(), in_order(group.rules)});
  }
  std::stable_sort(out.by_owner.begin(), out.by_owner.end(),
                   [](const OwnerSummary& a, const OwnerSummary& b) {
                     return std::tie(a.strictest, a.objects) > std::tie(b.strictest, b.objects);
                   });
  return out;
}

}  // namespace rankward::commands
