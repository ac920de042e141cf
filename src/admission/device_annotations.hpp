// Annotations by which a runtime plugin adds devices to a container.
#pragma once

#include "vendors.hpp"

namespace rankward::admission {

// A key is PREFIX or PREFIX/NAME, where `*` stands for a part of the domain.
inline constexpr auto kDeviceAnnotationDomains = of_all_vendors<&Vendor::annotations>();

}  // namespace rankward::admission
