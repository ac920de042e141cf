// Credentials from an exec plugin.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

// What proves who we are: a bearer token, a client certificate, or both. Empty: anonymous.
struct Credential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<std::chrono::system_clock::time_point> expires;
};

// The document that the plugin finds in KUBERNETES_EXEC_INFO.
[[nodiscard]] std::string exec_info(const ExecPlugin& plugin, const ApiServer& server);

// Reads an ExecCredential of that version. Errors name the field and never carry its value.
[[nodiscard]] Result<Credential> read_exec_credential(std::string_view json,
                                                      std::string_view api_version);

// Runs the plugin of the server, which must have one.
[[nodiscard]] Result<Credential> run_exec_plugin(const ApiServer& server, std::stop_token stop);

}  // namespace rankward::cluster
