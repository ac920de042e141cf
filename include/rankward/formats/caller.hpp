// The other side of both wires: what kube-scheduler and kube-apiserver write and read. For the
// demo, the load generator and tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/kube/meta.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// ExtenderArgs with NodeNames. `pod_json` is written as it stands.
[[nodiscard]] std::string write_extender_args(std::string_view pod_json,
                                              std::span<const std::string> node_names);

struct FilterAnswer {
  std::vector<std::string> node_names;
  kube::StringMap failed;
  kube::StringMap failed_and_unresolvable;
  std::string error;
};
[[nodiscard]] Result<FilterAnswer> read_filter_answer(std::string_view json);

[[nodiscard]] Result<std::vector<std::pair<std::string, std::int64_t>>> read_host_priorities(
    std::string_view json);

// A review of the CREATE of a Pod.
[[nodiscard]] std::string write_pod_review(std::string_view uid, std::string_view namespace_,
                                           std::string_view pod_json);

struct ReviewVerdict {
  std::string uid;
  bool allowed = false;
  std::string message;
  std::vector<std::string> warnings;
};
[[nodiscard]] Result<ReviewVerdict> read_review_verdict(std::string_view json);

}  // namespace rankward::formats
