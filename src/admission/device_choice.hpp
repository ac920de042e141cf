// What a variable by which a runtime picks devices chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "rankward/kube/pod.hpp"
#include "rule.hpp"

namespace rankward::admission {

enum class Choice : std::uint8_t { kNothing, kDevices, kUnknown };

// As the NVIDIA runtime reads the value: a list at commas, blanks around entries aside; nothing at
// all where it is empty or `void` is among the entries, no devices where it is `none`. Source:
// nvidia-container-toolkit internal/config/image.
[[nodiscard]] Choice choice(const kube::EnvVar& variable);

// Whether the value is known only to the kubelet: by valueFrom, or with a `$(NAME)` in it.
[[nodiscard]] bool is_hidden(const kube::EnvVar& variable);

// Name -> index of the variable that counts, where `wanted(name)`: of variables with one name the
// last one.
template <class Wanted>
[[nodiscard]] std::map<std::string_view, std::size_t> variables_of(const kube::Container& container,
                                                                   Wanted wanted) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < container.env.size(); ++i)
    if (wanted(std::string_view(container.env[i].name))) last[container.env[i].name] = i;
  return last;
}

// `set resources.limits "amd.com/gpu"`: the request that the variable stands in for; of several
// vendors, or none, the commonest one.
[[nodiscard]] std::string request_instead_of(const Policy& policy, std::string_view variable);

// At that variable, `what` without an ending: `containers[0] "train": NAME="all"`.
[[nodiscard]] Observation observe_variable(const PodFacts& pod, const ContainerFacts& container,
                                           std::size_t index);

}  // namespace rankward::admission
