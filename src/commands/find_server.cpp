#include "find_server.hpp"

#include <cstdlib>

namespace rankward::commands {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<cluster::ApiServer> find_server(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty()) return cluster::from_kubeconfig(kubeconfig, context);
  if (const auto list = environment("KUBECONFIG"); !list.empty()) {
    return cluster::from_kubeconfig(list.substr(0, list.find(':')), context);
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    auto server = cluster::from_kubeconfig(home + "/.kube/config", context);
    if (server || server.error().kind() != ErrorKind::kNotFound) return server;
  }
  return cluster::in_cluster();
}

}  // namespace rankward::commands
