#include <string_view>

#include "rankward/kube/scheduling.hpp"

namespace rankward::kube {
namespace {

// The API server copies a limit into the request that is not written.
ResourceList requests_of(const ResourceRequirements& resources) {
  ResourceList out = resources.requests;
  out.insert(resources.limits.begin(), resources.limits.end());
  return out;
}

void add(ResourceList& sum, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [it, inserted] = sum.try_emplace(name, amount);
    if (!inserted) it->second += amount;
  }
}

void raise(ResourceList& most, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    const auto [it, inserted] = most.try_emplace(name, amount);
    if (!inserted && amount > it->second) it->second = amount;
  }
}

constexpr std::string_view kHugePages = "hugepages-";

bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with(kHugePages);
}

}  // namespace

ResourceList effective_requests(const PodSpec& spec) {
  ResourceList running;
  for (const Container& container : spec.containers)
    add(running, requests_of(container.resources));

  // An init container runs beside the sidecars that were started before it.
  ResourceList sidecars;
  ResourceList starting;
  for (const Container& container : spec.init_containers) {
    ResourceList requests = requests_of(container.resources);
    if (container.restart_policy == "Always") {
      add(running, requests);
      add(sidecars, requests);
      raise(starting, sidecars);
    } else {
      add(requests, sidecars);
      raise(starting, requests);
    }
  }
  raise(running, starting);

  // A pod-level limit stands in for the request where neither the pod nor its containers have one;
  // of huge pages, where the pod has none, since requests and limits are one there.
  for (const auto& [name, amount] : spec.pod_resources.limits) {
    if (name.starts_with(kHugePages)) running.insert_or_assign(name, amount);
    if (is_pod_level(name)) running.try_emplace(name, amount);
  }
  for (const auto& [name, amount] : spec.pod_resources.requests) {
    if (is_pod_level(name)) running.insert_or_assign(name, amount);
  }
  add(running, spec.overhead);
  return running;
}

std::optional<Quantity> container_request(const Container& container,
                                          std::string_view resource_name) {
  for (const ResourceList* list : {&container.resources.requests, &container.resources.limits}) {
    if (const auto it = list->find(resource_name); it != list->end()) return it->second;
  }
  return std::nullopt;
}

}  // namespace rankward::kube
