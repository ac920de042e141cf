#include "availability.hpp"

#include "rankward/kube/scheduling.hpp"

namespace rankward::placement {

namespace {

constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

// A cordoned node takes pods that tolerate the taint of that name, as the NodeUnschedulable plugin
// has it.
bool tolerates_cordon(const kube::PodSpec& spec) {
  kube::Node cordoned;
  cordoned.taints.push_back({std::string(kUnschedulableTaint), "", "NoSchedule"});
  return !kube::untolerated_taint(spec, cordoned);
}

// A product that matched but for its suffix is the usual surprise with exact matching.
std::string with_product_hint(std::string failed, const kube::Node& node) {
  const std::string* product = kube::find(node.metadata.labels, "nvidia.com/gpu.product");
  if (product != nullptr && product->ends_with("-SHARED") &&
      failed.find("nvidia.com/gpu.product") != std::string::npos) {
    failed += "; the node's product has the suffix -SHARED, its GPUs are shared";
  }
  return failed;
}

// Judged by the device checks instead.
bool is_device(std::string_view name) {
  return kube::is_accelerator(name) || kube::is_rdma(name);
}

}  // namespace

std::optional<std::string> closed_to(const kube::PodSpec& spec, const kube::Node& node) {
  if (node.ready == kube::Readiness::kNotReady) return "not ready";
  if (node.unschedulable && !tolerates_cordon(spec)) return "cordoned";
  if (const auto taint = kube::untolerated_taint(spec, node)) return "taint " + *taint;
  if (const auto failed = kube::failing_selector(spec, node)) {
    return with_product_hint(*failed + " does not hold", node);
  }
  return std::nullopt;
}

std::optional<std::string> short_of(const Request& request, const NodeState& node) {
  const auto missing = [&node](const std::string& name, const kube::Quantity& need) {
    const auto has = node.node->allocatable.find(name);
    if (has == node.node->allocatable.end()) return true;
    // Added up exactly: CPU comes in thousandths.
    kube::Quantity sum = need;
    const auto used = node.used.find(name);
    if (used != node.used.end()) sum += used->second;
    return sum > has->second;
  };
  for (const auto& [name, need] : request.resources) {
    if (need.sign() > 0 && !is_device(name) && missing(name, need)) return name;
  }
  // Inventories written by hand often leave out how many pods a node takes.
  if (node.node->allocatable.count("pods") != 0 && missing("pods", kube::Quantity(1))) {
    return "pods";
  }
  return std::nullopt;
}

}  // namespace rankward::placement
