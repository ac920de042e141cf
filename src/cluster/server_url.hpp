// The `server` of a kubeconfig.
#pragma once

#include <string>
#include <string_view>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

// Fills tls, host, port and base_path. Without a scheme http is meant, as client-go has it.
[[nodiscard]] Result<void> parse_server_url(std::string_view url, ApiServer& server);
// The other way round, with the port always written.
[[nodiscard]] std::string server_url(const ApiServer& server);

}  // namespace rankward::cluster
