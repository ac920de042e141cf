// The status port: health in Kubernetes' form, metrics in Prometheus'.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rankward/net/http.hpp"

namespace rankward::server {

struct HealthCheck {
  std::string name;
  // Empty: well. Else why not, in one line.
  std::function<std::string()> failure;
};

struct StatusPages {
  std::vector<HealthCheck> readiness;
  std::function<std::string()> metrics;
};

// GET and HEAD of /livez, /readyz, /healthz (each with ?verbose), /metrics and /version.
[[nodiscard]] net::Handler status_handler(StatusPages pages);

}  // namespace rankward::server
