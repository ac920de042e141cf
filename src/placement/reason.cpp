#include "rankward/placement/reason.hpp"

#include <array>

namespace rankward::placement {

namespace {

using enum ReasonCode;
using enum PreemptionHelps;

// Columns after the text: does preemption help, does a new node help, does an autoscaler see it,
// may /filter use it.
//
// The last is false for every verdict that rests on an amount in allocatable or on what holds it:
// the scheduler has fitted the request on each node that it offers, possibly through DRA
// (extendedResourceName, Kubernetes 1.37), where allocatable has no such key. What the scheduler
// refuses by itself is also all that an autoscaler can simulate, hence the third column.
constexpr std::array<Reason, kReasonCodes> kReasons{{
    {kGpuUnhealthy, "GpuUnhealthy", Stage::kHost, "too few healthy GPUs by the node's own report",
     kNo, true, false, true,
     "Look for Xid and ECC errors in the node's kernel log; drain the node and reset or replace "
     "the "
     "GPU. A device plugin that has not noticed still advertises it."},
    {kHostCountMismatch, "HostCountMismatch", Stage::kHost,
     "host sees fewer GPUs than the node advertises", kNo, true, false, true,
     "A GPU has probably fallen off the bus: compare lspci and nvidia-smi on the node. Until then "
     "the kubelet fails every pod there with UnexpectedAdmissionError; cordon the node."},
    {kTopologyStale, "TopologyStale", Stage::kHost, "report of the node's hardware is out of date",
     kNo, true, false, true,
     "Check that whatever writes the annotation rankward.io/topology still runs on the node."},
    {kTopologyUnknown, "TopologyUnknown", Stage::kHost,
     "nothing is known about the node's hardware", kNo, false, false, true,
     "Publish the node's report (annotation rankward.io/topology), or set unknownTopology to "
     "penalise or allow. A node that was created a moment ago may only need a few seconds."},

    {kNotAdvertised, "NotAdvertised", Stage::kAdvertise,
     "GPUs present but not advertised by a device plugin", kNo, true, true, false,
     "Look at the device plugin's pod and log on the node, and at the runtime class it runs with. "
     "Labels can be older than the fault: check the driver with nvidia-smi on the host."},
    {kNothingAllocatable, "NothingAllocatable", Stage::kAdvertise,
     "registered devices are all unhealthy or their plugin is gone", kNo, true, true, false,
     "No pod uses them: either the device plugin marked all devices unhealthy or its socket is "
     "gone. Read the device plugin's log and restart it once the cause is removed."},
    {kDevicesUnhealthy, "DevicesUnhealthy", Stage::kAdvertise,
     "too few healthy devices, though enough are registered", kNo, true, true, false,
     "The device plugin marked devices unhealthy (Xid, ECC) and will not take that back by itself. "
     "Remove the cause, then restart the plugin on that node; waiting does not help."},
    {kMigReconfiguring, "MigReconfiguring", Stage::kAdvertise, "MIG layout is being changed", kNo,
     true, false, true,
     "Wait a few minutes. If it stays so and labels say paused-for-mig-change, mig-manager is "
     "stuck: set nvidia.com/mig.config to another value and back."},
    {kMigConfigFailed, "MigConfigFailed", Stage::kAdvertise, "MIG layout could not be applied", kNo,
     true, false, true,
     "Read mig-manager's log on the node. What the GPUs hold now is not what nvidia.com/mig.config "
     "says."},
    {kMigNotApplied, "MigNotApplied", Stage::kAdvertise,
     "MIG layout named by the labels is not in place", kNo, true, true, false,
     "Compare nvidia.com/mig.config with nvidia-smi mig -lgi on the node; restart the device "
     "plugin "
     "if the slices exist. Under the single strategy all GPUs of a node need one profile."},
    {kSharingMismatch, "SharingMismatch", Stage::kAdvertise,
     "labels and advertised devices disagree about GPU sharing", kNo, true, false, true,
     "The device plugin and GPU feature discovery run with different sharing configurations: "
     "restart both on the node and check nvidia.com/device-plugin.config."},

    {kNotAGpuNode, "NotAGpuNode", Stage::kMatch, "node has no GPUs", kNo, true, true, false,
     "Nothing is wrong with the node. Add nodes with the GPUs that the pod asks for."},
    {kWrongResourceName, "WrongResourceName", Stage::kMatch,
     "node offers its GPUs under another resource name", kNo, true, true, false,
     "Ask for one of the names that the node offers (see the details), or change the MIG strategy "
     "or the sharing configuration of the node."},
    {kSharedNotExclusive, "SharedNotExclusive", Stage::kMatch,
     "GPUs are shared but the pod wants them for itself", kNo, true, false, true,
     "Use nodes without time-slicing or MPS (nvidia.com/device-plugin.config), or drop "
     "rankward.io/sharing: exclusive from the pod."},
    {kReplicasNotGpus, "ReplicasNotGpus", Stage::kMatch,
     "several replicas of a shared GPU are not several GPUs", kNo, true, false, true,
     "Ask for one replica a container. More replicas give neither more memory nor a second GPU; "
     "for several GPUs use nodes without sharing."},
    {kSliceNotWholeGpu, "SliceNotWholeGpu", Stage::kMatch, "MIG slices are not whole GPUs", kNo,
     true, false, true,
     "Under the single strategy nvidia.com/gpu counts slices, which cannot talk over NVLink. Use "
     "nodes without MIG, or say rankward.io/sharing: mig if slices will do."},
    {kMemoryTooSmall, "MemoryTooSmall", Stage::kMatch, "GPU memory too small for the declared need",
     kNo, true, false, true,
     "Take a larger MIG profile or GPU (see the details), or correct rankward.io/gpu-memory. A "
     "profile's name is not its size, and time-slicing divides no memory."},
    {kMixedGpuModels, "MixedGpuModels", Stage::kMatch, "GPU model differs from the rest of the job",
     kNo, true, false, true, "Select one model with a node selector on nvidia.com/gpu.product."},
    {kRdmaMissing, "RdmaMissing", Stage::kMatch, "no RDMA network for a pod that requires it", kNo,
     true, false, true,
     "Check the RDMA or EFA device plugin and the port state on the node. With rankward.io/"
     "transport: rdma-preferred the pod would run there over TCP, slowing every rank."},
    {kTransportMismatch, "TransportMismatch", Stage::kMatch,
     "network transport differs from the rest of the gang", kNo, true, false, true,
     "Ranks on different transports hang or run at the slowest one's speed. Make the node's NICs "
     "equal to the others', or select the nodes by label."},
    {kOutsideFabricDomain, "OutsideFabricDomain", Stage::kMatch,
     "node is outside the fabric domain of the gang", kNo, true, false, true,
     "The pod requires one domain (rankward.io/topology-required). Free nodes in it, or ask for it "
     "as preferred."},
    {kCliqueMismatch, "CliqueMismatch", Stage::kMatch, "node is in another NVLink clique", kNo,
     false, false, true,
     "Ranks that share NVLink memory need one nvidia.com/gpu.clique. Free nodes in that rack, or "
     "make the gang smaller than a rack."},
    {kGangIncompatible, "GangIncompatible", Stage::kMatch, "gang cannot run on this kind of device",
     kNo, false, false, true,
     "Collectives between MIG slices or between replicas of one GPU fail in NCCL. Use whole GPUs, "
     "or say rankward.io/sharing: mig where the program is known to cope."},

    {kInsufficientGpu, "InsufficientGpu", Stage::kMatch, "too few free GPUs", kYes, true, true,
     false, "Wait for pods to end, add nodes, or give the pod a higher priority."},
    {kInsufficientNic, "InsufficientNic", Stage::kMatch, "too few free RDMA devices", kYes, true,
     true, false,
     "Wait for pods to end. A shared RDMA resource counts its users, not its NICs: its limit may "
     "be set too low."},
    {kReservedForGang, "ReservedForGang", Stage::kMatch, "GPUs are reserved for a gang", kNo, true,
     false, true, "Wait: the reservation ends when the gang is bound or gives up."},
    {kGangDoesNotFit, "GangDoesNotFit", Stage::kMatch, "not enough room for the whole gang", kYes,
     true, false, true,
     "None of its pods is started, so that no two gangs each hold half. Free more nodes or make "
     "the gang smaller."},
    {kPlannedElsewhere, "PlannedElsewhere", Stage::kMatch, "the gang's places are on other nodes",
     kNo, false, false, true,
     "Nothing: the gang has a plan, and the scheduler offered nodes that are not in it. If the pod "
     "stays Pending, see what the scheduler has against the planned nodes (its FailedScheduling "
     "event)."},

    {kNumaCannotAlign, "NumaCannotAlign", Stage::kMatch,
     "free GPUs are split over NUMA nodes and cannot be aligned", kIfEmptyNodeFits, true, false,
     true,
     "The kubelet's Topology Manager would fail the pod with TopologyAffinityError. Ask for fewer "
     "GPUs, wait for the right ones, or relax the policy on the node."},
    {kGpuLinkTooFar, "GpuLinkTooFar", Stage::kMatch, "free GPUs are not close enough to each other",
     kIfEmptyNodeFits, true, false, true,
     "The free GPUs have no NVLink among them. Wait for a better set or drop the demand."},
    {kNoGpuDirect, "NoGpuDirect", Stage::kMatch, "no GPUDirect path from the free GPUs to a NIC",
     kIfEmptyNodeFits, true, false, true,
     "The free GPUs reach NICs through a CPU only, or the peer memory module is not loaded on the "
     "node."},

    {kNodeUnavailable, "NodeUnavailable", Stage::kMatch,
     "node is not available to this pod for reasons other than GPUs", kIfEmptyNodeFits, true, true,
     false,
     "See the details: readiness, cordon, taint, node affinity, pod slots, CPU or memory, as the "
     "scheduler's own filters judge them."},
    {kRuntimeRejected, "RuntimeRejected", Stage::kInject, "kubelet or runtime refused the device",
     kNo, true, false, false,
     "The node's kubelet disagrees with the scheduler (UnexpectedAdmissionError, "
     "TopologyAffinityError). Read the pod's status message; a kubelet restart clears stale "
     "allocations."},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (static_cast<std::size_t>(kReasons[i].code) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "reason() finds a code by its place");

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kHost:
      return "host";
    case Stage::kAdvertise:
      return "advertise";
    case Stage::kMatch:
      return "match";
    case Stage::kInject:
      break;
  }
  return "inject";
}

const Reason& reason(ReasonCode code) {
  return kReasons[static_cast<std::size_t>(code)];
}

std::span<const Reason> reasons() {
  return kReasons;
}

}  // namespace rankward::placement
