// Findings as PolicyReport objects (wgpolicyk8s.io/v1alpha2, Kubernetes' policy working group),
// which dashboards show.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "findings_report.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::commands {

// One report has at most these bytes: kubectl apply keeps what it applied in an annotation, and an
// object's annotations may have 256 KiB together.
inline constexpr std::size_t kMaxReportBytes = 200'000;

// YAML documents for `kubectl apply -f -`: a PolicyReport for each of the namespaces, also for one
// without findings, so that an older report is put right, and a ClusterPolicyReport for what has
// no namespace. They are named "rankward", then "rankward-2" where one is not enough. The same
// finding of several pods of one owner is one result. enforce is `fail`, warn and audit are `warn`,
// exempt findings are `skip`; the summary counts results.
[[nodiscard]] std::string policy_reports(const FindingsReport& report,
                                         const std::set<std::string>& namespaces,
                                         admission::UnixSeconds now);

}  // namespace rankward::commands
