#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "availability.hpp"
#include "checks.hpp"
#include "network.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

namespace {

struct NamedCheck {
  ReasonCode code;
  Check holds;
};

// In order: the first that holds is the reason. Nearer to the silicon comes first, since what is
// said later rests on it; within a stage the more specific before the more general.
constexpr std::array kDeviceChecks{
    NamedCheck{ReasonCode::kHostCountMismatch, host_sees_fewer_gpus_than_advertised},
    NamedCheck{ReasonCode::kGpuUnhealthy, too_few_gpus_are_healthy},
    NamedCheck{ReasonCode::kMigReconfiguring, mig_layout_is_changing},
    NamedCheck{ReasonCode::kMigConfigFailed, mig_layout_failed},
    NamedCheck{ReasonCode::kMigNotApplied, mig_layout_is_not_in_place},
    NamedCheck{ReasonCode::kWrongResourceName, offered_under_another_name},
    NamedCheck{ReasonCode::kNotAdvertised, gpus_are_not_advertised},
    NamedCheck{ReasonCode::kNotAGpuNode, has_no_gpus},
    NamedCheck{ReasonCode::kNothingAllocatable, registered_but_none_allocatable},
    NamedCheck{ReasonCode::kDevicesUnhealthy, healthy_devices_are_too_few},
    NamedCheck{ReasonCode::kSharingMismatch, labels_contradict_sharing},
    NamedCheck{ReasonCode::kSharedNotExclusive, shared_but_wanted_exclusive},
    NamedCheck{ReasonCode::kSliceNotWholeGpu, slices_but_wanted_whole_gpus},
    NamedCheck{ReasonCode::kReplicasNotGpus, replicas_wanted_as_gpus},
    NamedCheck{ReasonCode::kGangIncompatible, ranks_on_parts_of_gpus},
    NamedCheck{ReasonCode::kMemoryTooSmall, device_memory_is_too_small},
    NamedCheck{ReasonCode::kNumaCannotAlign, numa_cannot_align},
    NamedCheck{ReasonCode::kInsufficientGpu, too_few_devices_are_free},
};

std::optional<ReasonCode> first_reason(const Question& question) {
  for (const NamedCheck& check : kDeviceChecks) {
    if (question.use == Use::kFilter && !reason(check.code).usable_in_filter) continue;
    if (check.holds(question)) return check.code;
  }
  return std::nullopt;
}

// A fraction's devices are counted by whoever hands fractions out, not by allocatable.
bool is_counted(const DeviceRequest& device) {
  return device.kind != kube::DeviceKind::kFraction;
}

// What a report or its lack leaves unknown matters only where something travels over links.
bool links_matter(const Request& request) {
  return request.gpus() > 1 || request.wants_rdma();
}

bool links_are_known(const topology::NodeTopology& topology) {
  return !topology.gpus.empty() || !topology.nics.empty();
}

bool rejected_as_unknown(const Request& request, const NodeState& node, const Options& options) {
  return options.unknown_topology == UnknownTopology::kReject && links_matter(request) &&
         !links_are_known(*node.machine);
}

void add_note(Details& details, const std::string& text) {
  if (!details.note.empty()) details.note += "; ";
  details.note += text;
}

void describe(const Question& question, Details& details) {
  const NodeState& node = question.node;
  details.resource = question.device.resource;
  details.need = question.device.count;
  details.capacity = question.capacity;
  details.allocatable = question.allocatable;
  details.used = amount(node.used, details.resource).value_or(0);
  details.free = node.free(details.resource);
  if (question.capacity && question.allocatable) {
    const std::int64_t gone = *question.capacity - std::max<std::int64_t>(0, *question.allocatable);
    details.unhealthy = std::max<std::int64_t>(0, gone);
  }
  if (question.reported()) {
    const auto& gpus = question.topology.gpus;
    const auto reported = std::count_if(gpus.begin(), gpus.end(), [](const topology::Gpu& gpu) {
      return gpu.health == topology::Health::kUnhealthy;
    });
    details.unhealthy = std::max<std::int64_t>(details.unhealthy.value_or(0), reported);
  }
  details.labels_say = question.topology.gpu_count;
  details.need_memory = question.request.gpu_memory;
  details.has_memory = device_memory(question);
  details.free_per_numa = free_per_numa(question);
}

// Profiles of the node that would be large enough.
std::vector<std::string> larger_slices(const Question& question) {
  std::vector<std::string> offers;
  for (std::string& offer : other_offers(question)) {
    DeviceRequest other = question.device;
    other.resource = offer.substr(0, offer.find(':'));
    other.kind = kube::device_kind(other.resource);
    const auto memory = device_memory(ask(question.request, other, question.node, question.use));
    if (memory && *memory >= *question.request.gpu_memory) offers.push_back(std::move(offer));
  }
  return offers;
}

void explain(const Question& question, ReasonCode code, Details& details) {
  switch (code) {
    case ReasonCode::kWrongResourceName:
    case ReasonCode::kMigNotApplied:
      details.offers = other_offers(question);
      break;
    case ReasonCode::kMemoryTooSmall:
      details.offers = larger_slices(question);
      break;
    case ReasonCode::kMigReconfiguring:
      if (question.topology.mig_paused) {
        add_note(details,
                 "paused-for-mig-change labels are on the node: if that lasts, mig-manager is "
                 "stuck; set nvidia.com/mig.config to another value and back");
      }
      break;
    case ReasonCode::kNotAdvertised:
      add_note(details, question.capacity ? "the resource is there with 0 devices"
                                          : "the resource is absent from the node's status; labels "
                                            "can be older than the fault");
      break;
    case ReasonCode::kHostCountMismatch:
      add_note(details,
               "the report lists " + std::to_string(question.topology.gpus.size()) + " GPUs");
      break;
    default:
      break;
  }
}

void describe_sharing(const Question& question, Details& details) {
  if (!question.shared() || !question.request.gpu_memory) return;
  const CoTenants others = co_tenants(question);
  if (others.declared.count > 0) details.declared_by_others = others.declared;
  details.undeclared_cotenants = others.undeclared;
  if (others.declared.count > 0) {
    add_note(details, "others on it declared " + topology::to_string(others.declared));
  }
  if (others.undeclared > 0) {
    add_note(details, std::to_string(others.undeclared) +
                          " pods on it have not said how much memory they need");
  }
}

// Everything but the scheduler's own filters.
std::optional<ReasonCode> device_reason(const Request& request, const NodeState& node,
                                        const Options& options, Use use, Details& details) {
  for (const DeviceRequest& device : request.devices) {
    if (!is_counted(device)) continue;
    const Question question = ask(request, device, node, use);
    const auto code = first_reason(question);
    if (use == Use::kExplain && (code || details.resource.empty())) {
      describe(question, details);
      describe_sharing(question, details);
      if (code) explain(question, *code, details);
    }
    if (code) return code;
  }
  if (rdma_is_missing(request, node, use)) {
    if (use == Use::kExplain) add_note(details, "NCCL would use TCP sockets there");
    return ReasonCode::kRdmaMissing;
  }
  if (rejected_as_unknown(request, node, options)) return ReasonCode::kTopologyUnknown;
  if (use == Use::kFilter) return std::nullopt;
  const NicShortage shortage = nic_shortage(request, node);
  if (shortage.nic == nullptr) return std::nullopt;
  details.resource = shortage.nic->resource;
  details.need = shortage.nic->count;
  details.capacity = amount(node.node->capacity, details.resource);
  details.allocatable = amount(node.node->allocatable, details.resource);
  details.used = amount(node.used, details.resource).value_or(0);
  details.free = node.free(details.resource);
  details.unhealthy.reset();
  return shortage.absent ? ReasonCode::kRdmaMissing : ReasonCode::kInsufficientNic;
}

}  // namespace

Verdict judge(const Request& request, const kube::PodSpec& spec, const NodeState& node,
              const Options& options, Use use) {
  Verdict verdict;
  const auto found = device_reason(request, node, options, use, verdict.details);
  if (use == Use::kFilter) {
    verdict.reason = found;
    return verdict;
  }
  Details& details = verdict.details;
  if (request.has_device_claim) {
    add_note(details,
             "devices of resource claims are allocated from ResourceSlices, which a "
             "node's allocatable does not show");
  }
  if (const auto closed = closed_to(spec, *node.node)) {
    verdict.reason = ReasonCode::kNodeUnavailable;
    if (found) details.also.push_back(*found);
    add_note(details, *closed);
    return verdict;
  }
  verdict.reason = found;
  if (const auto resource = short_of(request, node)) {
    add_note(details, "too little " + *resource + " free");
    if (found) {
      details.also.push_back(ReasonCode::kNodeUnavailable);
    } else {
      verdict.reason = ReasonCode::kNodeUnavailable;
    }
  }
  return verdict;
}

Verdict judge_unknown_node(const Options& options, Use use) {
  Verdict verdict;
  if (use == Use::kExplain) {
    verdict.details.note = "no node of this name has been seen";
    verdict.reason = ReasonCode::kTopologyUnknown;
  } else if (options.unknown_topology == UnknownTopology::kReject) {
    verdict.reason = ReasonCode::kTopologyUnknown;
  }
  return verdict;
}

}  // namespace rankward::placement
