// From findings to the answer to a review.
#pragma once

#include <string>
#include <string_view>

#include "rankward/admission/judge.hpp"

namespace rankward::admission {

// Fills in, from `findings` and `exempt`, everything else of the judgement. `workload_kind` is
// empty for a pod; `skipped` says why it was not judged, or nothing.
void complete(const Policy& policy, const std::string& workload_kind, std::string_view skipped,
              Judgement& judgement);

}  // namespace rankward::admission
