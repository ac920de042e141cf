// Runs `check` and `scan` on texts and keeps what they print.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../temporary_folder.hpp"
#include "rankward/commands/check.hpp"
#include "rankward/commands/scan.hpp"

namespace rankward::commands {

class RunCommands : public ::testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view content) {
    return folder_.write(name, content);
  }

  int run_check(std::vector<std::string> files, CheckOptions options = {}) {
    clear();
    options.files = std::move(files);
    return check(options, console_);
  }
  int run_check_as(CheckForm form, std::vector<std::string> files) {
    CheckOptions options;
    options.output = form;
    return run_check(std::move(files), options);
  }
  int run_scan(std::string input, ScanOptions options = {}) {
    clear();
    options.file = std::move(input);
    return scan(options, console_);
  }
  int run_scan_as(ScanForm form, std::string input) {
    ScanOptions options;
    options.output = form;
    return run_scan(std::move(input), options);
  }

  // What comes next from standard input.
  void give_standard_input(std::string_view content) {
    ASSERT_NE(std::freopen(file("standard-input", content).c_str(), "r", stdin), nullptr);
  }

  void clear() {
    out_.str("");
    err_.str("");
  }

  TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, false};
};

// A pod that mounts a GPU's device node; the path stands in line 8.
inline constexpr std::string_view kDeviceMount = R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers: [{name: c, image: i}]
  volumes:
  - name: v
    hostPath: {path: /dev/nvidia0}
)";
inline constexpr std::string_view kHonest = R"(apiVersion: v1
kind: Pod
metadata: {name: honest, namespace: team-a}
spec: {containers: [{name: c, image: i}]}
)";

}  // namespace rankward::commands
