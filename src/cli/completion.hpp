// Shell completion from the tree of options, so that it cannot fall behind.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace rankward::cli {

// `shell` is bash, zsh or fish.
[[nodiscard]] std::string completion_script(const CLI::App& app, std::string_view shell);

}  // namespace rankward::cli
