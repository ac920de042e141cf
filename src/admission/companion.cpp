#include "rankward/admission/companion.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "owner_kind.hpp"
#include "pod_facts.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kRule = "ENV-01";
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

// Whether the pod may choose its devices by a variable.
bool may_choose(const Policy& policy, const Subject& pod, UnixSeconds now) {
  if (policy.mode(kRule, pod.namespace_) == Mode::kOff) return true;
  const std::string_view account = pod.spec.service_account_name.empty()
                                       ? std::string_view("default")
                                       : std::string_view(pod.spec.service_account_name);
  const kube::OwnerReference* owner = pod.metadata.controller();
  return policy.exemption(kRule, pod.namespace_, account,
                          owner != nullptr ? std::string_view(owner->kind) : std::string_view(),
                          now) != nullptr;
}

bool sets_the_variable(const kube::Container& container) {
  return std::any_of(container.env.begin(), container.env.end(),
                     [](const kube::EnvVar& variable) { return variable.name == kVoidVariable; });
}

std::string_view list_of(kube::ContainerKind kind) {
  switch (kind) {
    case kube::ContainerKind::kInit:
      return "initContainers";
    case kube::ContainerKind::kEphemeral:
      return "ephemeralContainers";
    case kube::ContainerKind::kRegular:
      break;
  }
  return "containers";
}

// Those which stand cannot be changed any more.
std::set<std::string_view> standing_ephemeral_containers(const Subject* old) {
  std::set<std::string_view> names;
  if (old == nullptr) return names;
  for (const kube::Container& container : old->spec.ephemeral_containers)
    names.insert(container.name);
  return names;
}

}  // namespace

std::vector<VoidAddition> void_additions(const Policy& policy, const CompanionReview& review,
                                         UnixSeconds now) {
  const Subject& pod = review.pod;
  const bool created = review.operation == Operation::kCreate && review.sub_resource.empty();
  const bool debugged =
      review.operation == Operation::kUpdate && review.sub_resource == "ephemeralcontainers";
  if (!created && !debugged) return {};
  if (policy.excludes(pod.namespace_) || pod.metadata.deleting) return {};
  if (kube::find(pod.metadata.annotations, kMirrorAnnotation) != nullptr) return {};
  if (may_choose(policy, pod, now)) return {};

  const auto standing = standing_ephemeral_containers(review.old_pod);
  const PodFacts facts(policy, pod);
  std::vector<VoidAddition> out;
  std::size_t index = 0;
  const ContainerFacts* previous = nullptr;
  for (const ContainerFacts& container : facts.containers()) {
    // Position in its own list: they come one list after the other.
    index = previous != nullptr && previous->kind == container.kind ? index + 1 : 0;
    previous = &container;
    const bool ephemeral = container.kind == kube::ContainerKind::kEphemeral;
    if (debugged && (!ephemeral || standing.count(container.container->name) > 0)) continue;
    if (container.asks_for_gpu || sets_the_variable(*container.container)) continue;
    out.push_back({list_of(container.kind), index, container.container->env.empty()});
  }
  return out;
}

}  // namespace rankward::admission
