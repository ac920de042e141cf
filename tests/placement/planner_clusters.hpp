// Small clusters for tests of the planner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clusters.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::placement::testing {

// GPUs on one NVSwitch, each with one port of 50 GB/s behind its own PCIe switch.
inline topology::NodeTopology rail_machine(std::uint32_t gpus, double rate = 50) {
  std::vector<std::string> rows;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    std::string row;
    for (std::uint32_t j = 0; j < gpus; ++j)
      row += i == j ? "X " : "NV18 ";
    for (std::uint32_t j = 0; j < gpus; ++j)
      row += i == j ? "PIX " : "SYS ";
    rows.push_back(row);
  }
  topology::NodeTopology machine = topology::testing::machine(rows, gpus);
  topology::testing::set_nics(machine, rate);
  machine.product = "NVIDIA-H100-80GB-HBM3";
  for (topology::Gpu& gpu : machine.gpus)
    gpu.health = topology::Health::kHealthy;
  return machine;
}

// Two bridged pairs of PCIe cards, one port beside each card.
inline topology::NodeTopology bridged_machine(double rate) {
  topology::NodeTopology machine = topology::testing::machine(
      {
          "X NV12 SYS SYS PIX PIX SYS SYS",
          "NV12 X SYS SYS PIX PIX SYS SYS",
          "SYS SYS X NV12 SYS SYS PIX PIX",
          "SYS SYS NV12 X SYS SYS PIX PIX",
      },
      4);
  machine.product = "NVIDIA-A100-PCIE-40GB";
  topology::testing::set_nics(machine, rate);
  for (topology::Gpu& gpu : machine.gpus)
    gpu.health = topology::Health::kHealthy;
  return machine;
}

inline kube::Pod gang_pod(std::int64_t gpus, kube::StringMap annotations = {}, bool rdma = true) {
  annotations.emplace("rankward.io/gang", "g");
  Counts limits{{"nvidia.com/gpu", gpus}};
  if (rdma) limits.emplace("rdma/ib", 1);
  return pod("g-0", limits, std::move(annotations));
}

class Planning {
 public:
  Planning& add(kube::Node node, topology::NodeTopology report = {}) {
    auto labels = topology::from_labels(node, {});
    builder_.put_node(std::move(node), topology::merge(std::move(report), labels));
    return *this;
  }
  // So many of the machine's GPUs are free; one pod has the rest, from the last one down.
  Planning& add(kube::Node node, topology::NodeTopology report, std::int64_t free) {
    const auto all = static_cast<std::int64_t>(report.gpus.size());
    const std::string name = node.metadata.name;
    node.allocatable.insert_or_assign("nvidia.com/gpu", kube::Quantity(all));
    node.capacity.insert_or_assign("nvidia.com/gpu", kube::Quantity(all));
    add(std::move(node), std::move(report));
    if (free >= all) return *this;
    std::string indexes;
    for (std::int64_t i = free; i < all; ++i)
      indexes += (indexes.empty() ? "" : ",") + std::to_string(i);
    builder_.put_pod(running_on(name, pod("on-" + name, {{"nvidia.com/gpu", all - free}},
                                          {{"rankward.io/assigned-gpus", indexes}})));
    return *this;
  }
  Planning& add(const kube::Pod& pod) {
    builder_.put_pod(pod);
    return *this;
  }

  PlanResult plan(const kube::Pod& pod, std::int32_t pods, const Options& options = {},
                  const std::vector<std::string>& fixed = {}, const Reservations& reserved = {},
                  std::string_view required = {}, Use use = Use::kExplain,
                  std::optional<std::vector<std::string>> among = {}) {
    snapshot_ = builder_.build();
    const Request request = make_request(pod, {}).value();
    const auto indexes = [this](const std::vector<std::string>& names) {
      std::vector<NodeIndex> result;
      for (const std::string& name : names)
        result.push_back(snapshot_->find(name).value());
      return result;
    };
    const std::vector<NodeIndex> fixed_indexes = indexes(fixed);
    std::vector<NodeIndex> among_indexes;
    PlanQuestion question;
    question.request = &request;
    question.spec = &pod.spec;
    question.pods = pods;
    question.fixed = fixed_indexes;
    question.use = use;
    question.required_topology = required;
    if (among) {
      among_indexes = indexes(*among);
      std::sort(among_indexes.begin(), among_indexes.end());
      question.among = among_indexes;
    }
    return make_plan(question, *snapshot_, HeldPlaces(reserved, *snapshot_), options);
  }

  // Pods by node, in the order of names.
  [[nodiscard]] std::map<std::string, int> shares(const PlanResult& result) const {
    std::map<std::string, int> shares;
    for (const NodeIndex index : result.plan->slots)
      ++shares[snapshot_->node(index).node->metadata.name];
    return shares;
  }
  // Node of each slot.
  [[nodiscard]] std::vector<std::string> slots(const PlanResult& result) const {
    std::vector<std::string> names;
    for (const NodeIndex index : result.plan->slots)
      names.push_back(snapshot_->node(index).node->metadata.name);
    return names;
  }
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }

 private:
  SnapshotBuilder builder_;
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace rankward::placement::testing
