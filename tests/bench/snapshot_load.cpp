// What a cluster costs as Snapshots: memory, and the time from a change to its Snapshot, at 200
// events a second.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rankward/placement/snapshot.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::placement {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGangSize = 64;
// One event in 5 ms, and a Snapshot every 20.
constexpr int kEventsPerPublish = 4;

double resident_mib() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * 4096 / (1 << 20);
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string uid_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  std::string uid = "00000000-0000-4000-8000-000000000000";
  std::copy(digits.rbegin(), digits.rend(), uid.rbegin());
  return uid;
}

kube::Node node(int number) {
  kube::Node node;
  node.metadata.name = "gpu-node-" + std::to_string(number);
  node.metadata.uid = uid_of(static_cast<std::uint64_t>(number));
  node.ready = kube::Readiness::kReady;
  for (int i = 0; i < 40; ++i) {
    node.metadata.labels["feature.node.kubernetes.io/property-" + std::to_string(i)] = "true";
  }
  node.metadata.labels["topology.kubernetes.io/zone"] = "zone-" + std::to_string(number / 5000);
  for (const auto& [name, amount] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"cpu", 128}, {"memory", std::int64_t{1} << 40}, {"pods", 110}, {"nvidia.com/gpu", 8}}) {
    node.allocatable.insert_or_assign(name, kube::Quantity(amount));
  }
  node.capacity = node.allocatable;
  return node;
}

// One in ten is of a gang and has a GPU; the others are what else runs on nodes.
kube::Pod pod(int number, int on) {
  kube::Pod pod;
  pod.metadata.name = "workload-7d9c5b6f4-" + std::to_string(number);
  pod.metadata.namespace_ = "team-" + std::to_string(number % 50);
  pod.metadata.uid = uid_of(1'000'000 + static_cast<std::uint64_t>(number));
  const bool rank = number % 10 == 0;
  if (rank) {
    const int gang = number / 10 / kGangSize;
    pod.metadata.namespace_ = "team-" + std::to_string(gang % 50);
    pod.metadata.labels = {
        {"batch.kubernetes.io/job-name", "train-" + std::to_string(gang)},
        {"batch.kubernetes.io/controller-uid",
         uid_of(5'000'000 + static_cast<std::uint64_t>(gang))},
        {"batch.kubernetes.io/job-completion-index", std::to_string(number / 10 % kGangSize)}};
  }
  kube::Container container;
  container.name = "main";
  container.image = "registry.example.com/team/image:1.2.3";
  for (int i = 0; i < 10; ++i)
    container.env.push_back({"VARIABLE_" + std::to_string(i), "some value of some length", ""});
  container.resources.requests = {{"cpu", kube::Quantity(1)}, {"memory", kube::Quantity(1 << 30)}};
  if (rank) container.resources.requests.insert_or_assign("nvidia.com/gpu", kube::Quantity(1));
  container.resources.limits = container.resources.requests;
  pod.spec.containers.push_back(std::move(container));
  if (on >= 0) pod.spec.node_name = "gpu-node-" + std::to_string(on);
  pod.status.phase = on < 0 ? "Pending" : "Running";
  return pod;
}

void print(const char* what, double mib, double ms) {
  std::cout << what << ": " << mib << " MiB resident, " << ms << " ms\n";
}

int run(int nodes, int pods, int publishes) {
  std::mt19937 random(1);
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  const double empty = resident_mib();
  auto start = Clock::now();
  SnapshotBuilder builder;
  for (int i = 0; i < nodes; ++i) {
    kube::Node made = node(i);
    auto topology = topology::from_labels(made, {});
    builder.put_node(std::move(made), std::move(topology));
  }
  auto snapshot = builder.build();
  print("nodes", resident_mib() - empty, milliseconds_since(start));
  start = Clock::now();
  // The last tenth of the ranks waits.
  for (int i = 0; i < pods; ++i) {
    const bool waits = i % 10 == 0 && i >= pods - pods / 10;
    builder.put_pod(pod(i, waits ? -1 : below(nodes)));
  }
  snapshot = builder.build();
  print("nodes and pods", resident_mib() - empty, milliseconds_since(start));

  std::deque<std::shared_ptr<const Snapshot>> read;  // what calls in flight still look at
  std::vector<double> times;
  for (int i = 0; i < publishes; ++i) {
    std::vector<kube::Pod> changes;
    for (int j = 0; j < kEventsPerPublish; ++j)
      changes.push_back(pod(below(pods), below(nodes)));
    start = Clock::now();
    for (const kube::Pod& each : changes)
      builder.put_pod(each);
    read.push_back(builder.build());
    if (read.size() > 4) read.pop_front();
    times.push_back(milliseconds_since(start));
  }
  std::sort(times.begin(), times.end());
  std::cout << "after " << publishes * kEventsPerPublish << " events: " << resident_mib() - empty
            << " MiB resident\n";
  std::cout << "publish of " << kEventsPerPublish << " events: p50 " << times[times.size() / 2]
            << " ms, p99 " << times[times.size() * 99 / 100] << " ms, max " << times.back()
            << " ms\n";
  times.clear();
  for (int i = 0; i < 9; ++i) {
    start = Clock::now();
    builder.put_node(node(nodes + i), {});
    snapshot = builder.build();
    times.push_back(milliseconds_since(start));
  }
  std::sort(times.begin(), times.end());
  std::cout << "publish of a new node: p50 " << times[4] << " ms, max " << times[8] << " ms\n";
  return snapshot->size() == static_cast<std::size_t>(nodes) + 9 ? 0 : 1;
}

}  // namespace
}  // namespace rankward::placement

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 15'000;
  const int pods = argc > 2 ? std::atoi(argv[2]) : 150'000;
  const int publishes = argc > 3 ? std::atoi(argv[3]) : 2'000;
  if (nodes < 1 || pods < 10 || publishes < 1) {
    std::cerr << "usage: snapshot_load [NODES [PODS [PUBLISHES]]]\n";
    return 2;
  }
  return rankward::placement::run(nodes, pods, publishes);
}
