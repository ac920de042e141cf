// Small Nodes and Pods in JSON, and a Snapshot as text to compare.
#pragma once

#include <algorithm>
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

inline std::string pod_json(const std::string& name, const std::string& uid,
                            const std::string& node, int gpus) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"team","name":")" + name +
         R"(","uid":")" + uid + R"(","resourceVersion":"@VERSION@"},"spec":{"nodeName":")" + node +
         R"(","containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":")" +
         std::to_string(gpus) + R"("},"requests":{"nvidia.com/gpu":")" + std::to_string(gpus) +
         R"("}}}]},"status":{"phase":"Running"}})";
}

// One line a node: what it has, what is free, who holds it.
inline std::string describe(const placement::Snapshot& snapshot) {
  std::string out;
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
    }
    std::sort(holders.begin(), holders.end());
    for (const auto& holder : holders)
      out += holder;
    out += "\n";
  }
  return out;
}

}  // namespace rankward::cluster
