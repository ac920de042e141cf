#include "cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "machines.hpp"
#include "rankward/placement/evaluate.hpp"

namespace rankward::sim {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";

kube::Pod pod_of(const Job& job) {
  kube::Pod pod;
  pod.metadata.name = job.name + "-0";
  pod.metadata.namespace_ = "simulation";
  pod.metadata.uid = pod.metadata.name;
  auto& annotations = pod.metadata.annotations;
  if (job.pods > 1) {
    annotations = {{"rankward.io/gang", job.name},
                   {"rankward.io/gang-size", std::to_string(job.pods)},
                   {"rankward.io/rank", "0"},
                   {"rankward.io/message-size", std::to_string(job.message_size.count)}};
  }
  kube::Container container;
  container.name = "main";
  auto& requests = container.resources.requests;
  if (job.gpus > 0) requests.emplace(kGpu, kube::Quantity(job.gpus));
  if (job.cpu_milli > 0) {
    requests.emplace("cpu", *kube::Quantity::parse(std::to_string(job.cpu_milli) + "m"));
  }
  if (job.memory.count > 0) requests.emplace("memory", kube::Quantity(job.memory.count));
  if (job.network == JobNetwork::kRdmaDevices) requests.emplace(kRdmaResource, kube::Quantity(1));
  container.resources.limits = requests;
  pod.spec.containers.push_back(std::move(container));
  pod.spec.host_network = job.network == JobNetwork::kHostNetwork;
  if (!job.products.empty()) {
    pod.spec.required_node_affinity = {
        kube::NodeSelectorTerm{{{"nvidia.com/gpu.product", "In", job.products}}, {}}};
  }
  return pod;
}

std::int64_t amount(const kube::Node& node, std::string_view resource) {
  const auto found = node.allocatable.find(resource);
  return found == node.allocatable.end() ? 0 : found->second.value();
}

Host host_of(const placement::NodeState& state) {
  const kube::Node& node = *state.node;
  Host host;
  host.name = node.metadata.name;
  if (const auto* product = kube::find(node.metadata.labels, "nvidia.com/gpu.product")) {
    host.product = *product;
  }
  host.rdma = std::any_of(state.devices.begin(), state.devices.end(), [](const auto& device) {
    return device.rdma && device.allocatable.value_or(0) > 0;
  });
  host.gpus = std::clamp<std::int64_t>(amount(node, kGpu), 0, 64);
  const auto cpu = node.allocatable.find("cpu");
  host.cpu_milli = cpu == node.allocatable.end() ? 0 : cpu->second.milli_value();
  host.memory = amount(node, "memory");
  host.free_mask = state.free_gpu_mask.value_or(
      host.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << host.gpus) - 1);
  host.gpus = std::min<std::int64_t>(host.gpus, std::popcount(host.free_mask));
  host.free_gpus = host.gpus;
  host.free_cpu_milli = host.cpu_milli;
  host.free_memory = host.memory;
  host.free_pods = node.allocatable.contains("pods") ? amount(node, "pods") : kPodsPerNode;
  return host;
}

// Lists the numbers of the set bits as rankward.io/assigned-gpus has them.
std::string assigned(const placement::NodeState& node, std::uint64_t mask) {
  std::string text;
  for (; mask != 0; mask &= mask - 1) {
    const auto position = static_cast<std::size_t>(std::countr_zero(mask));
    if (position >= node.topology->gpus.size()) return {};
    text += (text.empty() ? "" : ",") + std::to_string(node.topology->gpus[position].index);
  }
  return text;
}

}  // namespace

JobInfo describe(const Job& job) {
  JobInfo info;
  info.job = &job;
  info.pod = pod_of(job);
  // Annotations are our own and in their form.
  info.request = *placement::make_request(info.pod, {});
  info.request.message_size = job.message_size;
  return info;
}

Cluster::Cluster(const std::vector<SimulatedNode>& nodes, bool keeps_snapshot)
    : keeps_snapshot_(keeps_snapshot) {
  for (const SimulatedNode& node : nodes)
    builder_.put_node(node.node, node.topology);
  empty_ = builder_.build();
  hosts_.reserve(empty_->size());
  for (HostIndex i = 0; i < empty_->size(); ++i) {
    hosts_.push_back(host_of(empty_->node({i})));
    gpus_ += hosts_.back().gpus;
  }
  free_gpus_ = gpus_;
}

std::shared_ptr<const placement::Snapshot> Cluster::snapshot() {
  return builder_.build();
}

std::int32_t Cluster::slots(HostIndex index, const Job& job) const {
  const Host& host = hosts_[index];
  if (job.network == JobNetwork::kRdmaDevices && !host.rdma) return 0;
  if (!job.products.empty() &&
      std::find(job.products.begin(), job.products.end(), host.product) == job.products.end()) {
    return 0;
  }
  std::int64_t slots = host.free_pods;
  if (job.gpus > 0) slots = std::min(slots, host.free_gpus / job.gpus);
  if (job.cpu_milli > 0) slots = std::min(slots, host.free_cpu_milli / job.cpu_milli);
  if (job.memory.count > 0) slots = std::min(slots, host.free_memory / job.memory.count);
  return static_cast<std::int32_t>(std::max<std::int64_t>(0, slots));
}

std::uint64_t Cluster::picked(HostIndex index, std::int64_t count) const {
  const Host& host = hosts_[index];
  const auto wanted = static_cast<std::size_t>(count);
  if (const auto mask = placement::pick_gpus(empty_->node({index}), host.free_mask, wanted)) {
    return *mask;
  }
  // Devices that nobody reported: by number.
  std::uint64_t mask = 0;
  std::uint64_t free = host.free_mask;
  for (std::int64_t i = 0; i < count; ++i, free &= free - 1)
    mask |= free & (~free + 1);
  return mask;
}

PlacedPod Cluster::bind(const JobInfo& info, std::int32_t rank, HostIndex index) {
  Host& host = hosts_[index];
  const Job& job = *info.job;
  PlacedPod placed{index, picked(index, job.gpus), fmt::format("{}-{}", job.name, rank)};
  host.free_mask &= ~placed.gpus;
  host.free_gpus -= job.gpus;
  host.free_cpu_milli -= job.cpu_milli;
  host.free_memory -= job.memory.count;
  --host.free_pods;
  free_gpus_ -= job.gpus;
  if (keeps_snapshot_) {
    kube::Pod pod = info.pod;
    pod.metadata.name = placed.uid;
    pod.metadata.uid = placed.uid;
    pod.spec.node_name = host.name;
    if (job.pods > 1) pod.metadata.annotations["rankward.io/rank"] = std::to_string(rank);
    const std::string devices = assigned(empty_->node({index}), placed.gpus);
    if (!devices.empty()) pod.metadata.annotations["rankward.io/assigned-gpus"] = devices;
    builder_.put_pod(pod);
  }
  return placed;
}

void Cluster::release(const Job& job, const PlacedPod& placed) {
  Host& host = hosts_[placed.host];
  host.free_mask |= placed.gpus;
  host.free_gpus += job.gpus;
  host.free_cpu_milli += job.cpu_milli;
  host.free_memory += job.memory.count;
  ++host.free_pods;
  free_gpus_ += job.gpus;
  if (keeps_snapshot_) builder_.remove_pod(placed.uid);
}

}  // namespace rankward::sim
