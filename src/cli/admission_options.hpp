// The options of `check` and `scan`.
#pragma once

#include <CLI/CLI.hpp>

#include "rankward/commands/check.hpp"
#include "rankward/commands/scan.hpp"

namespace rankward::cli {

// Both options outlive the App.
CLI::App& add_check(CLI::App& app, commands::CheckOptions& options);
CLI::App& add_scan(CLI::App& app, commands::ScanOptions& options);

}  // namespace rankward::cli
