// What ends soon and nobody has renewed yet.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "rankward/admission/policy.hpp"
#include "rankward/net/server.hpp"
#include "rankward/record/log.hpp"

namespace rankward::server {

// A warning for each serving certificate that ends within a month. `doors`: names of the server's
// listeners, in their order.
void warn_of_certificates(const net::Server& server, const std::vector<std::string>& doors,
                          std::chrono::system_clock::time_point now, record::Log& log);

// The same for exemptions, and one for each that has ended.
void warn_of_exemptions(const admission::Policy& policy, std::chrono::system_clock::time_point now,
                        record::Log& log);

}  // namespace rankward::server
