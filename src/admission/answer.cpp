#include "answer.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "answer_text.hpp"

namespace rankward::admission {
namespace {

constexpr std::size_t kAuditLength = 1024;

Mode applied_mode(const Policy& policy, const Finding& finding, bool is_workload) {
  const bool spared = finding.mode == Mode::kEnforce && is_workload && !policy.denies_workloads();
  return spared ? Mode::kWarn : finding.mode;
}

void add_to_list(std::string& list, std::string_view item) {
  if (list.size() + item.size() + 1 > kAuditLength) return;
  if (!list.empty()) list += ',';
  list += item;
}

// Everything that the answer is made of, sorted by what it leads to.
struct Sorted {
  std::vector<const Finding*> denying;
  std::vector<const Finding*> spared;  // would deny the pods of this workload
  std::vector<const Finding*> warning;
};

Sorted sort_out(const Policy& policy, const std::vector<Finding>& findings, bool is_workload) {
  Sorted out;
  for (const Finding& finding : findings) {
    const Mode applied = applied_mode(policy, finding, is_workload);
    if (applied == Mode::kEnforce) {
      out.denying.push_back(&finding);
    } else if (finding.mode == Mode::kEnforce) {
      out.spared.push_back(&finding);
    } else if (applied == Mode::kWarn) {
      out.warning.push_back(&finding);
    }
  }
  return out;
}

void count(const Policy& policy, bool is_workload, Judgement& judgement) {
  std::map<std::pair<std::string_view, Mode>, std::uint32_t> counts;
  for (const Finding& finding : judgement.findings)
    ++counts[{finding.rule, applied_mode(policy, finding, is_workload)}];
  for (const auto& [key, number] : counts)
    judgement.counts.push_back({key.first, key.second, number});
}

void annotate(std::string_view skipped, Judgement& judgement) {
  auto& out = judgement.audit_annotations;
  out.emplace_back("decision", judgement.allowed ? "allow" : "deny");
  if (!judgement.counts.empty()) {
    Mode strictest = Mode::kOff;
    std::string rules;
    std::set<std::string_view> named;
    for (const RuleCount& counted : judgement.counts) {
      strictest = std::max(strictest, counted.mode);
      if (named.insert(counted.rule).second) add_to_list(rules, counted.rule);
    }
    out.emplace_back("mode", to_string(strictest));
    out.emplace_back("rules", std::move(rules));
  }
  if (!judgement.exempt.empty()) {
    std::string by;
    std::set<std::string> named;
    for (const ExemptFinding& exempt : judgement.exempt) {
      const std::string item = exempt.exempted_by + ":" + std::string(exempt.finding.rule);
      if (named.insert(item).second) add_to_list(by, item);
    }
    out.emplace_back("exempted-by", std::move(by));
  }
  if (!skipped.empty()) out.emplace_back("skipped", skipped);
}

void compose(const Policy& policy, const std::string& workload_kind, Judgement& judgement) {
  const bool is_workload = !workload_kind.empty();
  const Sorted sorted = sort_out(policy, judgement.findings, is_workload);
  judgement.allowed = sorted.denying.empty();
  count(policy, is_workload, judgement);
  if (!judgement.allowed) judgement.message = denial_message(sorted.denying, sorted.warning);
  for (const Finding* finding : sorted.denying) {
    if (judgement.causes.size() == kMaxCauses) break;
    judgement.causes.push_back({finding->field, finding->message(), std::string(finding->rule)});
  }
  std::vector<const Finding*> warned = sorted.spared;
  warned.insert(warned.end(), sorted.warning.begin(), sorted.warning.end());
  const std::string heading =
      sorted.spared.empty() ? "" : "The pods of this " + workload_kind + " will be denied:";
  judgement.warnings = warning_lines(heading, warned);
}

}  // namespace

void complete(const Policy& policy, const std::string& workload_kind, std::string_view skipped,
              Judgement& judgement) {
  compose(policy, workload_kind, judgement);
  annotate(skipped, judgement);
}

}  // namespace rankward::admission
