// SELF-01: who may loosen what admission holds to, its configuration and the labels of namespaces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/kube/meta.hpp"

namespace rankward::admission {

// userInfo of the request.
struct Requester {
  std::string username;
  std::vector<std::string> groups;
};

// Named in administrators, or in one of administrator_groups. Compared byte for byte.
[[nodiscard]] bool is_administrator(const PolicyOptions& options, const Requester& requester);

// Something that one configuration lets through and another does not.
struct Grant {
  std::string field;  // from the configuration's root: "admission.exemptions[0]"
  std::string what;   // `exempts service account "x" of namespace "team-a" from HP-01`
};

// Enough to say what is wrong; a configuration may hold thousands.
inline constexpr std::size_t kMaxGrants = 16;

// What `after` lets through beyond `before`, at most kMaxGrants: exemptions, presets and excluded
// namespaces that are new, wider or last longer, looser modes, lists by which rules see less, more
// administrators. Empty where it only narrows, or changes nothing of that. An exemption counts as
// known where one single exemption of `before` covers it, rule by rule.
[[nodiscard]] std::vector<Grant> grants(const Policy& before, const Policy& after);

// One RankwardConfiguration of a ConfigMap, before and after the request.
struct ConfigurationChange {
  std::string field;               // `data["rankward.yaml"]`
  const Policy* before = nullptr;  // never null: what is in force, where there was none
  const Policy* after = nullptr;   // nullptr: cannot be read
  std::string unreadable;          // why, where it cannot
};

// Denies what grants something, or cannot be read, unless the requester is an administrator of
// `policy`, the one in force.
[[nodiscard]] Judgement judge_configuration(const Policy& policy, const Requester& requester,
                                            const std::string& namespace_,
                                            std::span<const ConfigurationChange> changes);

struct NamespaceChange {
  Operation operation = Operation::kCreate;
  const kube::ObjectMeta& metadata;
  const kube::ObjectMeta* old_metadata = nullptr;  // on UPDATE
};

// Denies the creation of a namespace that an exemption, a preset or excluded_namespaces waits for,
// and taking away rankward.io/isolation=required or rankward.io/slo, unless the requester is an
// administrator. A namespace that is being deleted is left alone.
[[nodiscard]] Judgement judge_namespace(const Policy& policy, const Requester& requester,
                                        const NamespaceChange& change);

}  // namespace rankward::admission
