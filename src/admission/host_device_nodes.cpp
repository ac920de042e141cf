// HP-01: an accelerator's or RDMA device's node on the host, as a volume.
#include "host_path_rule.hpp"
#include "text.hpp"

namespace rankward::admission {

Observation observe_path(const PodFacts& pod, const HostPathUse& use, std::string_view gives) {
  Observation out;
  out.field = pod.field(use.field);
  if (use.container != nullptr) out.container = use.container->container->name;
  out.subject = pod.spec().volumes[use.volume].name;
  out.value = use.any_below ? use.canonical + "/*" : use.canonical;
  out.what = use.label + ": hostPath " + in_quotes(use.written);
  if (use.container != nullptr) out.what += " of volume " + in_quotes(out.subject);
  if (use.any_below) {
    out.what += " with a subPathExpr can reach ";
  } else {
    out.what += " gives ";
  }
  out.what.append(gives).append(".");
  return out;
}

namespace {

void observe(const PodFacts& pod, Observations& out) {
  for (const HostPathUse& use : pod.host_paths()) {
    const HostPathEntry* entry = entry_of(pod, use, HostPathKind::kDeviceNode);
    if (entry == nullptr) continue;
    Observation found = observe_path(pod, use, entry->gives);
    found.fix = entry->instead;
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kHostDeviceNodes;
const Rule kHostDeviceNodes{
    {.id = "HP-01",
     .title = "a device node of an accelerator or RDMA card as a hostPath",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why =
         "No scheduler counts a device that comes this way, and an unprivileged container cannot "
         "even open it.",
     .fix = "set resources.limits to the device plugin's resource, such as \"nvidia.com/gpu\", and "
            "drop the volume."},
    observe};

}  // namespace rankward::admission
