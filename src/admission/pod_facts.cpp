#include "pod_facts.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "rankward/admission/host_path.hpp"
#include "rankward/kube/scheduling.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

std::string indexed(std::string_view list, std::size_t index) {
  std::string out(list);
  out.append("[").append(std::to_string(index)).append("]");
  return out;
}

std::string labelled(std::string out, std::string_view name) {
  if (!name.empty()) out.append(" ").append(in_quotes(name));
  return out;
}

bool is_positive_amount(const std::string* text) {
  if (text == nullptr) return false;
  const auto amount = kube::Quantity::parse(*text);
  return amount && amount->sign() > 0;
}

bool asks_for_vendor_option(const Policy& policy, const kube::Container& container) {
  if (policy.options().vendors.empty()) return false;
  const auto asks = [&](const kube::ResourceList& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
      return entry.second.sign() > 0 && policy.is_vendor_resource(entry.first);
    });
  };
  return asks(container.resources.limits) || asks(container.resources.requests);
}

// KAI-Scheduler grants a fraction by pod annotations, to the first container unless one is named.
// Source: KAI-Scheduler pkg/common/constants, docs/gpu-sharing.
bool holds_kai_fraction(const kube::ObjectMeta& metadata, const kube::Container& container,
                        bool is_first) {
  const kube::StringMap& annotations = metadata.annotations;
  if (!is_positive_amount(kube::find(annotations, "gpu-fraction")) &&
      !is_positive_amount(kube::find(annotations, "gpu-memory")))
    return false;
  const std::string* named = kube::find(annotations, "gpu-fraction-container-name");
  return named != nullptr ? container.name == *named : is_first;
}

// Runtimes take capability names with and without the prefix, in any case.
bool is_capability(std::string_view written, std::string_view wanted) {
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; };
  const auto equal = [&](std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  };
  if (written.size() > 4 && equal(written.substr(0, 4), "CAP_")) written.remove_prefix(4);
  return equal(written, wanted);
}

std::string_view privilege_of(const kube::Container& container) {
  if (container.privileged.value_or(false)) return "privileged";
  for (const std::string_view wanted : std::array<std::string_view, 2>{"SYS_ADMIN", "ALL"})
    for (const std::string& added : container.capabilities_added)
      if (is_capability(added, wanted)) return wanted;
  return {};
}

// A label that is asked to be "false" leads away from GPU nodes.
bool asks_for_label(const kube::NodeSelectorRequirement& requirement) {
  if (requirement.op == "NotIn" || requirement.op == "DoesNotExist") return false;
  return requirement.op != "In" ||
         std::any_of(requirement.values.begin(), requirement.values.end(),
                     [](const std::string& value) { return value != "false"; });
}

std::optional<NodeAim> selected_gpu_nodes(const Policy& policy, const kube::PodSpec& spec) {
  for (const auto& [key, value] : spec.node_selector)
    if (value != "false" && policy.is_gpu_node_label(key))
      return NodeAim{"nodeSelector[" + in_quotes(key, key.size()) + "]", key};
  if (!spec.required_node_affinity) return std::nullopt;
  const std::vector<kube::NodeSelectorTerm>& terms = *spec.required_node_affinity;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& expressions = terms[i].match_expressions;
    for (std::size_t j = 0; j < expressions.size(); ++j) {
      if (!asks_for_label(expressions[j]) || !policy.is_gpu_node_label(expressions[j].key))
        continue;
      return NodeAim{"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." +
                         indexed("nodeSelectorTerms", i) + "." + indexed("matchExpressions", j),
                     expressions[j].key};
    }
  }
  return std::nullopt;
}

std::optional<NodeAim> tolerated_gpu_nodes(const Policy& policy, const kube::PodSpec& spec) {
  for (std::size_t i = 0; i < spec.tolerations.size(); ++i)
    if (policy.is_gpu_toleration_key(spec.tolerations[i].key))
      return NodeAim{indexed("tolerations", i), spec.tolerations[i].key, true};
  return std::nullopt;
}

}  // namespace

PodFacts::PodFacts(const Policy& policy, const Subject& subject)
    : policy_(policy), subject_(subject) {
  const kube::PodSpec& pod = subject.spec;
  containers_.reserve(pod.containers.size() + pod.init_containers.size() +
                      pod.ephemeral_containers.size());
  add_containers(pod.containers, kube::ContainerKind::kRegular, "containers");
  add_containers(pod.init_containers, kube::ContainerKind::kInit, "initContainers");
  add_containers(pod.ephemeral_containers, kube::ContainerKind::kEphemeral, "ephemeralContainers");
  add_volumes();
  add_mounts();
}

void PodFacts::add_containers(const std::vector<kube::Container>& containers,
                              kube::ContainerKind kind, std::string_view list) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const kube::Container& container = containers[i];
    ContainerFacts facts;
    facts.container = &container;
    facts.kind = kind;
    facts.path = indexed(list, i);
    facts.label = labelled(facts.path, container.name);
    const bool is_first = kind == kube::ContainerKind::kRegular && i == 0;
    facts.asks_for_gpu = kube::asks_for_accelerator(container) ||
                         asks_for_vendor_option(policy_, container) ||
                         holds_kai_fraction(subject_.metadata, container, is_first);
    facts.privilege = privilege_of(container);
    containers_.push_back(std::move(facts));
  }
}

void PodFacts::add_volumes() {
  for (std::size_t i = 0; i < spec().volumes.size(); ++i) {
    const kube::Volume& volume = spec().volumes[i];
    if (!volume.host_path) continue;
    HostPathUse use;
    use.volume = i;
    use.field = indexed("volumes", i) + ".hostPath.path";
    use.label = labelled(indexed("volumes", i), volume.name);
    use.written = volume.host_path->path;
    use.canonical = canonical_host_path(use.written);
    use.unclean = lexically_clean(use.written) != use.written;
    host_paths_.push_back(std::move(use));
  }
}

HostPathUse PodFacts::use_of(const ContainerFacts& container, std::size_t mount,
                             std::size_t volume) const {
  const kube::VolumeMount& mounted = container.container->volume_mounts[mount];
  HostPathUse use;
  use.volume = volume;
  use.container = &container;
  use.mount = &mounted;
  use.field = container.path + "." + indexed("volumeMounts", mount);
  use.label = container.label;
  use.written = spec().volumes[volume].host_path->path;
  use.any_below = !mounted.sub_path_expr.empty();
  if (!mounted.sub_path.empty()) {
    use.field += ".subPath";
    use.unclean = lexically_clean(mounted.sub_path) != "/" + mounted.sub_path;
    if (use.written.empty() || use.written.back() != '/') use.written += '/';
    use.written += mounted.sub_path;
  } else if (use.any_below) {
    use.field += ".subPathExpr";
  }
  use.canonical = canonical_host_path(use.written);
  return use;
}

void PodFacts::add_mounts() {
  std::unordered_map<std::string_view, std::size_t> volumes;
  for (std::size_t i = 0; i < spec().volumes.size(); ++i)
    if (spec().volumes[i].host_path) volumes.emplace(spec().volumes[i].name, i);
  mounts_.resize(spec().volumes.size());
  for (const ContainerFacts& container : containers_) {
    for (std::size_t i = 0; i < container.container->volume_mounts.size(); ++i) {
      const auto volume = volumes.find(container.container->volume_mounts[i].name);
      if (volume == volumes.end()) continue;
      HostPathUse use = use_of(container, i, volume->second);
      if (use.any_below || !use.mount->sub_path.empty()) host_paths_.push_back(use);
      mounts_[volume->second].push_back(std::move(use));
    }
  }
}

bool PodFacts::any_container_asks() const {
  return std::any_of(containers_.begin(), containers_.end(),
                     [](const ContainerFacts& container) { return container.asks_for_gpu; });
}

std::optional<NodeAim> PodFacts::node_aim() const {
  auto selected = selected_gpu_nodes(policy_, spec());
  return selected ? selected : tolerated_gpu_nodes(policy_, spec());
}

bool PodFacts::aims_at_gpu_nodes() const {
  return is_gpu_pod() || !spec().node_name.empty() || node_aim().has_value();
}

std::string PodFacts::field(std::string_view below_spec) const {
  return place_in_object("spec." + std::string(below_spec));
}

std::string PodFacts::metadata_field(std::string_view below_metadata) const {
  return place_in_object("metadata" + std::string(below_metadata));
}

std::string PodFacts::place_in_object(const std::string& in_pod) const {
  const PlacedField* best = nullptr;
  if (subject_.placed != nullptr) {
    for (const PlacedField& placed : *subject_.placed) {
      const std::size_t size = placed.in_pod.size();
      if (in_pod.compare(0, size, placed.in_pod) != 0) continue;
      const char next = in_pod.size() > size ? in_pod[size] : '.';
      const bool whole_segment = next == '.' || next == '[';
      if (whole_segment && (best == nullptr || size > best->in_pod.size())) best = &placed;
    }
  }
  if (best != nullptr) return best->in_object + in_pod.substr(best->in_pod.size());
  return subject_.path_prefix.empty() ? in_pod : subject_.path_prefix + "." + in_pod;
}

}  // namespace rankward::admission
