#include "gang_owner.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "object_fields.hpp"

namespace rankward::formats {

namespace {

// The head node of a RayCluster is in a group of this name. Source: KubeRay, utils/constant.go.
constexpr const char* kRayHeadGroup = "headgroup";

// More than any object has that people or controllers write.
constexpr std::size_t kMaxParts = 1000;

// nullptr, and the cursor has failed, where there are too many.
GangPart* next_part(Cursor& cursor, GangObject& out) {
  if (out.parts.size() < kMaxParts) return &out.parts.emplace_back();
  cursor.fail("must have at most " + std::to_string(kMaxParts) + " kinds of pods", cursor.offset());
  return nullptr;
}

// Of the template what tells to which gang its pods belong; what they ask for is read later, and
// may be unreadable.
bool read_template(Cursor& cursor, GangPart& out) {
  const std::size_t start = cursor.offset();
  const auto spec = [&] {
    const std::size_t begin = cursor.offset();
    const auto group = [&] { return cursor.object(field("podGroupName", out.pod_group_name)); };
    if (!cursor.object(field("schedulingGroup", group))) return false;
    out.spec = cursor.taken_since(begin);
    return true;
  };
  if (!cursor.object(field("metadata", out.metadata), field("spec", spec))) return false;
  out.text = cursor.taken_since(start);
  return true;
}

// Of one part; on what does not matter here.
bool read_depends_on(Cursor& cursor, GangObject& owner) {
  if (cursor.null()) return true;
  owner.in_steps = true;
  return cursor.skip();
}

bool read_job_spec(Cursor& cursor, GangObject& owner, GangPart& out, bool indexed_by_default) {
  std::optional<std::int32_t> parallelism;
  std::optional<std::int32_t> completions;
  std::string mode = indexed_by_default ? "Indexed" : "NonIndexed";
  if (!cursor.object(field("parallelism", parallelism), field("completions", completions),
                     field("completionMode", mode),
                     field("template", [&] { return read_template(cursor, out); }))) {
    return false;
  }
  out.indexed = mode == "Indexed";
  out.pods = parallelism.value_or(1);
  if (completions && *completions > out.pods) {
    // The later ones take the places of the first: these never all run together.
    owner.elastic = true;
  } else if (completions) {
    out.pods = *completions;
  }
  return true;
}

bool read_replica_specs(Cursor& cursor, GangObject& out) {
  return cursor.members([&](std::string_view type) {
    const bool twice = std::any_of(out.parts.begin(), out.parts.end(),
                                   [type](const GangPart& part) { return part.name == type; });
    if (twice) return cursor.fail("must not be given twice", cursor.offset());
    GangPart* const part = next_part(cursor, out);
    if (part == nullptr) return false;
    part->name = type;
    std::optional<std::int32_t> replicas;
    if (!cursor.object(field("replicas", replicas),
                       field("template", [&] { return read_template(cursor, *part); }))) {
      return false;
    }
    part->pods = replicas.value_or(1);
    return true;
  });
}

bool read_worker_group(Cursor& cursor, GangObject& owner) {
  GangPart* const part = next_part(cursor, owner);
  if (part == nullptr) return false;
  std::optional<std::int32_t> replicas;
  std::int32_t least = 0;
  std::int32_t hosts = 1;
  bool suspended = false;
  if (!cursor.object(field("groupName", part->name), field("replicas", replicas),
                     field("minReplicas", least), field("numOfHosts", hosts),
                     field("suspend", suspended),
                     field("template", [&] { return read_template(cursor, *part); }))) {
    return false;
  }
  part->pods = suspended ? 0 : std::int64_t{replicas.value_or(least)} * std::max(hosts, 1);
  return true;
}

}  // namespace

bool read_job(Cursor& cursor, GangObject& out) {
  return read_job_spec(cursor, out, out.parts.emplace_back(), false);
}

bool read_job_set(Cursor& cursor, GangObject& out) {
  const auto job = [&](std::size_t) {
    GangPart* const part = next_part(cursor, out);
    if (part == nullptr) return false;
    std::int32_t replicas = 1;
    const auto spec = [&] { return read_job_spec(cursor, out, *part, true); };
    if (!cursor.object(field("name", part->name), field("replicas", replicas),
                       field("dependsOn", [&] { return read_depends_on(cursor, out); }),
                       field("template", [&] { return cursor.object(field("spec", spec)); }))) {
      return false;
    }
    part->pods = std::max<std::int64_t>(part->pods, 0) * std::max(replicas, 0);
    return true;
  };
  return cursor.object(field("replicatedJobs", [&] { return cursor.items(job); }));
}

bool read_stateful_set(Cursor& cursor, GangObject& out) {
  GangPart& part = out.parts.emplace_back();
  std::int32_t replicas = 1;
  if (!cursor.object(field("replicas", replicas),
                     field("template", [&] { return read_template(cursor, part); }))) {
    return false;
  }
  part.pods = replicas;
  return true;
}

bool read_training_job(Cursor& cursor, GangObject& out) {
  const auto specs = [&] { return read_replica_specs(cursor, out); };
  const auto elastic = [&] {
    out.elastic = !cursor.null();
    return !out.elastic || cursor.skip();
  };
  return cursor.object(field("pytorchReplicaSpecs", specs), field("tfReplicaSpecs", specs),
                       field("mpiReplicaSpecs", specs), field("xgbReplicaSpecs", specs),
                       field("paddleReplicaSpecs", specs), field("jaxReplicaSpecs", specs),
                       field("elasticPolicy", elastic));
}

bool read_ray_cluster(Cursor& cursor, GangObject& out) {
  const auto head = [&] {
    GangPart& part = out.parts.emplace_back();
    part.name = kRayHeadGroup;
    return cursor.object(field("template", [&] { return read_template(cursor, part); }));
  };
  const auto workers = [&](std::size_t) { return read_worker_group(cursor, out); };
  return cursor.object(field("headGroupSpec", head),
                       field("workerGroupSpecs", [&] { return cursor.items(workers); }),
                       field("enableInTreeAutoscaling", out.elastic));
}

bool read_volcano_job(Cursor& cursor, GangObject& out) {
  const auto task = [&](std::size_t) {
    GangPart* const part = next_part(cursor, out);
    if (part == nullptr) return false;
    std::int32_t replicas = 1;
    std::optional<std::int32_t> least;
    if (!cursor.object(field("name", part->name), field("replicas", replicas),
                       field("minAvailable", least),
                       field("dependsOn", [&] { return read_depends_on(cursor, out); }),
                       field("template", [&] { return read_template(cursor, *part); }))) {
      return false;
    }
    part->pods = replicas;
    if (least && *least < replicas) part->least = std::max(*least, 0);
    return true;
  };
  return cursor.object(field("tasks", [&] { return cursor.items(task); }));
}

bool read_native_pod_group(Cursor& cursor, GangObject& out) {
  GangPart& part = out.parts.emplace_back();
  std::int32_t least = 0;
  const auto gang = [&] { return cursor.object(field("minCount", least)); };
  const auto policy = [&] { return cursor.object(field("gang", gang)); };
  const auto level = [&](std::size_t index) {
    std::string key;
    if (!cursor.object(field("key", key))) return false;
    if (index == 0) out.required_topology = std::move(key);
    return true;
  };
  const auto constraints = [&] {
    return cursor.object(field("topology", [&] { return cursor.items(level); }));
  };
  if (!cursor.object(field("schedulingPolicy", policy),
                     field("schedulingConstraints", constraints))) {
    return false;
  }
  part.pods = least;
  return true;
}

bool read_pod_group(Cursor& cursor, GangObject& out) {
  std::int32_t least = 0;
  const auto sub_group = [&](std::size_t) {
    GangPart* const part = next_part(cursor, out);
    if (part == nullptr) return false;
    std::int32_t members = 0;
    if (!cursor.object(field("name", part->name), field("minMember", members))) return false;
    part->pods = members;
    return true;
  };
  if (!cursor.object(field("minMember", least),
                     field("subGroups", [&] { return cursor.items(sub_group); }))) {
    return false;
  }
  if (out.parts.empty()) out.parts.emplace_back().pods = least;
  return true;
}

bool read_pod_gang(Cursor& cursor, GangObject& out) {
  const auto group = [&](std::size_t) {
    GangPart* const part = next_part(cursor, out);
    if (part == nullptr) return false;
    std::int32_t least = 0;
    std::int64_t made = 0;
    const auto pod = [&](std::size_t) {
      ++made;
      return cursor.skip();
    };
    if (!cursor.object(field("name", part->name), field("minReplicas", least),
                       field("podReferences", [&] { return cursor.items(pod); }))) {
      return false;
    }
    part->pods = std::max<std::int64_t>(least, made);
    if (least < part->pods) part->least = std::max(least, 0);
    return true;
  };
  const auto pack = [&] { return cursor.object(field("required", out.required_topology)); };
  const auto constraint = [&] { return cursor.object(field("packConstraint", pack)); };
  return cursor.object(field("podgroups", [&] { return cursor.items(group); }),
                       field("topologyConstraint", constraint));
}

}  // namespace rankward::formats
