// Findings as the lines that people read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/finding.hpp"

namespace rankward::admission {

// A line a finding, the reason and the remedy once for findings that share them; at most
// kMessageLength characters. Where that is too little the reasons go first, then the remedies, then
// the last findings, which are counted.
[[nodiscard]] std::string denial_message(std::span<const Finding* const> denying,
                                         std::span<const Finding* const> warning);

// The same lines under `heading` (none where empty), each cut at blanks into warnings of at most
// kWarningLength characters, kWarningsLength in all.
[[nodiscard]] std::vector<std::string> warning_lines(std::string_view heading,
                                                     std::span<const Finding* const> findings);

}  // namespace rankward::admission
