// Programs that load the fabric to measure it: nccl-tests, rccl-tests, perftest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/kube/pod.hpp"

namespace rankward::admission {

struct FabricTestProgram {
  std::string_view name;  // of the program, "all_reduce_perf", or the image's; views the container
  // Largest message in bytes: by its option, else its own default. Nothing where the option's value
  // cannot be read, and for an image alone.
  std::optional<std::int64_t> message_bytes;
  bool stated = false;  // by its option
  bool by_image = false;
};

// The first one that the container's command or arguments start, also inside a shell's text; else
// by the image's name.
[[nodiscard]] std::optional<FabricTestProgram> fabric_test_program(
    const kube::Container& container);

}  // namespace rankward::admission
