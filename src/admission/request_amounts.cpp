// REQ-01: amounts of accelerators that Kubernetes refuses, that no node has, or that are no
// request. The API server checks them in pods and in the templates of its own kinds before any
// webhook is called; templates inside custom resources are checked by nobody until their pods are
// made. Source: k8s.io/kubernetes pkg/apis/core/validation (ValidateResourceRequirements).
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "rankward/kube/scheduling.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using kube::DeviceKind;
using kube::Quantity;

constexpr std::string_view kRefusedWhy =
    "Kubernetes takes whole devices, with requests equal to limits, so it refuses the pod.";
constexpr std::string_view kZeroWhy =
    "0 is no request: nothing is reserved, and an image that names its own devices may still see "
    "every GPU of its node.";
constexpr std::string_view kZeroFix = "ask for at least 1, or drop the line.";
constexpr std::string_view kTooManyWhy =
    "A pod runs on one node, so this one waits until a node that large joins the cluster.";
constexpr std::string_view kTooManyFix =
    "ask for what one node has, and split the work over several pods.";
constexpr std::string_view kClaimWhy =
    "Kubernetes refuses a container that refers to a claim which its pod does not have.";
constexpr std::string_view kClaimFix =
    "write the name of one of the pod's resourceClaims, or add the claim there.";
constexpr std::string_view kMixedWhy =
    "A program gets either whole GPUs or slices: a process that sees a MIG device sees no other "
    "GPU.";
constexpr std::string_view kMixedFix =
    "ask for one kind in a container; put the other into a container or pod of its own.";

// As the API server: the value in thousandths, rounded up, has to be whole. 0.9999 passes as 1.
bool is_whole(const Quantity& amount) {
  return amount.milli_value_overflows() || amount.milli_value() % 1000 == 0;
}

const Quantity* find(const kube::ResourceList& list, std::string_view name) {
  const auto found = list.find(name);
  return found == list.end() ? nullptr : &found->second;
}

std::string entry(std::string_view list, std::string_view name) {
  return std::string(list) + "[" + in_quotes(name, name.size()) + "]";
}

// One container while it is looked at.
struct Look {
  const PodFacts& pod;
  const ContainerFacts& container;
  Observations& out;

  [[nodiscard]] const kube::ResourceRequirements& resources() const {
    return container.container->resources;
  }

  // `below`: the field below `resources`.
  Observation& add(const std::string& below, std::string_view subject, std::string value,
                   std::string text) const {
    Observation found;
    found.field = pod.field(container.path + ".resources" + (below.empty() ? "" : "." + below));
    found.container = container.container->name;
    found.subject = subject;
    found.value = std::move(value);
    found.what = container.label + ": " + std::move(text);
    out.push_back(std::move(found));
    return out.back();
  }
};

std::string amount_of(std::string_view name, const Quantity& amount) {
  return std::string(name) + ": " + amount.to_string();
}

// Whether something is wrong with the number itself, so that comparing it says nothing more.
bool observe_number(const Look& look, std::string_view list, std::string_view name,
                    const Quantity* amount) {
  if (amount == nullptr) return false;
  const bool negative = amount->sign() < 0;
  if (!negative && is_whole(*amount)) return false;
  look.add(entry(list, name), name, amount->to_string(),
           amount_of(name, *amount) + " in " + std::string(list) + " is " +
               (negative ? "negative." : "no whole number."))
      .why = kRefusedWhy;
  return true;
}

void observe_pair(const Look& look, std::string_view name) {
  const Quantity* request = find(look.resources().requests, name);
  const Quantity* limit = find(look.resources().limits, name);
  bool wrong = observe_number(look, "limits", name, limit);
  // One number that stands in both places is one mistake.
  if (request != nullptr && (limit == nullptr || *request != *limit || !wrong))
    wrong = observe_number(look, "requests", name, request) || wrong;
  if (wrong || request == nullptr) return;
  if (limit == nullptr) {
    look.add(entry("requests", name), name, request->to_string(),
             amount_of(name, *request) + " is requested without a limit.")
        .why = kRefusedWhy;
  } else if (*request != *limit) {
    look.add(entry("requests", name), name, request->to_string() + "/" + limit->to_string(),
             std::string(name) + ": requests " + request->to_string() + " but limits " +
                 limit->to_string() + ".")
        .why = kRefusedWhy;
  }
}

// A container that asks for some other accelerator says with a 0 that it means no more.
void observe_zero(const Look& look, const std::set<std::string_view>& names) {
  if (look.container.asks_for_gpu) return;
  for (const std::string_view name : names) {
    const Quantity* limit = find(look.resources().limits, name);
    const Quantity* request = find(look.resources().requests, name);
    const Quantity& amount = limit != nullptr ? *limit : *request;
    if (!amount.is_zero()) continue;
    Observation& found = look.add(entry(limit != nullptr ? "limits" : "requests", name), name, "0",
                                  std::string(name) + ": 0 is no request.");
    found.why = kZeroWhy;
    found.fix = kZeroFix;
  }
}

// nullptr for what may stand beside any of the others.
const char* family(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kWholeGpu:
      return "whole GPUs";
    case DeviceKind::kMigSlice:
      return "MIG slices";
    case DeviceKind::kSharedSlice:
      return "shared slices";
    case DeviceKind::kNone:
    case DeviceKind::kFraction:
    case DeviceKind::kDraClass:
      return nullptr;
  }
  return nullptr;
}

void observe_mixture(const Look& look, const std::set<std::string_view>& names) {
  std::set<std::string_view> families;
  std::string listed;
  for (const std::string_view name : names) {
    const auto amount = kube::container_request(*look.container.container, name);
    const char* kind = family(kube::device_kind(name));
    if (kind == nullptr || !amount || amount->sign() <= 0) continue;
    families.insert(kind);
    if (!listed.empty()) listed += ", ";
    listed += name;
  }
  if (families.size() < 2) return;
  std::string kinds;
  for (const std::string_view kind : families)
    kinds.append(kinds.empty() ? "" : " and ").append(kind);
  Observation& found =
      look.add("", "mixture", listed, kinds + " in one container (" + listed + ").");
  found.why = kMixedWhy;
  found.fix = kMixedFix;
}

// `limits["nvidia.com/gpu"]` -> nvidia.com/gpu
std::string_view resource_in(std::string_view field) {
  const std::size_t begin = field.find("[\"");
  const std::size_t end = field.rfind("\"]");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 2)
    return {};
  return field.substr(begin + 2, end - begin - 2);
}

void observe_unreadable(const Look& look) {
  for (const kube::UnreadableAmount& amount : look.resources().unreadable) {
    const std::string_view name = resource_in(amount.field);
    if (!kube::is_accelerator(name)) continue;
    look.add(amount.field, name, amount.literal,
             std::string(name) + ": " + in_quotes(amount.literal) + " is no amount.")
        .why = kRefusedWhy;
  }
}

// A claim of a container is the name of one of its pod's.
void observe_claims(const Look& look) {
  const auto& known = look.pod.spec().resource_claims;
  for (const std::string& name : look.resources().claims) {
    const bool found = std::any_of(known.begin(), known.end(),
                                   [&](const auto& claim) { return claim.name == name; });
    if (found) continue;
    Observation& lost = look.add("claims", "claims", name,
                                 "claim " + in_quotes(name) + " is not in spec.resourceClaims.");
    lost.why = kClaimWhy;
    lost.fix = kClaimFix;
  }
}

void observe_container(const PodFacts& pod, const ContainerFacts& container, Observations& out) {
  const Look look{pod, container, out};
  std::set<std::string_view> names;
  for (const auto* list : {&look.resources().limits, &look.resources().requests})
    for (const auto& [name, amount] : *list)
      if (kube::is_accelerator(name)) names.insert(name);
  observe_unreadable(look);
  observe_claims(look);
  for (const std::string_view name : names)
    observe_pair(look, name);
  observe_zero(look, names);
  observe_mixture(look, names);
}

// The container that asks for most of it is the one to look at.
const ContainerFacts* largest_asker(const PodFacts& pod, std::string_view name) {
  const ContainerFacts* largest = nullptr;
  Quantity most;
  for (const ContainerFacts& container : pod.containers()) {
    const auto amount = kube::container_request(*container.container, name);
    if (!amount || *amount <= most) continue;
    most = *amount;
    largest = &container;
  }
  return largest;
}

// A resource that no node has now may come with nodes that are started for it.
void observe_size(const PodFacts& pod, Observations& out) {
  const ClusterFacts* cluster = pod.subject().cluster;
  if (cluster == nullptr || !pod.any_container_asks()) return;
  for (const auto& [name, amount] : kube::effective_requests(pod.spec())) {
    const auto largest = cluster->largest_node.find(name);
    if (!kube::is_accelerator(name) || largest == cluster->largest_node.end()) continue;
    const ContainerFacts* container = largest_asker(pod, name);
    if (largest->second <= 0 || container == nullptr || amount.value() <= largest->second) continue;
    const std::string has = std::to_string(largest->second);
    Observation& found = Look{pod, *container, out}.add(
        entry(container->container->resources.limits.count(name) != 0 ? "limits" : "requests",
              name),
        name, amount.to_string() + ">" + has,
        "the pod asks for " + amount_of(name, amount) + ", and the largest node has " + has + ".");
    found.why = kTooManyWhy;
    found.fix = kTooManyFix;
  }
}

void observe(const PodFacts& pod, Observations& out) {
  for (const ContainerFacts& container : pod.containers())
    observe_container(pod, container, out);
  observe_size(pod, out);
}

}  // namespace

extern const Rule kRequestAmounts;
const Rule kRequestAmounts{
    {.id = "REQ-01",
     .title = "an amount of GPUs that no pod can get",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "The pod would be refused, wait for ever, or run without the GPU that it names.",
     .fix =
         "set resources.limits to the whole number of GPUs that the container uses, and requests "
         "to the same or to nothing."},
    observe,
    false};

}  // namespace rankward::admission
