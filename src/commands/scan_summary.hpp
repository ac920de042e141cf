// What a scan found, counted by rule, by namespace and by owner.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "findings_report.hpp"

namespace rankward::commands {

struct RuleSummary {
  std::string_view rule;
  admission::Mode strictest = admission::Mode::kAudit;
  std::size_t findings = 0;
  std::size_t objects = 0;
  std::size_t owners = 0;
};

struct NamespaceSummary {
  std::string namespace_;
  std::size_t denied = 0;  // objects
  std::size_t warned = 0;
  std::size_t findings = 0;
};

struct OwnerSummary {
  std::string namespace_;
  std::string owner;  // "Deployment/web"
  admission::Mode strictest = admission::Mode::kAudit;
  std::size_t objects = 0;
  std::vector<std::string_view> rules;  // in the order of the catalogue
};

struct ScanSummary {
  std::vector<RuleSummary> by_rule;            // in the order of the catalogue
  std::vector<NamespaceSummary> by_namespace;  // most denied first
  std::vector<OwnerSummary> by_owner;          // strictest, then most objects first
};

// Findings that stand; refers to the rules' ids in the report.
[[nodiscard]] ScanSummary summarize(const FindingsReport& report);

}  // namespace rankward::commands
