// One short-lived program: what it printed.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::cluster {

struct Program {
  std::string command;  // looked up in PATH unless it has a slash
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // replaces or adds to our own
  std::chrono::milliseconds timeout{60'000};
  std::size_t max_output_bytes = std::size_t{1} << 20;
};

// Standard output of the program, when it exits with 0. Its input is empty, its standard error is
// ours, and it starts with no signal blocked. On timeout, too much output or stop it is killed with
// the process group that it leads. kNotFound where there is no such program, else kUnavailable.
[[nodiscard]] Result<std::string> run_program(const Program& program, std::stop_token stop);

}  // namespace rankward::cluster
