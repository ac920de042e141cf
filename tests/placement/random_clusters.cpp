#include "random_clusters.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace rankward::placement::testing {

namespace {

constexpr const char* kUuid = "6f1c0000-0000-4000-8000-00000000000";

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  RandomCase make(int most_nodes) {
    RandomCase made;
    make_gang(made);
    const int makes = chance(70) ? 1 : 2;
    std::vector<topology::NodeTopology> machines;
    for (int i = 0; i < makes; ++i)
      machines.push_back(machine());
    const int nodes = chance(60) ? most_nodes : number(1, most_nodes);
    const int tiers = number(0, 3);
    const bool cliques = chance(20);
    for (int i = 0; i < nodes; ++i) {
      makes_.push_back(index(machines.size()));
      add_node(made, i, machines[makes_.back()], tiers, cliques);
    }
    if (chance(15)) reserve(made);
    if (chance(30)) fix(made);
    return made;
  }

 private:
  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(number(0, static_cast<int>(size) - 1));
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + index(values.size()));
  }

  void make_gang(RandomCase& made) {
    gpus_ = one_of({1, 1, 1, 2, 2, 4});
    rdma_ = chance(75);
    made.ranks = number(1, gpus_ == 1 ? 8 : gpus_ == 2 ? 5 : 3);
    kube::StringMap annotations{
        {"rankward.io/message-size", one_of<const char*>({"1Ki", "1Mi", "64Mi", "1Gi", "1Gi"})}};
    if (chance(15)) {
      annotations.emplace("rankward.io/topology-required",
                          one_of<const char*>({"leaf", "spine", "clique", "zone"}));
    }
    if (chance(15)) {
      annotations.emplace("rankward.io/topology-preferred",
                          one_of<const char*>({"leaf", "spine", "clique", "zone"}));
    }
    if (chance(5)) made.required = "zone";
    made.pod = gang_pod(gpus_, std::move(annotations), rdma_);
    if (chance(15)) {
      auto& resources = made.pod.spec.containers.front().resources;
      resources.limits.insert_or_assign("cpu", kube::Quantity(number(10, 40)));
      resources.requests = resources.limits;
    }
    made.options.unknown_topology = one_of({UnknownTopology::kPenalise, UnknownTopology::kPenalise,
                                            UnknownTopology::kAllow, UnknownTopology::kReject});
    made.options.phi = one_of<std::vector<double>>(
        {{1.0, 0.9, 0.83}, {1.0, 0.9, 0.83}, {1.0, 1.0, 1.0}, {1.0, 0.5, 0.2}, {1.0, 0.99, 0.98}});
  }

  // Links between the GPUs of one machine, by what joins them.
  std::string gpu_cells(int shape, int gpus, int gpu) {
    std::string row;
    for (int other = 0; other < gpus; ++other) {
      const bool same_half = (gpu < gpus / 2) == (other < gpus / 2);
      const bool neighbour = (gpu + 1) % gpus == other || (other + 1) % gpus == gpu;
      if (other == gpu) {
        row += "X ";
      } else if (shape == 0) {
        row += "NV18 ";
      } else if (shape == 1) {
        row += gpu / 2 == other / 2 ? "NV12 " : same_half ? "NODE " : "SYS ";
      } else if (shape == 2) {
        row += same_half ? "PIX " : "SYS ";
      } else if (shape == 3) {
        row += neighbour ? "NV4 " : "SYS ";
      } else {
        row += "PHB ";
      }
    }
    return row;
  }

  topology::NodeTopology machine() {
    if (chance(6)) return {};
    const int gpus = one_of({2, 4, 4, 4, 6});
    const int nics = number(0, gpus);
    const int shape = number(0, 4);
    std::vector<std::string> rows;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      std::string row = gpu_cells(shape, gpus, gpu);
      for (int nic = 0; nic < nics; ++nic) {
        if (nics == gpus && chance(80)) {
          row += gpu == nic ? "PIX " : "NODE ";
        } else if (gpu / 2 == nic) {
          row += one_of<const char*>({"PIX ", "PXB ", "PHB "});
        } else {
          row += one_of<const char*>({"NODE ", "SYS ", "SYS ", "PXB "});
        }
      }
      rows.push_back(row);
    }
    topology::NodeTopology made = topology::testing::machine(rows, static_cast<std::size_t>(nics));
    topology::testing::set_nics(made, one_of({12.5, 25.0, 50.0}));
    if (nics > 0 && chance(20)) made.nics.front().rate = topology::GigabytesPerSecond{100};
    if (nics > 0 && chance(10)) made.nics.back().state = topology::PortState::kDown;
    made.product = one_of<const char*>(
        {"NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-PCIE-40GB", "NVIDIA-GB200", "NVIDIA-L40S", ""});
    if (chance(20)) made.gpu_direct = chance(50);
    made.topology_manager =
        one_of({topology::TopologyManagerPolicy::kUnknown, topology::TopologyManagerPolicy::kNone,
                topology::TopologyManagerPolicy::kSingleNumaNode,
                topology::TopologyManagerPolicy::kRestricted});
    made.topology_manager_pod_scope = chance(50);
    for (topology::Gpu& gpu : made.gpus) {
      gpu.health = topology::Health::kHealthy;
      gpu.numa_node = gpu.index < static_cast<std::uint32_t>(gpus) / 2 ? 0 : 1;
    }
    return made;
  }

  void add_node(RandomCase& made, int number_of_node, topology::NodeTopology machine, int tiers,
                bool cliques) {
    const std::string name = "n" + std::to_string(number_of_node);
    kube::StringMap labels;
    constexpr const char* kLevels[] = {"leaf", "spine", "core"};
    if (chance(90)) {
      for (int tier = 0; tier < tiers; ++tier) {
        labels.emplace(std::string("network.topology.nvidia.com/") + kLevels[tier],
                       std::string(kLevels[tier]) + std::to_string(number(0, tier == 0 ? 2 : 1)));
      }
    }
    if (cliques && chance(80)) {
      labels.emplace("nvidia.com/gpu.clique", kUuid + std::to_string(number(0, 1)) + ".1");
    }
    if (chance(80)) labels.emplace("zone", "z" + std::to_string(number(0, 1)));
    const int gpus = machine.gpus.empty() ? number(1, 4) : static_cast<int>(machine.gpus.size());
    if (!machine.gpus.empty() && chance(5)) {
      machine.gpus.front().health = topology::Health::kUnhealthy;
    }
    Counts devices{{"nvidia.com/gpu", gpus}};
    if (chance(95)) devices.emplace("rdma/ib", number(2, 10));
    kube::Node made_node = node(name, devices, std::move(labels));
    if (chance(10)) made_node.allocatable.insert_or_assign("pods", kube::Quantity(number(1, 4)));
    occupy(made, name, machine, gpus);
    made.nodes.emplace_back(std::move(made_node), std::move(machine));
  }

  // One pod has some of the GPUs; often it says which.
  void occupy(RandomCase& made, const std::string& name, const topology::NodeTopology& machine,
              int gpus) {
    free_[name].clear();
    for (int gpu = 0; gpu < gpus; ++gpu)
      free_[name].push_back(gpu);
    if (chance(40)) return;
    const int taken = number(0, gpus);
    if (taken == 0) return;
    kube::StringMap annotations;
    std::vector<int>& free = free_[name];
    std::shuffle(free.begin(), free.end(), random_);
    std::string indexes;
    for (int i = 0; i < taken; ++i) {
      indexes += (i == 0 ? "" : ",") + std::to_string(free.back());
      free.pop_back();
    }
    if (!machine.gpus.empty() && chance(85)) {
      annotations.emplace("rankward.io/assigned-gpus", indexes);
    }
    made.bound.push_back(
        running_on(name, pod("on-" + name, {{"nvidia.com/gpu", taken}}, std::move(annotations))));
  }

  void reserve(RandomCase& made) {
    kube::Pod other =
        pod("other-0", {{"nvidia.com/gpu", number(1, 2)}}, {{"rankward.io/gang", "other"}});
    auto reservation = std::make_shared<Reservation>();
    ReservedPart part;
    part.request = std::make_shared<const Request>(make_request(other, {}).value());
    const int slots = number(1, 2);
    for (int i = 0; i < slots; ++i) {
      Slot slot;
      slot.node = made.nodes[index(made.nodes.size())].first.metadata.name;
      part.slots.push_back(std::move(slot));
    }
    reservation->gang_key = part.request->gang->key;
    reservation->parts.push_back(std::move(part));
    made.reserved = made.reserved.with(std::move(reservation));
  }

  // Ranks that stand already, on nodes of one make; with a required domain on one node only.
  void fix(RandomCase& made) {
    const bool one_node = !made.required.empty() ||
                          made.pod.metadata.annotations.contains("rankward.io/topology-required");
    const std::size_t make = makes_[index(makes_.size())];
    int left = number(1, 3);
    for (std::size_t i = 0; i < made.nodes.size(); ++i) {
      const auto& [node, machine] = made.nodes[i];
      const std::string& name = node.metadata.name;
      std::vector<int>& free = free_[name];
      if (makes_[i] != make || !node.allocatable.contains("rdma/ib")) continue;
      bool some = false;
      while (left > 0 && static_cast<int>(free.size()) >= gpus_ && chance(70)) {
        --left;
        some = true;
        made.fixed.push_back(name);
        if (chance(25)) continue;  // planned there, not bound yet
        stand(made, name, machine);
      }
      if (some && one_node) return;
    }
  }

  void stand(RandomCase& made, const std::string& name, const topology::NodeTopology& machine) {
    kube::Pod rank = made.pod;
    rank.metadata.name = "fixed-" + std::to_string(made.fixed.size());
    rank.metadata.uid = "uid-" + rank.metadata.name;
    std::string indexes;
    for (int i = 0; i < gpus_; ++i) {
      indexes += (i == 0 ? "" : ",") + std::to_string(free_[name].back());
      free_[name].pop_back();
    }
    if (!machine.gpus.empty() && chance(80)) {
      rank.metadata.annotations.insert_or_assign("rankward.io/assigned-gpus", indexes);
    }
    made.bound.push_back(running_on(name, std::move(rank)));
  }

  std::mt19937_64 random_;
  int gpus_ = 1;
  bool rdma_ = true;
  std::vector<std::size_t> makes_;                // which machine each node is
  std::map<std::string, std::vector<int>> free_;  // GPUs that nobody has, by node
};

}  // namespace

std::shared_ptr<const Snapshot> RandomCase::snapshot() const {
  SnapshotBuilder builder;
  for (const auto& [node, machine] : nodes)
    builder.put_node(node, topology::merge(machine, topology::from_labels(node, {})));
  for (const kube::Pod& each : bound)
    builder.put_pod(each);
  return builder.build();
}

RandomCase random_case(std::uint64_t seed, int nodes) {
  return Maker(seed).make(nodes);
}

}  // namespace rankward::placement::testing
