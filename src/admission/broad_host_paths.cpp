// HP-03: directories in which device files, sockets and drivers lie among much else.
#include "host_path_rule.hpp"

namespace rankward::admission {
namespace {

void observe(const PodFacts& pod, Observations& out) {
  for (const HostPathUse& use : pod.host_paths()) {
    if (use.any_below) continue;  // the volume itself is in the list too
    if (const HostPathEntry* entry =
            pod.policy().host_paths().look_up(use.canonical, HostPathKind::kBroad))
      out.push_back(observe_path(pod, use, entry->gives));
  }
}

}  // namespace

extern const Rule kBroadHostPaths;
// Not of the first pass: agents mount these on every kind of node, so they make no GPU pod.
const Rule kBroadHostPaths{
    {.id = "HP-03",
     .title = "a broad host directory",
     .default_mode = Mode::kAudit,
     .milder_mode = Mode::kAudit,
     .why = "Sockets, drivers and device files lie somewhere below it, so a list of who mounts it "
            "is worth having.",
     .fix = "mount the one directory below it that is needed, read-only where that is enough."},
    observe,
    false};

}  // namespace rankward::admission
