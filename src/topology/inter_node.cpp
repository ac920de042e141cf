#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "constants.hpp"
#include "gpu_set.hpp"
#include "products.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

bool layer_fits(LinkLayer layer, Transport transport) {
  if (layer == LinkLayer::kUnknown) return true;
  switch (transport) {
    case Transport::kInfiniBand:
      return layer == LinkLayer::kInfiniBand;
    case Transport::kEfa:
      return layer == LinkLayer::kEfa;
    case Transport::kRoce:
    case Transport::kTcpx:
    case Transport::kSocket:
    case Transport::kUnknown:
      break;
  }
  return layer == LinkLayer::kEthernet;
}

std::vector<std::size_t> usable_nics(const NodeTopology& node, Transport transport) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const Nic& nic = node.nics[i];
    if (nic.state != PortState::kDown && layer_fits(nic.link_layer, transport)) usable.push_back(i);
  }
  return usable;
}

// The machine as one transport sees it.
class Paths {
 public:
  explicit Paths(const NodeTopology& node) : node_(node), model_(gpu_model(node)) {}

  // NUMA nodes stand in where no matrix says the path. On Grace they overrule SYS, which
  // `nvidia-smi topo -m` prints there for every GPU and NIC (dranet, GB200 on OCI).
  [[nodiscard]] PathType between(std::uint32_t gpu, std::size_t nic) const {
    PathType path = PathType::kUnknown;
    if (gpu < node_.gpus.size() &&
        node_.nic_paths.size() == node_.gpus.size() * node_.nics.size()) {
      path = node_.nic_path(gpu, nic);
    }
    const bool grace = model_ != nullptr && model_->on_grace;
    if (path != PathType::kUnknown && !(grace && path == PathType::kSys)) return path;
    if (gpu >= node_.gpus.size() || !node_.gpus[gpu].numa_node || !node_.nics[nic].numa_node) {
      return path;
    }
    if (node_.gpus[gpu].numa_node != node_.nics[nic].numa_node) return PathType::kSys;
    return grace ? PathType::kC2C : PathType::kNode;
  }

  // Asked of the whole node, so that the answer does not change with the GPUs chosen.
  [[nodiscard]] bool any_known(const std::vector<std::size_t>& nics) const {
    for (std::uint32_t gpu = 0; gpu < node_.gpus.size(); ++gpu) {
      for (const std::size_t nic : nics) {
        if (between(gpu, nic) != PathType::kUnknown) return true;
      }
    }
    return false;
  }

  // NCCL's default level: PXB, and with C2C also across it (paths.cc, ncclTopoCheckGdr).
  [[nodiscard]] bool gpu_direct(PathType path) const {
    return path <= PathType::kPxb && node_.gpu_direct.value_or(true);
  }

  [[nodiscard]] double cpu_link() const {
    return model_ != nullptr ? model_->cpu_link->value : constant::kCpuLinkBroadwell.value;
  }

  [[nodiscard]] double nic_carries(std::size_t nic, bool direct) const {
    const auto& rate = node_.nics[nic].rate;
    return carries(rate ? rate->value : constant::kNic100.value, direct);
  }

  [[nodiscard]] double carries(double rate, bool direct) const {
    if (direct) return std::min(rate, pcie());
    return std::min(rate * constant::kNoGpuDirectFactor.value, cpu_link());
  }

  [[nodiscard]] double gpu_sends(bool direct) const { return direct ? pcie() : cpu_link(); }

 private:
  // Of an unknown GPU the port's own rate is all that is said.
  [[nodiscard]] double pcie() const {
    if (model_ == nullptr) return kUnlimited;
    return model_->pcie->value;
  }

  const NodeTopology& node_;
  const GpuModel* model_;
};

std::string name_of(const NodeTopology& node, std::uint32_t gpu, std::size_t nic, PathType path,
                    bool direct) {
  const std::string& device = node.nics[nic].device;
  std::string text = "GPU" + std::to_string(gpu) + "-" +
                     (device.empty() ? "NIC" + std::to_string(nic) : device) + " " +
                     std::string(to_string(path));
  return direct ? text : text + ", no GPUDirect";
}

std::string layer_name(Transport transport) {
  return transport == Transport::kInfiniBand ? "InfiniBand"
         : transport == Transport::kEfa      ? "EFA"
                                             : "Ethernet";
}

Bottleneck over_socket(const NodeTopology& node, const Paths& paths) {
  // Which interface the pod's network uses nobody reports: the fastest cannot be beaten.
  double fastest = 0;
  for (const std::size_t nic : usable_nics(node, Transport::kSocket)) {
    fastest = std::max(fastest, paths.nic_carries(nic, false));
  }
  if (fastest == 0) fastest = paths.carries(constant::kNic100.value, false);
  return {{std::min(fastest, constant::kSocketCap.value)},
          "TCP socket",
          {constant::kNetworkStep.value}};
}

// EFA devices stand in no matrix; AWS puts the same number of them behind each GPU's switch.
Bottleneck over_efa_share(const NodeTopology& node, const Paths& paths,
                          const std::vector<std::size_t>& nics, std::size_t gpus) {
  constexpr std::size_t kMostGpusOfAnEfaNode = 8;
  std::size_t all = node.gpus.size();
  if (all == 0 && node.gpu_count && *node.gpu_count > 0) {
    all = static_cast<std::size_t>(*node.gpu_count);
  }
  if (all == 0) all = kMostGpusOfAnEfaNode;
  all = std::max(all, gpus);
  const std::size_t share = std::max<std::size_t>(1, nics.size() * gpus / all);
  const bool direct = paths.gpu_direct(PathType::kPxb);
  double least = kUnlimited;
  for (const std::size_t nic : nics)
    least = std::min(least, paths.nic_carries(nic, direct));
  const double sum = static_cast<double>(share) * least;
  const double sent = static_cast<double>(gpus) * paths.gpu_sends(direct);
  std::string link = std::to_string(share) + " of " + std::to_string(nics.size()) + " EFA";
  if (sent < sum) link += ", GPU PCIe";
  if (!direct) link += ", no GPUDirect";
  return {{std::min(sum, sent)}, std::move(link), {constant::kNetworkStep.value}};
}

// What the set of GPUs has of one NIC.
struct Reached {
  bool reached = false;
  PathType path = PathType::kUnknown;
  std::uint32_t gpu = 0;
};

}  // namespace

Bottleneck inter_node(const NodeTopology& node, std::span<const std::uint32_t> gpus,
                      Transport transport) {
  const std::vector<std::uint32_t> set = gpu_set(gpus);
  const Seconds step{constant::kNetworkStep.value};
  if (set.empty()) return {{0}, "no GPU", step};
  const Paths paths(node);
  if (transport == Transport::kSocket || transport == Transport::kUnknown) {
    return over_socket(node, paths);
  }
  if (node.nics.empty()) {
    return {{paths.carries(constant::kNic100.value, false)}, "NICs not known", step};
  }
  const std::vector<std::size_t> usable = usable_nics(node, transport);
  if (usable.empty()) return {{0}, "no active " + layer_name(transport) + " port", step};

  if (transport == Transport::kEfa && !paths.any_known(usable)) {
    return over_efa_share(node, paths, usable, set.size());
  }

  // The enumeration of path types is in order of distance; unknown is farthest.
  std::vector<Reached> reached(node.nics.size());
  double sent = 0;
  double least_sent = kUnlimited;
  std::string least_sender;
  for (const std::uint32_t gpu : set) {
    PathType nearest = PathType::kUnknown;
    for (const std::size_t nic : usable)
      nearest = std::min(nearest, paths.between(gpu, nic));
    const bool direct = paths.gpu_direct(nearest);
    bool first = true;
    for (const std::size_t nic : usable) {
      if (paths.between(gpu, nic) != nearest) continue;
      Reached& entry = reached[nic];
      if (!entry.reached || nearest < entry.path) entry = {true, nearest, gpu};
      if (first && paths.gpu_sends(direct) < least_sent) {
        least_sent = paths.gpu_sends(direct);
        least_sender = direct ? "GPU" + std::to_string(gpu) + " PCIe"
                              : name_of(node, gpu, nic, nearest, false);
      }
      first = false;
    }
    sent += paths.gpu_sends(direct);
  }
  double sum = 0;
  double least = kUnlimited;
  std::string slowest;
  for (const std::size_t nic : usable) {
    const Reached& entry = reached[nic];
    if (!entry.reached) continue;
    const bool direct = paths.gpu_direct(entry.path);
    const double carried = paths.nic_carries(nic, direct);
    sum += carried;
    if (carried < least) {
      least = carried;
      slowest = name_of(node, entry.gpu, nic, entry.path, direct);
    }
  }
  if (sent < sum) return {{sent}, std::move(least_sender), step};
  return {{sum}, std::move(slowest), step};
}

}  // namespace rankward::topology
