// Where the API server is and how to prove who we are: from a kubeconfig or from the pod that we
// run in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::cluster {

// A credential plugin: a program that prints an ExecCredential. Source: client-go credential
// plugins (KEP-541), client.authentication.k8s.io/v1 and v1beta1.
struct ExecPlugin {
  std::string api_version;
  std::string command;  // looked up in PATH unless it has a slash; absolute otherwise
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of our own
  std::string install_hint;
  bool provide_cluster_info = false;
};

// PEM material: text where it came with the configuration, else an absolute path that is read again
// for every connection. Both empty: none.
struct PemSource {
  std::string pem;
  std::string file;
  [[nodiscard]] bool empty() const { return pem.empty() && file.empty(); }
};

struct ApiServer {
  bool tls = true;   // false: plain HTTP, which the client refuses unless the address is loopback
  std::string host;  // name or numeric address, without brackets
  std::uint16_t port = 443;
  std::string base_path;  // "/k8s/clusters/c-1" of a proxy, without a slash at the end; "" for none
  std::string server_name;  // checked against the certificate; "": the host
  PemSource ca;             // all certificates in it are trusted, and nothing else is
  PemSource certificate;    // client certificate with its key, or neither
  PemSource key;
  std::string token;               // used where token_file is absent or cannot be read
  std::string token_file;          // absolute
  std::optional<ExecPlugin> exec;  // used only where neither token nor client certificate is given
  std::string namespace_;          // of the context or of the service account; "": not said
};

// The context of that name, current-context where it is "". Relative paths count from the folder of
// the kubeconfig. kInvalid with the field where the file is not a kubeconfig, asks for something
// that is unsafe (insecure-skip-tls-verify) or not supported (proxy-url, impersonation, basic
// authentication, auth-provider); kNotFound where the file, context, cluster or user is missing.
// Runs no plugin and opens no certificate: that happens at each connection.
[[nodiscard]] Result<ApiServer> from_kubeconfig(const std::string& path,
                                                std::string_view context = {});

inline constexpr std::string_view kServiceAccountDirectory =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// KUBERNETES_SERVICE_HOST and _PORT of the environment, token and ca.crt of the directory.
// kNotFound where this is no pod with a service account.
[[nodiscard]] Result<ApiServer> in_cluster(std::string_view directory = kServiceAccountDirectory);

}  // namespace rankward::cluster
