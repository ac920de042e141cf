// SELF-01 on the wire: reviews of ConfigMaps that hold our configuration, and of Namespaces.
#pragma once

#include "rankward/admission/policy.hpp"
#include "rankward/admission/self_guard.hpp"
#include "rankward/formats/review.hpp"
#include "rankward/result.hpp"

namespace rankward::server {

// Whether the object is one that the guard looks at.
[[nodiscard]] bool is_guarded(const formats::GroupVersionKind& kind);

// An error where the object cannot be read, though the API server has read it.
[[nodiscard]] Result<admission::Judgement> guard(const admission::Policy& policy,
                                                 const formats::AdmissionRequest& request);

}  // namespace rankward::server
