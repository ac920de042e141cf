#include "rankward/sim/embedded_cluster.hpp"

#include <fmt/format.h>

#include <utility>

#include "rankward/formats/topology_annotation.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::sim {
namespace {

using kube::Quantity;
using topology::Nic;
using topology::NodeTopology;
using topology::PathType;

constexpr std::uint32_t kGpus = 8;
constexpr std::uint32_t kGpusPerSocket = 4;
constexpr std::int64_t kH100MiB = 81'559;  // nvidia.com/gpu.memory of an H100-80GB-HBM3

kube::Node bare_node(std::string_view name, std::string_view leaf, std::string_view spine) {
  kube::Node node;
  node.metadata.name = name;
  node.metadata.labels = {{"kubernetes.io/hostname", std::string(name)},
                          {"kubernetes.io/os", "linux"},
                          {"fabric.topograph.run/tier-0", std::string(leaf)},
                          {"fabric.topograph.run/tier-1", std::string(spine)},
                          {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                          {"nvidia.com/gpu.memory", std::to_string(kH100MiB)},
                          {"nvidia.com/gpu.count", std::to_string(kGpus)},
                          {"nvidia.com/gpu.replicas", "1"},
                          {"nvidia.com/gpu.sharing-strategy", "none"}};
  node.allocatable = {
      {"cpu", Quantity(192)}, {"memory", Quantity(std::int64_t{2} << 40)}, {"pods", Quantity(110)}};
  node.capacity = node.allocatable;
  node.ready = kube::Readiness::kReady;
  return node;
}

void advertise(kube::Node& node, std::string_view resource, std::int64_t count) {
  node.allocatable[std::string(resource)] = Quantity(count);
  node.capacity[std::string(resource)] = Quantity(count);
}

NodeTopology eight_gpus_on_nvswitch() {
  NodeTopology topology;
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    topology::Gpu gpu;
    gpu.index = i;
    gpu.numa_node = i / kGpusPerSocket;
    gpu.memory = topology::Bytes{kH100MiB * topology::kMebibyte};
    gpu.model = "NVIDIA H100 80GB HBM3";
    gpu.health = topology::Health::kHealthy;
    topology.gpus.push_back(std::move(gpu));
  }
  for (std::uint32_t a = 0; a < kGpus; ++a) {
    for (std::uint32_t b = 0; b < kGpus; ++b) {
      topology.gpu_paths.push_back(a == b ? PathType::kSelf : PathType::kNvLink);
      topology.nvlinks.push_back(a == b ? 0 : 18);
    }
  }
  topology.gpu_direct = true;
  return topology;
}

Nic infiniband_nic(std::uint32_t number, std::uint32_t numa_node) {
  Nic nic;
  nic.device = "mlx5_" + std::to_string(number);
  nic.numa_node = numa_node;
  nic.rate = topology::GigabytesPerSecond{50};
  nic.link_layer = topology::LinkLayer::kInfiniBand;
  nic.state = topology::PortState::kActive;
  nic.resource = "rdma/ib";
  return nic;
}

void report(kube::Node& node, const NodeTopology& topology) {
  // Eight GPUs and NICs are far below the annotation's limit.
  node.metadata.annotations[std::string(formats::kTopologyAnnotation)] =
      formats::print_topology(topology).value();
}

kube::Node nics_on_the_other_socket(std::string_view name, std::string_view leaf,
                                    std::string_view spine) {
  kube::Node node = bare_node(name, leaf, spine);
  advertise(node, "nvidia.com/gpu", kGpus);
  advertise(node, "rdma/ib", 1000);
  NodeTopology topology = eight_gpus_on_nvswitch();
  for (topology::Gpu& gpu : topology.gpus)
    gpu.numa_node = 0;
  for (std::uint32_t i = 0; i < 2; ++i)
    topology.nics.push_back(infiniband_nic(i, 1));
  topology.nic_paths.assign(std::size_t{kGpus} * 2, PathType::kSys);
  report(node, topology);
  return node;
}

kube::Node without_rdma(std::string_view name, std::string_view leaf, std::string_view spine) {
  kube::Node node = bare_node(name, leaf, spine);
  advertise(node, "nvidia.com/gpu", kGpus);
  report(node, eight_gpus_on_nvswitch());
  return node;
}

kube::Node in_mig_mode(std::string_view name, std::string_view leaf, std::string_view spine) {
  kube::Node node = bare_node(name, leaf, spine);
  advertise(node, "nvidia.com/gpu", 0);
  advertise(node, "nvidia.com/mig-1g.10gb", 56);
  advertise(node, "rdma/ib", 1000);
  kube::StringMap& labels = node.metadata.labels;
  labels["nvidia.com/gpu.replicas"] = "0";
  labels["nvidia.com/mig.capable"] = "true";
  labels["nvidia.com/mig.strategy"] = "mixed";
  labels["nvidia.com/mig.config"] = "all-1g.10gb";
  labels["nvidia.com/mig.config.state"] = "success";
  labels["nvidia.com/mig-1g.10gb.count"] = "56";
  labels["nvidia.com/mig-1g.10gb.memory"] = "9984";
  return node;
}

kube::Node advertising_nothing(std::string_view name, std::string_view leaf,
                               std::string_view spine) {
  kube::Node node = bare_node(name, leaf, spine);
  advertise(node, "rdma/ib", 1000);
  return node;
}

}  // namespace

kube::Node dgx_h100(std::string_view name, std::string_view leaf, std::string_view spine) {
  kube::Node node = bare_node(name, leaf, spine);
  advertise(node, "nvidia.com/gpu", kGpus);
  advertise(node, "rdma/ib",
            1000);  // a shared resource: the number is a limit, not a count of NICs
  NodeTopology topology = eight_gpus_on_nvswitch();
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    topology.nics.push_back(infiniband_nic(i, i / kGpusPerSocket));
  }
  for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    for (std::uint32_t nic = 0; nic < kGpus; ++nic) {
      const bool same_socket = gpu / kGpusPerSocket == nic / kGpusPerSocket;
      topology.nic_paths.push_back(gpu == nic    ? PathType::kPix
                                   : same_socket ? PathType::kNode
                                                 : PathType::kSys);
    }
  }
  report(node, topology);
  return node;
}

std::vector<kube::Node> embedded_cluster() {
  constexpr std::string_view kSpine = "spine-1";
  std::vector<kube::Node> nodes;
  for (const std::string_view name : {"a-0", "a-1", "a-2"}) {
    nodes.push_back(dgx_h100(name, "leaf-a", kSpine));
  }
  nodes.push_back(nics_on_the_other_socket("a-far-nics", "leaf-a", kSpine));
  nodes.push_back(without_rdma("a-no-rdma", "leaf-a", kSpine));
  nodes.push_back(in_mig_mode("a-mig", "leaf-a", kSpine));
  nodes.push_back(advertising_nothing("a-silent", "leaf-a", kSpine));
  for (const std::string_view name : {"b-0", "b-1", "b-2", "b-3"}) {
    nodes.push_back(dgx_h100(name, "leaf-b", kSpine));
  }
  return nodes;
}

std::string training_job(std::string_view name, int ranks) {
  std::string manifest;
  for (int rank = 0; rank < ranks; ++rank) {
    manifest += fmt::format(R"(apiVersion: v1
kind: Pod
metadata:
  name: {0}-{1}
  namespace: team-a
  uid: 00000000-0000-4000-8000-{1:012}
  annotations:
    rankward.io/gang: {0}
    rankward.io/gang-size: "{2}"
    rankward.io/rank: "{1}"
    rankward.io/transport: rdma-required
spec:
  containers:
  - name: train
    image: registry.example.com/train:1
    resources:
      requests: {{cpu: "32", nvidia.com/gpu: "{3}", rdma/ib: "1"}}
      limits: {{nvidia.com/gpu: "{3}", rdma/ib: "1"}}
---
)",
                            name, rank, ranks, kGpus);
  }
  return manifest;
}

}  // namespace rankward::sim
