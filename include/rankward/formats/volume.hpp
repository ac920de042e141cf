// PersistentVolumes as the API server writes them. Read as objects.hpp says.
#pragma once

#include <string_view>

#include "rankward/kube/volume.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

[[nodiscard]] Result<kube::PersistentVolume> read_persistent_volume(std::string_view json);

}  // namespace rankward::formats
