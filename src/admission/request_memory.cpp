// REQ-02: the memory that a pod says it needs per GPU, against what the slice that it asks for has.
// A profile's name is no size: 1g.18gb of an H200 has 16.00 GiB.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rankward/kube/rankward_keys.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rankward/topology/sources.hpp"
#include "rankward/topology/units.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using topology::Bytes;
using topology::SliceMemory;

constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";
constexpr std::string_view kSometimesWhy =
    "The size behind the name differs between GPU models, and only some of them have that much.";
constexpr std::string_view kSometimesFix =
    "take a larger profile, or select the model by the node label \"nvidia.com/gpu.product\".";

// The models that the pod can land on, where it says so: by node selector, or by every term of its
// required affinity, since the terms are alternatives.
std::vector<std::string_view> products(const kube::PodSpec& spec) {
  if (const std::string* product = kube::find(spec.node_selector, kProductLabel)) return {*product};
  std::vector<std::string_view> out;
  if (!spec.required_node_affinity) return out;
  for (const kube::NodeSelectorTerm& term : *spec.required_node_affinity) {
    const auto named =
        std::find_if(term.match_expressions.begin(), term.match_expressions.end(),
                     [](const kube::NodeSelectorRequirement& requirement) {
                       return requirement.key == kProductLabel && requirement.op == "In";
                     });
    if (named == term.match_expressions.end()) return {};
    out.insert(out.end(), named->values.begin(), named->values.end());
  }
  return out;
}

// Over those models; nothing where the size of one of them has not been published.
std::optional<SliceMemory> memory_on(const std::vector<std::string_view>& models,
                                     std::string_view profile) {
  std::optional<SliceMemory> range;
  for (const std::string_view model : models) {
    const auto size = topology::measured_slice_memory(model, profile);
    if (!size) return std::nullopt;
    if (!range) range = SliceMemory{*size, *size};
    range->least = std::min(range->least, *size);
    range->most = std::max(range->most, *size);
  }
  return range;
}

std::optional<SliceMemory> memory_of_profile(const kube::PodSpec& spec, std::string_view profile) {
  const std::vector<std::string_view> models = products(spec);
  return models.empty() ? topology::measured_slice_memory(profile) : memory_on(models, profile);
}

std::optional<SliceMemory> mebibytes(const kube::Quantity& amount) {
  Bytes size;
  if (amount.sign() <= 0 ||
      __builtin_mul_overflow(amount.value(), topology::kMebibyte, &size.count))
    return std::nullopt;
  return SliceMemory{size, size};
}

// A slice of a GPU's memory by its resource: a MIG device, which its replicas share, or HAMi's
// part of a GPU in MiB. A replica of a whole GPU has no size of its own.
// Source: Project-HAMi/HAMi docs, device memory by `nvidia.com/gpumem`.
std::optional<SliceMemory> memory_of(const kube::PodSpec& spec, std::string_view resource,
                                     const kube::Quantity& amount) {
  if (const auto profile = kube::mig_profile(resource)) return memory_of_profile(spec, *profile);
  if (resource == "nvidia.com/gpumem") return mebibytes(amount);
  return std::nullopt;
}

void observe_slice(const PodFacts& pod, const ContainerFacts& container, std::string_view resource,
                   Bytes need, const SliceMemory& has, Observations& out) {
  if (need <= has.least) return;
  const std::string& written = pod.subject().metadata.annotations.find(kube::kGpuMemoryKey)->second;
  const bool anywhere = need <= has.most;
  Observation found;
  found.field = pod.metadata_field(".annotations[\"rankward.io/gpu-memory\"]");
  found.container = container.container->name;
  found.subject = resource;
  found.value = written;
  found.what = container.label + ": needs " + in_quotes(written) + " a GPU, " +
               topology::to_string(need) + ", but " + std::string(resource) + " has ";
  if (anywhere) {
    found.what += "from " + topology::to_string(has.least) + " to " + topology::to_string(has.most);
    found.why = kSometimesWhy;
    found.fix = kSometimesFix;
  } else {
    found.what += (has.least == has.most ? "" : "at most ") + topology::to_string(has.most);
  }
  found.what += ".";
  out.push_back(std::move(found));
}

void observe(const PodFacts& pod, Observations& out) {
  const std::string* written = kube::find(pod.subject().metadata.annotations, kube::kGpuMemoryKey);
  // A value in another form is KEY-01's.
  const auto need = written == nullptr ? std::nullopt : kube::annotated_bytes(*written);
  if (!need) return;
  for (const ContainerFacts& container : pod.containers()) {
    kube::ResourceList asked = container.container->resources.limits;
    for (const auto& [name, amount] : container.container->resources.requests)
      asked.insert_or_assign(name, amount);
    for (const auto& [name, amount] : asked) {
      if (amount.sign() <= 0) continue;
      const auto has = memory_of(pod.spec(), name, amount);
      if (has) observe_slice(pod, container, name, Bytes{*need}, *has, out);
    }
  }
}

}  // namespace

extern const Rule kRequestMemory;
const Rule kRequestMemory{
    {.id = "REQ-02",
     .title = "a need of memory that the slice does not have",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "The number in a profile's name is no size: what it has is smaller, and the program "
            "would run out of memory.",
     .fix = "take a larger profile or a whole GPU, or correct rankward.io/gpu-memory."},
    observe,
    false};

}  // namespace rankward::admission
