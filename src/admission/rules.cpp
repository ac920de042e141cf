#include "rankward/admission/rules.hpp"

#include <vector>

#include "rule.hpp"

// One line a rule; each is defined in a file of its own. The order is that of reports.
#define RANKWARD_ADMISSION_RULES(RULE)              \
  RULE(kHostDeviceNodes)              /* HP-01 */   \
  RULE(kHostDeviceRoots)              /* HP-02 */   \
  RULE(kBroadHostPaths)               /* HP-03 */   \
  RULE(kHostControlChannels)          /* HP-04 */   \
  RULE(kNullDeviceMounts)             /* HP-05 */   \
  RULE(kClaimedVolumes)               /* HP-06 */   \
  RULE(kUncleanHostPaths)             /* HP-07 */   \
  RULE(kAllowedHostPaths)             /* HP-08 */   \
  RULE(kLiteralDeviceVariable)        /* ENV-01 */  \
  RULE(kHiddenDeviceVariable)         /* ENV-02 */  \
  RULE(kDeviceVariableBesideRequest)  /* ENV-03 */  \
  RULE(kVariablesFromElsewhere)       /* ENV-04 */  \
  RULE(kLegacyCudaVersion)            /* ENV-05 */  \
  RULE(kDriverFeatures)               /* ENV-06 */  \
  RULE(kGpuRuntimeClass)              /* RT-01 */   \
  RULE(kGpuRuntimeClassBesideRequest) /* RT-02 */   \
  RULE(kDeviceAnnotations)            /* ANN-01 */  \
  RULE(kPrivilegedWithoutRequest)     /* PRIV-01 */ \
  RULE(kPrivilegedWithRequest)        /* PRIV-02 */ \
  RULE(kHostNamespaces)               /* PRIV-03 */ \
  RULE(kPresetNodeName)               /* SCH-01 */  \
  RULE(kUnservedScheduler)            /* SCH-02 */  \
  RULE(kIdleOnGpuNode)                /* SCH-03 */  \
  RULE(kRequestAmounts)               /* REQ-01 */  \
  RULE(kRequestMemory)                /* REQ-02 */  \
  RULE(kRequestIsolation)             /* REQ-03 */  \
  RULE(kDistributedRanks)             /* REQ-04 */  \
  RULE(kFabricTest)                   /* FAB-01 */  \
  RULE(kRankwardKeys)                 /* KEY-01 */  \
  RULE(kEphemeralContainers)          /* EPH-01 */  \
  RULE(kSelfGuard)                    /* SELF-01 */

namespace rankward::admission {

#define RANKWARD_DECLARE(rule) extern const Rule rule;
RANKWARD_ADMISSION_RULES(RANKWARD_DECLARE)
#undef RANKWARD_DECLARE

std::span<const Rule* const> rules() {
#define RANKWARD_ADDRESS(rule) &rule,
  static constexpr const Rule* kRules[] = {RANKWARD_ADMISSION_RULES(RANKWARD_ADDRESS)};
#undef RANKWARD_ADDRESS
  return kRules;
}

std::span<const RuleInfo> catalogue() {
  static const std::vector<RuleInfo> infos = [] {
    std::vector<RuleInfo> out;
    for (const Rule* rule : rules())
      out.push_back(rule->info);
    return out;
  }();
  return infos;
}

const RuleInfo* find_rule(std::string_view id) {
  for (const RuleInfo& info : catalogue())
    if (info.id == id) return &info;
  return nullptr;
}

std::string RuleInfo::anchor() const {
  std::string out(id);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace rankward::admission
