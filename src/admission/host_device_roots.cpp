// HP-02: a directory of the host with every device in it.
#include <algorithm>
#include <vector>

#include "host_path_rule.hpp"

namespace rankward::admission {
namespace {

// Containers that can open any device node that they can see.
std::vector<const ContainerFacts*> privileged_containers(const PodFacts& pod) {
  std::vector<const ContainerFacts*> out;
  for (const ContainerFacts& container : pod.containers())
    if (!container.privilege.empty()) out.push_back(&container);
  return out;
}

constexpr std::string_view kOpenable =
    "With its privileges it can open every GPU of the node there, also those that other pods hold.";
constexpr std::string_view kReadable =
    "Every file of the node can be read there, those of other pods and drivers included.";

Observation held_by(const PodFacts& pod, const HostPathUse& use, const HostPathEntry& entry,
                    const ContainerFacts& container) {
  Observation found = observe_path(pod, use, entry.gives);
  found.container = container.container->name;
  found.what.pop_back();
  found.what += " to " + container.label + ", which ";
  found.what += container.privilege == "privileged"
                    ? "is privileged."
                    : "adds " + std::string(container.privilege) + ".";
  found.why = kOpenable;
  found.fix = entry.instead;
  return found;
}

// Any container of a pod can mount any of its volumes, an ephemeral one later on too. One finding
// for the first privileged container, and one for each ephemeral one, so that a debug container
// that is added later is judged by itself.
void observe_host_root(const PodFacts& pod, const HostPathUse& use, const HostPathEntry& entry,
                       const std::vector<const ContainerFacts*>& privileged, bool first_root,
                       Observations& out) {
  const auto is_ephemeral = [](const ContainerFacts* container) {
    return container->kind == kube::ContainerKind::kEphemeral;
  };
  if (privileged.empty() || is_ephemeral(privileged.front())) {
    Observation found = observe_path(pod, use, entry.gives);
    found.why = kReadable;
    found.fix = entry.instead;
    found.milder = true;
    out.push_back(std::move(found));
  } else {
    out.push_back(held_by(pod, use, entry, *privileged.front()));
  }
  if (!first_root) return;
  for (const ContainerFacts* container : privileged)
    if (is_ephemeral(container)) out.push_back(held_by(pod, use, entry, *container));
}

void observe(const PodFacts& pod, Observations& out) {
  const std::vector<const ContainerFacts*> privileged = privileged_containers(pod);
  bool first_root = true;
  for (const HostPathUse& use : pod.host_paths()) {
    if (const HostPathEntry* entry = entry_of(pod, use, HostPathKind::kDeviceRoot)) {
      Observation found = observe_path(pod, use, entry->gives);
      found.fix = entry->instead;
      out.push_back(std::move(found));
    } else if (const HostPathEntry* root =
                   pod.policy().host_paths().look_up(use.canonical, HostPathKind::kHostRoot)) {
      observe_host_root(pod, use, *root, privileged, first_root, out);
      first_root = false;
    }
  }
}

}  // namespace

extern const Rule kHostDeviceRoots;
const Rule kHostDeviceRoots{
    {.id = "HP-02",
     .title = "a host directory that holds every device",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why = "Every device of the node is in there, those that other pods hold included.",
     .fix = "drop the volume and set resources.limits to the devices that the container needs; a "
            "node agent that needs it is exempted by namespace and service account."},
    observe};

}  // namespace rankward::admission
