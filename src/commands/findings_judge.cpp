#include "findings_judge.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "files.hpp"
#include "rankward/formats/configuration.hpp"

namespace rankward::commands {
namespace {

using admission::Mode;

class Collector {
 public:
  Collector(const Judging& judging, const Origin& origin, FindingsReport& report)
      : judging_(judging), origin_(origin), report_(report) {}

  void add(admission::Findings findings) {
    for (admission::Finding& finding : findings.standing) {
      if (!wanted(finding)) continue;
      denied_ = denied_ || finding.mode == Mode::kEnforce;
      warned_ = warned_ || finding.mode == Mode::kWarn;
      report_.standing.push_back(located(std::move(finding)));
    }
    for (admission::ExemptFinding& exempt : findings.exempt) {
      if (!wanted(exempt.finding)) continue;
      report_.exempt.push_back(located(std::move(exempt.finding)));
      report_.exempt.back().exempted_by = std::move(exempt.exempted_by);
    }
  }

  void count() {
    ++report_.counts.judged;
    report_.counts.denied += denied_ ? 1 : 0;
    report_.counts.warned += warned_ && !denied_ ? 1 : 0;
  }

 private:
  [[nodiscard]] bool wanted(const admission::Finding& finding) const {
    if (finding.mode < judging_.least) return false;
    const auto& rules = judging_.rules;
    return rules.empty() || std::find(rules.begin(), rules.end(), finding.rule) != rules.end();
  }

  [[nodiscard]] LocatedFinding located(admission::Finding finding) const {
    LocatedFinding out = origin_;
    out.finding = std::move(finding);
    return out;
  }

  const Judging& judging_;
  const Origin& origin_;
  FindingsReport& report_;
  bool denied_ = false;
  bool warned_ = false;
};

}  // namespace

Result<admission::Policy> read_policy(const std::string& config) {
  if (config.empty()) return admission::Policy();
  auto text = read_file(config);
  if (!text) return text.error();
  auto configuration = formats::read_configuration(*text, config);
  if (!configuration) return configuration.error();
  auto policy = admission::Policy::make(std::move(configuration->admission));
  if (!policy) return policy.error().under("admission").in(config);
  return policy;
}

admission::UnixSeconds seconds_now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

void judge_object(const Judging& judging, const formats::JudgedObject& object, const Origin& origin,
                  FindingsReport& report) {
  if (object.templates.empty() && !object.volume) {
    ++report.counts.not_judged;
    return;
  }
  if (!object.volume && judging.policy.excludes(origin.namespace_)) {
    ++report.counts.excluded;
    return;
  }
  Collector collector(judging, origin, report);
  if (object.volume) collector.add(admission::find_in_volume(judging.policy, *object.volume));
  for (const admission::Subject& subject : object.subjects(origin.namespace_, &judging.cluster)) {
    collector.add(admission::find(judging.policy, subject, judging.now));
  }
  collector.count();
}

void judge_standing_pod(const Judging& judging, const kube::Pod& pod, const Origin& origin,
                        FindingsReport& report) {
  if (judging.policy.excludes(origin.namespace_)) {
    ++report.counts.excluded;
    return;
  }
  const admission::Subject subject{.metadata = pod.metadata,
                                   .spec = pod.spec,
                                   .namespace_ = origin.namespace_,
                                   .path_prefix = {},
                                   .workload_kind = {},
                                   .stands = true,
                                   .cluster = &judging.cluster};
  Collector collector(judging, origin, report);
  collector.add(admission::find(judging.policy, subject, judging.now));
  collector.count();
}

void add_facts(std::string_view api_version, const formats::JudgedObject& object,
               admission::ClusterFacts& facts) {
  if (api_version == "v1" && object.kind == "Namespace") {
    facts.namespace_labels[object.metadata.name] = object.metadata.labels;
  }
  if (!object.volume || object.volume->claim_name.empty()) return;
  if (!object.volume->host_path && !object.volume->local_path) return;
  facts.claimed_volumes[object.volume->claim_namespace + "/" + object.volume->claim_name] =
      *object.volume;
}

}  // namespace rankward::commands
