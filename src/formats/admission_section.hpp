// The `admission` part of the configuration.
#pragma once

#include <string_view>
#include <vector>

#include "rankward/admission/policy.hpp"
#include "yaml_section.hpp"

namespace YAML {
class Emitter;
}

namespace rankward::formats {

// The keys that read_admission() knows.
[[nodiscard]] const std::vector<std::string_view>& admission_keys();

// Rule ids, modes and presets are checked by admission::Policy::make, which knows them.
void read_admission(YamlSection& section, admission::PolicyOptions& options);

// The members of the mapping; the caller opens and closes it.
void print_admission(YAML::Emitter& out, const admission::PolicyOptions& options);

}  // namespace rankward::formats
