// The forms of options that Policy::make demands.
#pragma once

#include "rankward/admission/policy.hpp"

namespace rankward::admission {

// Errors name the field from the options' root: `vendors[0].devicePaths[1]`.
[[nodiscard]] Result<void> check_vendors(const PolicyOptions& options);
[[nodiscard]] Result<void> check_allowed_host_paths(const PolicyOptions& options);
[[nodiscard]] Result<void> check_fabric_tests(const FabricTestOptions& options);

}  // namespace rankward::admission
