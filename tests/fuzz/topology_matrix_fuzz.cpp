// `nvidia-smi topo -m`: never a crash; shapes are right, paths and NVLinks agree, and what is read
// can be published as it is.
#include "fuzz_input.hpp"
#include "rankward/formats/topology_annotation.hpp"
#include "rankward/formats/topology_matrix.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  using rankward::fuzz::check;
  using rankward::topology::PathType;
  const std::string_view text = rankward::fuzz::text_of(data, size);
  static_cast<void>(formats::is_topology_matrix(text));
  const auto node = formats::read_topology_matrix(text);
  if (!node) {
    check(node.error().line().has_value() || size > formats::kMaxMatrixBytes);
    return 0;
  }
  const std::size_t gpus = node->gpus.size();
  check(gpus > 0 && gpus + node->nics.size() <= formats::kMaxMatrixColumns);
  check(node->gpu_paths.size() == gpus * gpus);
  check(node->nvlinks.empty() || node->nvlinks.size() == gpus * gpus);
  check(node->nic_paths.size() == gpus * node->nics.size());
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = 0; b < gpus; ++b) {
      check((node->gpu_path(a, b) == PathType::kSelf) == (a == b));
      check((node->gpu_path(a, b) == PathType::kNvLink) == (node->nvlink_count(a, b) > 0));
    }
  }
  const auto printed = formats::print_topology(*node);
  if (!printed) return 0;
  const auto again = formats::read_topology(*printed);
  check(again.has_value() && again->gpu_paths == node->gpu_paths &&
        again->nic_paths == node->nic_paths);
  return 0;
}
