// YAML of generated objects: text that stays readable, long expressions as blocks.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rankward::commands {

// In quotes where YAML would read it as something else than this text.
[[nodiscard]] std::string yaml_scalar(std::string_view text);
// `[a, b]`.
[[nodiscard]] std::string yaml_list(std::span<const std::string> texts);
// `KEY: TEXT` with a line break at its end; a block where TEXT has several lines. `first` is what
// stands before KEY: blanks, or blanks and `- `.
[[nodiscard]] std::string yaml_field(std::string_view first, std::string_view key,
                                     std::string_view text);
// Lines of at most 100 characters that begin with the indent and `# `.
[[nodiscard]] std::string yaml_comment(std::string_view text, std::string_view indent = {});

}  // namespace rankward::commands
