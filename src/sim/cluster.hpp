// The state of a simulated cluster: what is free on every host, kept small so that the packers run
// over thousands of hosts in no time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/sim/models.hpp"

namespace rankward::sim {

// The position of a host in the cluster, and of its node in every Snapshot of it.
using HostIndex = std::uint32_t;

struct Host {
  std::string name;
  std::string product;
  bool rdma = false;  // advertises the RDMA device
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;  // bytes
  std::uint64_t free_mask = 0;
  std::int64_t free_gpus = 0;
  std::int64_t free_cpu_milli = 0;
  std::int64_t free_memory = 0;
  std::int64_t free_pods = 0;
};

// So many pods of one job on a host.
struct HostShare {
  HostIndex host = 0;
  std::int32_t pods = 0;
};

// A pod that has a place.
struct PlacedPod {
  HostIndex host = 0;
  std::uint64_t gpus = 0;  // bits over the node's GPUs
  std::string uid;
};

// A job with what the placement room wants to know of it, worked out once.
struct JobInfo {
  const Job* job = nullptr;
  kube::Pod pod;  // of rank 0
  placement::Request request;
};
// The job outlives what comes back.
[[nodiscard]] JobInfo describe(const Job& job);

class Cluster {
 public:
  // `keeps_snapshot`: for policies that ask for snapshot(); the others need not pay for it.
  Cluster(const std::vector<SimulatedNode>& nodes, bool keeps_snapshot);

  [[nodiscard]] const std::vector<Host>& hosts() const { return hosts_; }
  // Without any pod.
  [[nodiscard]] const placement::Snapshot& empty() const { return *empty_; }
  // With every pod bound so far.
  [[nodiscard]] std::shared_ptr<const placement::Snapshot> snapshot();
  [[nodiscard]] std::int64_t gpus() const { return gpus_; }
  [[nodiscard]] std::int64_t free_gpus() const { return free_gpus_; }

  // What the scheduler's own filters say: resources, and the products that the pod accepts.
  [[nodiscard]] bool takes(HostIndex host, const Job& job) const { return slots(host, job) > 0; }
  // How many pods of the job the host has room for.
  [[nodiscard]] std::int32_t slots(HostIndex host, const Job& job) const;

  // Puts rank `rank` on the host, on the GPUs that the device plugin gives it there.
  PlacedPod bind(const JobInfo& job, std::int32_t rank, HostIndex host);
  void release(const Job& job, const PlacedPod& pod);

 private:
  [[nodiscard]] std::uint64_t picked(HostIndex host, std::int64_t count) const;

  std::vector<Host> hosts_;
  std::shared_ptr<const placement::Snapshot> empty_;
  placement::SnapshotBuilder builder_;
  bool keeps_snapshot_;
  std::int64_t gpus_ = 0;
  std::int64_t free_gpus_ = 0;
};

}  // namespace rankward::sim
