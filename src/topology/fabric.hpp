#pragma once

#include "rankward/kube/meta.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology {

[[nodiscard]] FabricPosition fabric_position(const kube::StringMap& labels,
                                             const LabelOptions& options);

}  // namespace rankward::topology
