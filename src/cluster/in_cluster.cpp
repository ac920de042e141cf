#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "files.hpp"
#include "rankward/cluster/kubeconfig.hpp"

namespace rankward::cluster {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<ApiServer> in_cluster(std::string_view directory) {
  ApiServer server;
  server.host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (server.host.empty() || port.empty()) {
    return Error(ErrorKind::kNotFound,
                 "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod");
  }
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  if (failure != std::errc() || end != port.data() + port.size() || server.port == 0) {
    return Error::invalid("must be a port between 1 and 65535").at_field("KUBERNETES_SERVICE_PORT");
  }
  const std::filesystem::path folder(directory);
  server.token_file = (folder / "token").string();
  server.ca.file = (folder / "ca.crt").string();
  for (const auto& file : {server.token_file, server.ca.file}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return Error(ErrorKind::kNotFound,
                   "is missing: the pod has no service account mounted "
                   "(automountServiceAccountToken)")
          .in(file);
    }
  }
  if (auto name = read_file((folder / "namespace").string(), 1024)) server.namespace_ = *name;
  return server;
}

}  // namespace rankward::cluster
