// Why a call to the API server gave nothing, as far as it decides what to do next.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "rankward/net/client.hpp"

namespace rankward::cluster {

struct ApiFailure {
  std::string what;  // for the log
  int status = 0;    // HTTP's, or that of the Status in an ERROR event; 0: no answer
  std::optional<std::chrono::milliseconds> retry_after;

  // The version that we asked from is compacted away: list without one.
  [[nodiscard]] bool is_gone() const { return status == 410; }
  // No later try will help until somebody changes a credential or a role.
  [[nodiscard]] bool is_refusal() const { return status == 401 || status == 403; }
};

// A response whose status is not the one hoped for. Takes the message of a metav1.Status, where the
// body is one.
[[nodiscard]] ApiFailure api_failure(const net::ClientResponse& response);

}  // namespace rankward::cluster
