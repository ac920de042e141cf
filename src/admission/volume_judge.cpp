// HP-06 for PersistentVolumes themselves.
#include <utility>

#include "answer.hpp"
#include "host_path_verdict.hpp"
#include "known_findings.hpp"
#include "rankward/admission/host_path.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/admission/rules.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kRule = "HP-06";

void judge_path(const Policy& policy, const kube::PersistentVolume& volume, std::string_view source,
                std::string_view field, std::string_view path, std::vector<Finding>& out) {
  std::string canonical = canonical_host_path(path);
  const auto verdict = verdict_on(policy.host_paths(), canonical, {});
  if (!verdict) return;
  const RuleInfo& info = *find_rule(kRule);
  Finding finding;
  finding.rule = info.id;
  finding.mode =
      policy.mode(kRule, {}).value_or(verdict->milder ? info.milder_mode : info.default_mode);
  if (finding.mode == Mode::kOff) return;
  finding.field = field;
  finding.subject = source;
  finding.value = std::move(canonical);
  const std::string& name = volume.metadata.name;
  finding.what = "PersistentVolume" + (name.empty() ? std::string() : " " + in_quotes(name)) + ": ";
  finding.what.append(source).append(" ").append(in_quotes(path));
  if (volume.block) finding.what += " in volumeMode Block";
  finding.what.append(" gives ").append(verdict->entry->gives);
  finding.what.append(" to every pod with its claim.");
  finding.why = info.why;
  finding.fix = info.fix;
  out.push_back(std::move(finding));
}

}  // namespace

Findings find_in_volume(const Policy& policy, const kube::PersistentVolume& volume) {
  Findings found;
  if (volume.host_path)
    judge_path(policy, volume, "hostPath", "spec.hostPath.path", volume.host_path->path,
               found.standing);
  if (volume.local_path)
    judge_path(policy, volume, "local", "spec.local.path", *volume.local_path, found.standing);
  return found;
}

Judgement judge_volume(const Policy& policy, const VolumeReview& review) {
  Judgement judgement;
  std::string_view skipped;
  const bool is_update = review.operation == Operation::kUpdate;
  if (review.deleting || review.volume.metadata.deleting) {
    skipped = "being deleted";
  } else if (is_update || review.operation == Operation::kCreate) {
    judgement.findings = find_in_volume(policy, review.volume).standing;
    if (is_update && review.old_volume != nullptr) {
      const KnownFindings known(find_in_volume(policy, *review.old_volume));
      std::erase_if(judgement.findings, [&](const Finding& finding) { return known.has(finding); });
    }
  }
  complete(policy, {}, skipped, judgement);
  return judgement;
}

}  // namespace rankward::admission
