// Clusters of a few lines for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../topology/machines.hpp"
#include "rankward/placement/ranking.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::placement::testing {

using Counts = std::map<std::string, std::int64_t>;

inline kube::Quantity quantity(std::string_view text) {
  return kube::Quantity::parse(text).value();
}

// Ready, with 64 CPUs, 512 GiB and 110 pods beside what is given.
inline kube::Node node(std::string name, const Counts& devices, kube::StringMap labels = {}) {
  kube::Node node;
  node.metadata.name = std::move(name);
  node.metadata.labels = std::move(labels);
  node.ready = kube::Readiness::kReady;
  node.allocatable = {
      {"cpu", kube::Quantity(64)}, {"memory", quantity("512Gi")}, {"pods", kube::Quantity(110)}};
  for (const auto& [resource, count] : devices)
    node.allocatable.insert_or_assign(resource, kube::Quantity(count));
  node.capacity = node.allocatable;
  return node;
}

inline kube::Node with_capacity(kube::Node node, const Counts& capacity) {
  for (const auto& [resource, count] : capacity)
    node.capacity.insert_or_assign(resource, kube::Quantity(count));
  return node;
}

// One container with these limits, as the API server stores them.
inline kube::Pod pod(std::string name, const Counts& limits, kube::StringMap annotations = {}) {
  kube::Pod pod;
  pod.metadata.name = std::move(name);
  pod.metadata.namespace_ = "team-a";
  pod.metadata.uid = "uid-" + pod.metadata.name;
  pod.metadata.annotations = std::move(annotations);
  kube::Container container;
  container.name = "train";
  for (const auto& [resource, count] : limits)
    container.resources.limits.insert_or_assign(resource, kube::Quantity(count));
  container.resources.requests = container.resources.limits;
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

inline kube::Pod running_on(std::string node, kube::Pod pod) {
  pod.spec.node_name = std::move(node);
  pod.status.phase = "Running";
  return pod;
}

inline kube::StringMap leaf(std::string name, std::string spine = "spine-1") {
  return {{"fabric.topograph.run/tier-0", std::move(name)},
          {"fabric.topograph.run/tier-1", std::move(spine)}};
}

// HGX H100 with one 400 Gb/s InfiniBand port a GPU.
inline topology::NodeTopology hgx() {
  topology::NodeTopology machine = topology::testing::hgx_h100();
  topology::testing::set_nics(machine, 50);
  for (topology::Gpu& gpu : machine.gpus) {
    gpu.numa_node = gpu.index / 4;
    gpu.health = topology::Health::kHealthy;
  }
  return machine;
}

class Cluster {
 public:
  Cluster& add(kube::Node node, topology::NodeTopology report = {}) {
    auto labels = topology::from_labels(node, {});
    builder_.put_node(std::move(node), topology::merge(std::move(report), labels));
    return *this;
  }
  // Two leaves of four HGX H100 each: a0 to a3 and b0 to b3.
  Cluster& add_two_leaves() {
    for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
      add(node(name, {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}},
               leaf(name[0] == 'a' ? "leaf-a" : "leaf-b")),
          hgx());
    }
    return *this;
  }
  Cluster& add(const kube::Pod& pod) {
    builder_.put_pod(pod);
    return *this;
  }

  Cluster& remove(std::string_view pod_uid) {
    builder_.remove_pod(pod_uid);
    return *this;
  }
  Cluster& remove_node(std::string_view name) {
    builder_.remove_node(name);
    return *this;
  }
  Cluster& add_facts(const std::string& owner, std::vector<GangFacts> facts) {
    builder_.put_gang_facts(owner, std::move(facts));
    return *this;
  }

  Cluster& hear_owners_of(std::vector<std::string> gang_kinds) {
    builder_.set_owner_kinds(std::move(gang_kinds));
    return *this;
  }

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() { return builder_.build(); }

  Verdict judge(const kube::Pod& pod, std::string_view name, Use use = Use::kExplain,
                const Options& options = {}) {
    const auto snapshot = builder_.build();
    const auto index = snapshot->find(name);
    if (!index) throw std::invalid_argument("no such node");
    return placement::judge(make_request(pod, {}).value(), pod.spec, snapshot->node(*index),
                            options, use);
  }

  // "" where the node takes the pod.
  std::string code(const kube::Pod& pod, std::string_view name, Use use = Use::kExplain,
                   const Options& options = {}) {
    const Verdict verdict = judge(pod, name, use, options);
    return verdict.fits() ? "" : std::string(reason(*verdict.reason).name);
  }

  // All nodes, in the order of names, unless names are given.
  struct Ranked {
    std::vector<std::string> order;
    std::map<std::string, placement::Ranked> by_name;
    std::map<std::string, Verdict> verdicts;  // without details for Use::kFilter
  };
  Ranked rank(const kube::Pod& pod, std::vector<std::string> names = {}, Use use = Use::kFilter,
              const Options& options = {}) {
    const auto snapshot = builder_.build();
    const bool all = names.empty();
    for (std::uint32_t i = 0; all && i < snapshot->size(); ++i)
      names.push_back(snapshot->node({i}).node->metadata.name);
    std::vector<Candidate> candidates;
    for (const std::string& name : names)
      candidates.push_back({name, snapshot->find(name)});
    const Ranking ranking = placement::rank(make_request(pod, {}).value(), pod.spec, *snapshot,
                                            candidates, options, use);
    Ranked result;
    for (std::size_t i = 0; i < names.size(); ++i)
      result.verdicts.emplace(
          names[i], use == Use::kFilter ? Verdict{ranking.reasons[i], {}} : ranking.verdicts[i]);
    for (const placement::Ranked& ranked : ranking.fits) {
      result.order.push_back(names[ranked.candidate]);
      result.by_name.emplace(names[ranked.candidate], ranked);
    }
    return result;
  }

 private:
  SnapshotBuilder builder_;
};

}  // namespace rankward::placement::testing
