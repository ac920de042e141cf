// Small Nodes and Pods in JSON, and a Snapshot as text to compare.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/snapshot.hpp"

namespace rankward::cluster {

// `annotations` is the inside of a JSON object.
inline std::string node_json(const std::string& name, int gpus,
                             const std::string& annotations = "") {
  const std::string devices = R"({"cpu":"128","nvidia.com/gpu":")" + std::to_string(gpus) + "\"}";
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"u-)" +
         name + R"(","resourceVersion":"@VERSION@","labels":{"nvidia.com/gpu.count":")" +
         std::to_string(gpus) + R"("},"annotations":{)" + annotations +
         R"(}},"spec":{},"status":{"capacity":)" + devices + R"(,"allocatable":)" + devices +
         R"(,"conditions":[{"type":"Ready","status":"True"}]}})";
}

// No node: the pod is pending. A gang: rankward.io/gang.
inline std::string pod_json(const std::string& name, const std::string& uid,
                            const std::string& node, int gpus, const std::string& gang = "") {
  const std::string amount = R"({"nvidia.com/gpu":")" + std::to_string(gpus) + "\"}";
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"team","name":")" + name +
         R"(","uid":")" + uid + R"(","resourceVersion":"@VERSION@")" +
         (gang.empty() ? "" : R"(,"annotations":{"rankward.io/gang":")" + gang + "\"}") +
         R"(},"spec":{)" + (node.empty() ? "" : R"("nodeName":")" + node + "\",") +
         R"("containers":[{"name":"c","resources":{"limits":)" + amount + R"(,"requests":)" +
         amount + R"(}}]},"status":{"phase":")" + (node.empty() ? "Pending" : "Running") + "\"}}";
}

// A Job or StatefulSet ("batch/v1", "Job") whose template carries rankward.io/gang.
inline std::string owner_json(const std::string& api_version, const std::string& kind,
                              const std::string& name, const std::string& gang, int pods) {
  const std::string number = std::to_string(pods);
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind +
         R"(","metadata":{"namespace":"team","name":")" + name + R"(","uid":"u-)" + name +
         R"(","resourceVersion":"@VERSION@"},"spec":{"replicas":)" + number + R"(,"parallelism":)" +
         number + R"(,"template":{"metadata":{"annotations":{"rankward.io/gang":")" + gang +
         R"("}},"spec":{"containers":[]}}}})";
}

inline std::string describe_gang(const placement::Snapshot& snapshot, const std::string& key) {
  std::string out = key + ":";
  for (const auto index : snapshot.bound_members(key))
    out += " on " + snapshot.node(index).node->metadata.name;
  if (const auto* gang = snapshot.gang(key)) {
    for (const auto& member : gang->pending)
      out += " waits " + member.uid + (member.deleting ? " deleting" : "");
    for (const auto& facts : gang->facts) {
      for (const auto& size : facts.sizes)
        out += " size " + size.role + "=" + std::to_string(size.pods);
    }
  }
  return out + "\n";
}

// One line a node: what it has, what is free, who holds it. Then one a gang that has pods.
inline std::string describe(const placement::Snapshot& snapshot) {
  std::string out;
  std::set<std::string> gangs;
  for (std::uint32_t i = 0; i < snapshot.size(); ++i) {
    const auto& state = snapshot.node(placement::NodeIndex{i});
    const auto& gpus = state.node->allocatable.find("nvidia.com/gpu");
    out += state.node->metadata.name +
           " gpus=" + (gpus == state.node->allocatable.end() ? "-" : gpus->second.to_string()) +
           " free=" + std::to_string(state.free("nvidia.com/gpu").value_or(-1)) +
           " labels=" + std::to_string(state.topology->gpu_count.value_or(-1)) + ":";
    std::vector<std::string> holders;
    for (const auto& holder : state.holders) {
      holders.push_back(" " + holder.uid + "=" + std::to_string(holder.gpus));
      if (!holder.gang_key.empty()) gangs.insert(holder.gang_key);
    }
    std::sort(holders.begin(), holders.end());
    for (const auto& holder : holders)
      out += holder;
    out += "\n";
  }
  snapshot.for_each_pending_gang([&](const auto& gang) { gangs.insert(gang.key); });
  for (const auto& key : gangs)
    out += describe_gang(snapshot, key);
  return out;
}

}  // namespace rankward::cluster
