// Lifts the scheduling gate rankward.io/gang by hand, for when no Rankward does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

struct LiftedGate {
  std::string pod;                       // name alone
  std::string gang;                      // "" for none
  bool gated = false;                    // it carried our gate
  std::vector<std::string> other_gates;  // that still hold it
  std::optional<std::string> error;      // why the gate could not be lifted
};

// The pods of that namespace which are named, or whose gang is (its own name: of the Job, the
// PodGroup, the annotation rankward.io/gang), by gang and rank; their gates lifted unless
// `dry_run`. kNotFound with a name that no pod answers to, and then nothing is lifted; kUnavailable
// where the pods cannot be listed. Blocks for the calls, one after the other.
[[nodiscard]] Result<std::vector<LiftedGate>> lift_gates(const ApiServer& server,
                                                         std::string_view name_space,
                                                         const std::vector<std::string>& names,
                                                         bool dry_run);

}  // namespace rankward::cluster
