#include "device_choice.hpp"

#include <algorithm>

#include "text.hpp"
#include "vendors.hpp"

namespace rankward::admission {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// A `$(NAME)` that the kubelet would replace; `$$` stands for a plain `$`. Source:
// k8s.io/kubernetes third_party/forked/golang/expansion.
bool has_reference(std::string_view value) {
  for (std::size_t i = 0; i + 1 < value.size(); ++i) {
    if (value[i] != '$') continue;
    if (value[i + 1] == '(' && value.find(')', i + 2) != std::string_view::npos) return true;
    if (value[i + 1] == '$') ++i;
  }
  return false;
}

Choice choice_of_value(std::string_view value) {
  bool any = false;
  std::string_view rest = value;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = trimmed(rest.substr(0, comma));
    if (entry == "void") return Choice::kNothing;
    if (!entry.empty() && entry != "none") any = true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (!any) return Choice::kNothing;
  return has_reference(value) ? Choice::kUnknown : Choice::kDevices;
}

}  // namespace

Choice choice(const kube::EnvVar& variable) {
  return variable.value_from.empty() ? choice_of_value(variable.value) : Choice::kUnknown;
}

bool is_hidden(const kube::EnvVar& variable) {
  return !variable.value_from.empty() || has_reference(variable.value);
}

std::string request_instead_of(const Policy& policy, std::string_view variable) {
  std::string_view resource = "nvidia.com/gpu";
  if (const Vendor* vendor = vendor_of_variable(variable)) resource = vendor->resource;
  for (const VendorOption& vendor : policy.options().vendors) {
    const std::vector<std::string>& names = vendor.env_names;
    if (!vendor.resources.empty() && std::find(names.begin(), names.end(), variable) != names.end())
      resource = vendor.resources[0];
  }
  return "set resources.limits " + in_quotes(resource);
}

Observation observe_variable(const PodFacts& pod, const ContainerFacts& container,
                             std::size_t index) {
  const kube::EnvVar& variable = container.container->env[index];
  Observation out;
  out.field = pod.field(container.path + ".env[" + std::to_string(index) + "]");
  out.container = container.container->name;
  out.subject = variable.name;
  const bool literal = variable.value_from.empty();
  out.value = literal ? variable.value : "valueFrom." + variable.value_from;
  out.what = container.label + ": " + variable.name;
  out.what += literal ? "=" + in_quotes(variable.value) : " from " + in_quotes(variable.value_from);
  return out;
}

}  // namespace rankward::admission
