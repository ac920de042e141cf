// REQ-03: a part of a GPU where the namespace asks for a GPU of its own. Replicas of a GPU share
// its memory, its faults and its time; only MIG separates them.
#include <algorithm>
#include <array>
#include <utility>

#include "rankward/kube/rankward_keys.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

// Amounts in per cent of one GPU: a multiple of 100 is whole GPUs.
constexpr std::array<std::string_view, 5> kPercents{
    "nvidia.com/gpumem-percentage", "nvidia.com/gpucores", "koordinator.sh/gpu",
    "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"};

bool is_shared(std::string_view resource, const kube::Quantity& amount) {
  if (amount.sign() <= 0) return false;
  const kube::DeviceKind kind = kube::device_kind(resource);
  if (kind == kube::DeviceKind::kSharedSlice) return true;
  if (kind != kube::DeviceKind::kFraction) return false;
  const bool percent = std::find(kPercents.begin(), kPercents.end(), resource) != kPercents.end();
  return !percent || amount.value() % 100 != 0;
}

// Why the namespace asks for isolation; "" where it does not.
std::string reason_of(const PodFacts& pod) {
  const Subject& subject = pod.subject();
  const std::string& name = subject.namespace_;
  if (subject.cluster != nullptr) {
    const auto labels = subject.cluster->namespace_labels.find(name);
    if (labels != subject.cluster->namespace_labels.end()) {
      const std::string* isolation = kube::find(labels->second, kube::kIsolationKey);
      if (isolation != nullptr && *isolation == "required")
        return "is labelled rankward.io/isolation=required";
      if (const std::string* slo = kube::find(labels->second, kube::kSloKey))
        return "is labelled rankward.io/slo=" + in_quotes(*slo);
    }
  }
  const auto& globs = pod.policy().options().isolated_namespaces;
  const bool listed = std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return matches_glob(glob, name);
  });
  return listed ? "is one of those that ask for isolation" : "";
}

// What of the container is shared: a resource's name, or KAI's fraction, which is an annotation.
std::string shared_part(const PodFacts& pod, const ContainerFacts& container) {
  const kube::ResourceRequirements& resources = container.container->resources;
  for (const auto* list : {&resources.limits, &resources.requests})
    for (const auto& [name, amount] : *list)
      if (is_shared(name, amount)) return name;
  if (!container.asks_for_gpu || kube::asks_for_accelerator(*container.container)) return {};
  const kube::StringMap& annotations = pod.subject().metadata.annotations;
  for (const char* key : {"gpu-fraction", "gpu-memory"})
    if (kube::find(annotations, key) != nullptr) return std::string("annotation ") + key;
  return {};
}

void observe(const PodFacts& pod, Observations& out) {
  const std::string reason = reason_of(pod);
  if (reason.empty()) return;
  for (const ContainerFacts& container : pod.containers()) {
    const std::string part = shared_part(pod, container);
    if (part.empty()) continue;
    Observation found;
    found.field = pod.field(container.path + ".resources");
    found.container = container.container->name;
    found.subject = part;
    found.value = pod.subject().namespace_;
    found.what = container.label + ": " + part + " shares its GPU with other pods, and namespace " +
                 in_quotes(pod.subject().namespace_) + " " + reason + ".";
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kRequestIsolation;
const Rule kRequestIsolation{
    {.id = "REQ-03",
     .title = "a shared GPU where isolation is asked for",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "Pods that share a GPU have no memory or faults of their own, and their speed depends "
            "on each other.",
     .fix = "ask for a MIG slice or a whole GPU, or run it in another namespace."},
    observe,
    false};

}  // namespace rankward::admission
