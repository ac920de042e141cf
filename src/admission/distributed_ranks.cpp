// REQ-04: ranks of a distributed job that cannot talk to each other as they should.
#include <algorithm>
#include <array>
#include <utility>

#include "distributed_job.hpp"
#include "rank_keys.hpp"
#include "rankward/kube/rankward_keys.hpp"
#include "rankward/kube/resources.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using kube::DeviceKind;
using kube::kMaxGangSize;
using kube::small_number;

constexpr std::string_view kSizeWhy =
    "Without the number of its pods a gang is placed pod by pod: nothing keeps room for the rest.";
constexpr std::string_view kSizeFix = "say how many pods it has by rankward.io/gang-size.";
constexpr std::string_view kLoneWhy =
    "Neither rankward.io/gang nor a framework's label says which pods belong together, so nothing "
    "reads it.";
constexpr std::string_view kLoneFix = "name the gang by rankward.io/gang.";
constexpr std::string_view kRankWhy =
    "A rank that is no place of its own in the gang is passed over, and the ranks no longer follow "
    "the network.";
constexpr std::string_view kRankFix =
    "give each pod a rank from 0 to the gang's size less 1, or leave ranks to the framework's "
    "index.";
constexpr std::string_view kPartsWhy =
    "NCCL has no path between slices or replicas but host memory, and refuses two ranks on one GPU "
    "(\"Duplicate GPU detected\").";
constexpr std::string_view kPartsFix =
    "use whole GPUs, or say rankward.io/sharing: mig (or shared) where the program is known to "
    "cope.";

// Networks that a pod is given otherwise than by a resource: Multus, GKE's multi-networking and
// GPUDirect-TCPX sidecars.
constexpr std::array<std::string_view, 2> kNetworkAnnotations{"k8s.v1.cni.cncf.io/networks",
                                                              "networking.gke.io/interfaces"};
constexpr std::string_view kGkeDevices = "devices.gke.io/";

const std::string* annotation(const PodFacts& pod, std::string_view key) {
  return kube::find(pod.subject().metadata.annotations, key);
}

const std::string* own(const PodFacts& pod, std::string_view key) {
  return own_value(pod.subject(), key);
}

// NCCL and RCCL; other vendors' accelerators bring a network of their own or another library.
bool is_nccl_device(std::string_view resource) {
  return resource.starts_with("nvidia.com/") || resource.starts_with("amd.com/");
}

bool is_part(DeviceKind kind) {
  return kind == DeviceKind::kMigSlice || kind == DeviceKind::kSharedSlice;
}

// The first resource of the container that is asked for and of which `is_wanted` is true.
template <class Wanted>
const std::pair<const std::string, kube::Quantity>* first_asked(const kube::Container& container,
                                                                Wanted is_wanted) {
  for (const auto* list : {&container.resources.limits, &container.resources.requests})
    for (const auto& entry : *list)
      if (entry.second.sign() > 0 && is_wanted(entry.first)) return &entry;
  return nullptr;
}

bool any_container_has_rdma(const PodFacts& pod) {
  return std::any_of(pod.containers().begin(), pod.containers().end(), [](const auto& facts) {
    return first_asked(*facts.container, kube::is_rdma) != nullptr;
  });
}

// NCCL is told to use sockets.
bool is_told_to_use_sockets(const kube::Container& container) {
  return std::any_of(container.env.begin(), container.env.end(), [](const kube::EnvVar& variable) {
    return (variable.name == "NCCL_IB_DISABLE" && variable.value == "1") ||
           (variable.name == "NCCL_NET" && variable.value == "Socket");
  });
}

// The host's network, an extra network, claims that may hold a NIC, or a word about the transport.
bool network_is_chosen(const PodFacts& pod) {
  const kube::PodSpec& spec = pod.spec();
  if (spec.host_network || !spec.resource_claims.empty()) return true;
  const std::string* transport = own(pod, kube::kTransportKey);
  if (transport != nullptr && (*transport == "tcp" || *transport == "any")) return true;
  for (const std::string_view key : kNetworkAnnotations)
    if (annotation(pod, key) != nullptr) return true;
  const kube::StringMap& annotations = pod.subject().metadata.annotations;
  const auto devices = annotations.lower_bound(kGkeDevices);
  if (devices != annotations.end() && devices->first.starts_with(kGkeDevices)) return true;
  return std::any_of(pod.containers().begin(), pod.containers().end(),
                     [](const auto& facts) { return is_told_to_use_sockets(*facts.container); });
}

// All ranks on one machine talk without a network.
bool is_kept_on_one_node(const PodFacts& pod) {
  constexpr std::string_view kHostname = "kubernetes.io/hostname";
  if (kube::find(pod.spec().node_selector, kHostname) != nullptr) return true;
  for (const std::string_view key :
       {kube::kTopologyRequiredKey, std::string_view("kueue.x-k8s.io/podset-required-topology")})
    if (const std::string* level = annotation(pod, key); level != nullptr && *level == kHostname)
      return true;
  return false;
}

std::string rank_of(const DistributedJob& job) {
  std::string out = "a rank of " + job.name;
  if (job.pods) out += " (" + std::to_string(*job.pods) + " pods)";
  return out;
}

void observe_rdma(const PodFacts& pod, const std::string& whose, Observations& out) {
  if (any_container_has_rdma(pod) || network_is_chosen(pod) || is_kept_on_one_node(pod)) return;
  for (const ContainerFacts& facts : pod.containers()) {
    // A privileged container opens the host's RDMA devices as they are.
    if (facts.privilege == "privileged") continue;
    const auto* gpus = first_asked(*facts.container, [](std::string_view name) {
      return is_nccl_device(name) && kube::device_kind(name) == DeviceKind::kWholeGpu;
    });
    if (gpus == nullptr) continue;
    Observation found;
    found.field = pod.field(facts.path + ".resources");
    found.container = facts.container->name;
    found.subject = "rdma";
    found.value = gpus->first;
    found.what = facts.label + ": " + whose + " asks for " + gpus->first + ": " +
                 gpus->second.to_string() + " but no container asks for an RDMA resource.";
    out.push_back(std::move(found));
    return;
  }
}

void observe_parts(const PodFacts& pod, const std::string& whose, Observations& out) {
  const std::string* sharing = own(pod, kube::kSharingKey);
  if (sharing != nullptr && *sharing != "exclusive") return;
  for (const ContainerFacts& facts : pod.containers()) {
    const auto* part = first_asked(*facts.container, [](std::string_view name) {
      return is_nccl_device(name) && is_part(kube::device_kind(name));
    });
    if (part == nullptr) continue;
    Observation found;
    found.field = pod.field(facts.path + ".resources");
    found.container = facts.container->name;
    found.subject = "parts";
    found.value = part->first;
    found.what = facts.label + ": " + whose + " asks for " + part->first + ", a part of a GPU.";
    found.why = kPartsWhy;
    found.fix = kPartsFix;
    out.push_back(std::move(found));
  }
}

std::string annotation_field(const PodFacts& pod, std::string_view key) {
  return pod.metadata_field(".annotations[" + in_quotes(key, key.size()) + "]");
}

void observe_annotation(const PodFacts& pod, std::string_view key, std::string ending,
                        std::string_view why, std::string_view fix, Observations& out) {
  const std::string& value = *annotation(pod, key);
  Observation found;
  found.field = annotation_field(pod, key);
  found.subject = key;
  found.value = value;
  found.what = std::string(key) + "=" + in_quotes(value) + " " + std::move(ending);
  found.why = why;
  found.fix = fix;
  out.push_back(std::move(found));
}

void observe_gang(const PodFacts& pod, Observations& out) {
  const Subject& subject = pod.subject();
  const bool named = annotation(pod, kube::kGangKey) != nullptr;
  const bool sized = annotation(pod, kube::kGangSizeKey) != nullptr;
  if (own(pod, kube::kGangKey) != nullptr && !sized)
    observe_annotation(pod, kube::kGangKey, "without rankward.io/gang-size.", kSizeWhy, kSizeFix,
                       out);
  // What a controller makes of a template gets the framework's labels only then.
  const bool of_nobody = subject.workload_kind.empty() && subject.metadata.controller() == nullptr;
  if (named || !of_nobody || is_in_a_group(subject)) return;
  for (const std::string_view key : {kube::kGangSizeKey, kube::kRankKey})
    if (own(pod, key) != nullptr)
      observe_annotation(pod, key, "on a pod of no gang.", kLoneWhy, kLoneFix, out);
}

std::optional<std::int32_t> number_at(const PodFacts& pod, std::string_view key) {
  const std::string* text = group_value(pod.subject(), key);
  return text == nullptr ? std::nullopt : small_number(*text, kMaxGangSize);
}

void observe_own_rank(const PodFacts& pod, Observations& out) {
  const auto rank = number_at(pod, kube::kRankKey);
  if (!rank || own(pod, kube::kRankKey) == nullptr) return;
  const auto size = number_at(pod, kube::kGangSizeKey);
  const std::int64_t pods = pod.subject().replicas.value_or(1);
  if (size && *rank >= *size) {
    observe_annotation(pod, kube::kRankKey, "in a gang of " + std::to_string(*size) + ".", kRankWhy,
                       kRankFix, out);
  } else if (pods > 1) {
    observe_annotation(pod, kube::kRankKey, "in a template of " + std::to_string(pods) + " pods.",
                       kRankWhy, kRankFix, out);
  }
}

void observe_framework_ranks(const PodFacts& pod, Observations& out) {
  const auto total = number_at(pod, "kueue.x-k8s.io/pod-group-total-count");
  for (const std::string_view key : kRankKeys) {
    const std::string* text = group_value(pod.subject(), key);
    if (text == nullptr) continue;
    const auto rank = small_number(*text, kMaxGangSize);
    const bool beyond = rank && total && key == kKueuePodIndex && *rank >= *total;
    if (rank && !beyond) continue;
    const bool label = kube::find(pod.subject().metadata.labels, key) != nullptr;
    Observation found;
    found.field = pod.metadata_field((label ? ".labels[" : ".annotations[") +
                                     in_quotes(key, key.size()) + "]");
    found.subject = key;
    found.value = *text;
    found.what =
        std::string(key) + "=" + in_quotes(*text) +
        (beyond ? " in a group of " + std::to_string(*total) + "." : std::string(" is no rank."));
    found.why = kRankWhy;
    found.fix = kRankFix;
    out.push_back(std::move(found));
  }
}

void observe(const PodFacts& pod, Observations& out) {
  const auto job =
      pod.any_container_asks() ? distributed_job(pod) : std::optional<DistributedJob>();
  const std::string* transport = own(pod, kube::kTransportKey);
  if (job) {
    observe_rdma(pod, rank_of(*job), out);
    observe_parts(pod, rank_of(*job), out);
  } else if (transport != nullptr && *transport == "rdma-required") {
    observe_rdma(pod, "a pod with rankward.io/transport=rdma-required", out);
  }
  observe_gang(pod, out);
  observe_own_rank(pod, out);
  observe_framework_ranks(pod, out);
}

}  // namespace

extern const Rule kDistributedRanks;
const Rule kDistributedRanks{
    {.id = "REQ-04",
     .title = "ranks of a distributed job that cannot work together as they should",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "Ranks in different pods talk over the network; without an RDMA device NCCL falls back "
            "to Socket without a word, and the slowest rank slows all.",
     .fix = "ask for the cluster's RDMA resource beside the GPUs, such as \"rdma/ib\" or "
            "\"vpc.amazonaws.com/efa\", or say rankward.io/transport: tcp where sockets will do."},
    observe,
    false};

}  // namespace rankward::admission
