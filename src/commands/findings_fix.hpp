// `--fix-hints`: the lines of a manifest that make a finding go away.
#pragma once

#include <string>

#include "rankward/admission/finding.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::commands {

// Lines of YAML from the object's root down, each choice under a line that says when it is right;
// entries of lists are given by their names. Where no change is right by rote, one line that says
// so and where to read on. Takes nothing from the finding but its path, its names and the
// resource that its own text recommends.
[[nodiscard]] std::string fix_hint(const admission::Policy& policy,
                                   const admission::Finding& finding);

}  // namespace rankward::commands
