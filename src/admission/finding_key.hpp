// What makes two findings the same, in a form that sorts.
#pragma once

#include <string_view>
#include <tuple>

#include "rankward/admission/finding.hpp"

namespace rankward::admission {

using FindingKey =
    std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

// Refers to the finding's strings.
[[nodiscard]] inline FindingKey key_of(const Finding& finding) {
  return {finding.rule, finding.container, finding.subject, finding.value};
}

}  // namespace rankward::admission
