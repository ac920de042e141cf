// A gang as the watch shows it: its pods, bound and not, and what their owner says of its size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::placement {

// The scheduling gate by which a pod asks to be held back until its gang has a plan.
inline constexpr std::string_view kGangGate = "rankward.io/gang";

// A pod of a gang that has no node yet and has not ended.
struct PendingMember {
  std::string uid;
  std::string pod;                            // namespace/name
  std::shared_ptr<const Request> request;     // its `gang` is set
  std::shared_ptr<const kube::PodSpec> spec;  // what the scheduler's own filters look at
  std::string nominated_node;                 // status.nominatedNodeName, "" for none
  bool gated = false;                         // carries kGangGate
  bool gated_by_others = false;               // carries any other gate
  bool unschedulable = false;                 // as PodStatus: it sleeps in the scheduler's queue
  bool deleting = false;

  [[nodiscard]] std::optional<std::int32_t> rank() const { return request->gang->rank; }
  [[nodiscard]] const std::string& role() const { return request->gang->role; }
};

// What the pods of a role ask for, by their owner's template, so that a role counts before its
// first pod is there.
struct RolePod {
  Request request;
  kube::PodSpec spec;    // what the scheduler's own filters look at
  std::size_t hash = 0;  // of the template's text: equal ones are equal
};

// Null where such a pod asks for no GPU (it is no rank then) or cannot be read.
[[nodiscard]] std::shared_ptr<const RolePod> role_pod(const kube::Pod& pod, std::size_t hash,
                                                      const RequestOptions& options);

// How many pods of one role a gang has, by its owner's own word: Job.spec.parallelism, a JobSet's
// replicated jobs, minMember of a PodGroup and the like (field/topology.md, section 5).
struct RoleSize {
  std::string role;  // as GangRef::role; "" where the owner knows one kind of pod only
  std::int32_t pods = 0;
  // Fewer make a gang too: elastic jobs, minMember below the number of pods. 0: all are needed.
  std::int32_t least = 0;
  std::shared_ptr<const RolePod> pod = nullptr;  // null: not known, or no rank
  friend bool operator==(const RoleSize& a, const RoleSize& b) {
    const auto hash = [](const RoleSize& size) { return size.pod ? size.pod->hash : 0; };
    return a.role == b.role && a.pods == b.pods && a.least == b.least && hash(a) == hash(b);
  }
};

// What one object of a framework says about one gang.
struct GangFacts {
  std::string gang_key;  // GangRef::key of its pods
  std::vector<RoleSize> sizes;
  // A native PodGroup's schedulingConstraints.topology key, "" for none: a node label.
  std::string required_topology;
  bool elastic = false;  // may grow and shrink while it runs: planned greedily, pod by pod
  friend bool operator==(const GangFacts&, const GangFacts&) = default;
};

struct GangState {
  std::string key;
  std::vector<PendingMember> pending;  // by rank where known, then by pod name
  std::vector<GangFacts> facts;        // of its owners, usually one; by owner
};

}  // namespace rankward::placement
