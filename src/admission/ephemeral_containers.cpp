// EPH-01: ephemeral containers are judged by every rule; this entry's mode is the strictest that
// such a finding may lead to. find.cpp applies it.
#include "rule.hpp"

namespace rankward::admission {

extern const Rule kEphemeralContainers;
const Rule kEphemeralContainers{
    {.id = "EPH-01",
     .title = "every rule, for a new ephemeral container",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "A debug container can be added to any running pod, and it reaches devices by the same "
            "ways as the others.",
     .fix = "follow the rule that is named; to debug a GPU pod start the debug container without "
            "device variables and privileges.",
     .exemptible = false},
    nullptr};

}  // namespace rankward::admission
