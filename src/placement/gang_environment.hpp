// How many pods a gang has, by what its controller wrote into the containers' environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rankward/kube/pod.hpp"

namespace rankward::placement {

// Of a pod that the framework of this kind (the second part of GangRef::key) has made. Pods, never
// processes. Nothing where no literal value says it, or a range (elastic).
[[nodiscard]] std::optional<std::int32_t> size_by_environment(const kube::Pod& pod,
                                                              std::string_view kind);

}  // namespace rankward::placement
