// What a gang still needs: its parts, how many ranks each has, who stands and who waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/placement/gang.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// The ranks of one role. Pods without devices are no ranks and make no part.
struct PartNeed {
  std::string role;
  std::shared_ptr<const Request> request;  // of one of its pods
  std::shared_ptr<const kube::PodSpec> spec;
  std::int32_t size = 0;  // ranks in all; 0: not known
  // Ranks that stand, one entry each, by node; a rank that stands twice is there once.
  std::vector<NodeIndex> bound;
  // Ranks that wait, one pod each: no retries of one rank, nobody on its way out, none of a rank
  // that stands. By rank, then by name.
  std::vector<const PendingMember*> pending;

  [[nodiscard]] std::int32_t missing() const {
    return size - static_cast<std::int32_t>(bound.size());
  }
  // As many pods exist as there are ranks.
  [[nodiscard]] bool complete() const {
    return missing() <= static_cast<std::int32_t>(pending.size());
  }
};

struct GangNeed {
  std::vector<PartNeed> parts;  // by GPUs, largest first, then by role
  bool elastic = false;
  bool gated_by_others = false;
  bool pinned = false;        // a waiting pod is tied to one node by somebody else
  bool awaits_first = false;  // none stands, and where the first may stand only a call tells
  std::string required_topology;

  // Every part's size is known.
  [[nodiscard]] bool plannable() const;
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool whole() const;  // nothing is missing
  [[nodiscard]] const PartNeed* part(std::string_view role) const;
};

// A pod of the gang that a call is about, which the Snapshot may not show yet.
struct Caller {
  const Request& request;
  const kube::Pod& pod;
};

// `caller` may be null. Pointers into the Snapshot are valid as long as that.
[[nodiscard]] GangNeed need_of(const Snapshot& snapshot, std::string_view gang_key,
                               const Caller* caller);

// Whether the spec allows one node only, by name: Kueue's topology-aware scheduling and other
// controllers do so.
[[nodiscard]] bool is_pinned(const kube::PodSpec& spec);

}  // namespace rankward::placement
