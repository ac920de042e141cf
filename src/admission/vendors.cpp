#include "vendors.hpp"

#include <string>
#include <vector>

#include "rankward/admission/policy.hpp"

namespace rankward::admission {
namespace {

template <auto kList>
std::vector<std::string> strings() {
  constexpr auto kNames = of_all_vendors<kList>();
  return {kNames.begin(), kNames.end()};
}

}  // namespace

std::vector<std::string> known_runtime_classes() {
  return strings<&Vendor::runtime_classes>();
}

std::vector<std::string> known_device_variables() {
  return strings<&Vendor::env_names>();
}

std::vector<std::string> known_gpu_node_labels() {
  return strings<&Vendor::node_labels>();
}

std::vector<std::string> known_gpu_toleration_keys() {
  return strings<&Vendor::toleration_keys>();
}

}  // namespace rankward::admission
