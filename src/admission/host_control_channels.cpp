// HP-04: a way to ask a node's runtime, kubelet or CDI for devices.
#include "host_path_rule.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kReadsHolders =
    "It tells which pod holds which GPU; only monitoring agents need it.";
constexpr std::string_view kReplacesSocket =
    "A writable mount can replace the kubelet's socket with one of its own.";
constexpr std::string_view kMountReadOnly =
    "set readOnly on the mount; an agent that needs more is exempted by namespace and service "
    "account.";

void observe_pod_resources(const PodFacts& pod, const HostPathUse& use, const HostPathEntry& entry,
                           Observations& out) {
  bool writable = false;
  for (const HostPathUse& mount : pod.mounts_of(use.volume)) {
    if (mount.mount->read_only) continue;
    writable = true;
    Observation found = observe_path(pod, mount, entry.gives);
    found.why = kReplacesSocket;
    found.fix = kMountReadOnly;
    out.push_back(std::move(found));
  }
  if (writable) return;
  Observation found = observe_path(pod, use, entry.gives);
  found.why = kReadsHolders;
  found.fix = entry.instead;
  found.milder = true;
  out.push_back(std::move(found));
}

void observe(const PodFacts& pod, Observations& out) {
  for (const HostPathUse& use : pod.host_paths()) {
    if (const HostPathEntry* entry = entry_of(pod, use, HostPathKind::kControlChannel)) {
      Observation found = observe_path(pod, use, entry->gives);
      found.fix = entry->instead;
      out.push_back(std::move(found));
    } else if (const HostPathEntry* list =
                   pod.policy().host_paths().look_up(use.canonical, HostPathKind::kPodResources)) {
      observe_pod_resources(pod, use, *list, out);
    }
  }
}

}  // namespace

extern const Rule kHostControlChannels;
const Rule kHostControlChannels{
    {.id = "HP-04",
     .title = "a control channel of the runtime or the kubelet",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why = "Whoever reaches it can start containers or register devices and so reach every GPU of "
            "the node without asking.",
     .fix = "drop the volume; a node agent that needs it is exempted by namespace and service "
            "account."},
    observe};

}  // namespace rankward::admission
