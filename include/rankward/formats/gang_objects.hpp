// What the objects that make gangs say of them: Jobs, JobSets, PodGroups and the like, as the API
// server writes them, become the GangFacts of the pods that their controllers make. Read as
// objects.hpp says. Sources: field/topology.md, section 5, and the projects' Go types.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/meta.hpp"
#include "rankward/placement/gang.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

struct GangResource {
  std::string_view group;                    // "batch"
  std::string_view plural;                   // "jobs", as in paths
  std::string_view kind;                     // "Job"
  std::array<std::string_view, 3> versions;  // all that can be read, best first; "" behind them

  // "jobs.batch"
  [[nodiscard]] std::string name() const;
};

// LeaderWorkerSet, Kueue's plain pod groups and TrainJob are not among them: their pods say all
// that is needed, and a TrainJob's JobSet says the rest.
[[nodiscard]] std::span<const GangResource> gang_resources();
// nullptr where the kind or the version is none of them.
[[nodiscard]] const GangResource* find_gang_resource(std::string_view api_version,
                                                     std::string_view kind);

// Kinds of gangs (the second part of GangRef::key) that objects of the resource may speak of:
// "Gang", which a template's rankward.io/gang makes, and what its controller marks pods with.
[[nodiscard]] std::set<std::string> gang_kinds(const GangResource& resource);

struct GangOwner {
  std::string key;  // gang_owner_key()
  // Empty where it has no gang: the pods are independent of each other, or another object that is
  // read too speaks for them, or it has ended. A number of pods that no gang has counts as unknown.
  std::vector<placement::GangFacts> facts;
};

// The options are for the requests that its templates make.
[[nodiscard]] Result<GangOwner> read_gang_owner(const GangResource& resource, std::string_view json,
                                                const placement::RequestOptions& options = {});

// "jobs.batch/team-a/train": SnapshotBuilder's key of the owner.
[[nodiscard]] std::string gang_owner_key(const GangResource& resource,
                                         const kube::ObjectMeta& metadata);

// Whether an APIResourceList (GET /apis/GROUP/VERSION) has that resource, and it can be watched.
[[nodiscard]] Result<bool> lists_resource(std::string_view json, std::string_view plural);

}  // namespace rankward::formats
