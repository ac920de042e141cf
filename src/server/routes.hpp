// The doors as net sees them: path and method to verb, who may call, what is logged afterwards.
#pragma once

#include <string>
#include <vector>

#include "extender.hpp"
#include "metrics.hpp"
#include "rankward/net/http.hpp"
#include "rankward/record/log.hpp"
#include "webhook.hpp"

namespace rankward::server {

// POST /filter, /prioritize, /preempt. `client_names`: CN or SAN of the peer must be one of these;
// empty: any certificate that the CA vouches for. All references outlive the handler.
[[nodiscard]] net::Handler extender_handler(const Extender& extender,
                                            std::vector<std::string> client_names, Metrics& metrics,
                                            record::Log& log);

// POST /validate, and /mutate where the webhook does that.
[[nodiscard]] net::Handler webhook_handler(const Webhook& webhook, Metrics& metrics,
                                           record::Log& log);

}  // namespace rankward::server
