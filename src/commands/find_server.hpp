// Which API server a command talks to.
#pragma once

#include <string>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

// As kubectl looks for it, but for merging several files: the kubeconfig that is named, else the
// first file of $KUBECONFIG, else ~/.kube/config, else the service account of the pod.
[[nodiscard]] Result<cluster::ApiServer> find_server(const std::string& kubeconfig,
                                                     const std::string& context);

}  // namespace rankward::commands
