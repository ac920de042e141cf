// The server's configuration file: config.rankward.io/v1alpha1, kind RankwardConfiguration.
// docs/configuration.md lists every key with its default and why.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/policy.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/verdict.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::formats {

// Files of one TLS door; PEM, read again when they change.
struct TlsFiles {
  std::string cert_file;
  std::string key_file;
  std::string client_ca_file;
  // The extender's verbs always demand a client certificate; for the webhook it is a choice, since
  // an API server has one only with an AdmissionConfiguration.
  bool require_client_certificate = false;
};

struct Ports {
  std::string address = "0.0.0.0";           // of extender and webhook
  std::string status_address = "127.0.0.1";  // health and metrics, plain HTTP
  // 0: any free port; the log says which.
  std::uint16_t extender = 8443;
  std::uint16_t webhook = 9443;
  std::uint16_t status = 8080;
};

enum class LogFormatChoice : std::uint8_t { kAuto, kJson, kText };

struct Configuration {
  bool extender_door = true;
  bool webhook_door = true;
  TlsFiles extender_tls;
  TlsFiles webhook_tls;
  bool allow_tls12 = false;  // tls.minVersion: "1.2"
  Ports ports;
  // Names (CN, DNS, URI or e-mail SAN) that may call the extender. Empty: whoever the CA vouches
  // for.
  std::vector<std::string> client_names;
  // A pod that asks for none of these, has no device claim and is in no gang passes at once. Empty:
  // none of the known accelerators.
  std::vector<std::string> managed_resources;
  // Schedulers that call this extender; empty: not checked.
  std::vector<std::string> scheduler_names;
  // Where the cluster's state comes from: a kubeconfig, an inventory file, the pod's own service
  // account where this runs in one, or nothing (each pod is judged alone, from the Nodes in the
  // request).
  std::string kubeconfig;
  std::string inventory;
  topology::LabelOptions labels;
  placement::Options placement;
  placement::RequestOptions request;
  std::size_t max_body_bytes = std::size_t{256} << 20;  // of the extender's verbs
  bool always_list_reasons = false;  // for who chains another extender behind this one
  // Whether the ranks of planned gangs are nominated (status.nominatedNodeName).
  bool nominate = true;
  // How long all ranks of a gated gang may exist without a plan before their gates are lifted.
  std::chrono::milliseconds gate_max_hold{60'000};
  admission::PolicyOptions admission;
  // What the webhook learns by watching, where there is an API server: persistentvolumes (what a
  // claim leads to), namespaces (labels that ask for isolation), nodes (the largest request that
  // can ever fit). Each is optional; without it the rules that need it find nothing.
  std::vector<std::string> admission_watch{"persistentvolumes", "namespaces", "nodes"};
  // Whether POST /mutate answers (admission::void_additions); else it is a 404.
  bool mutate = false;
  int log_verbosity = 0;
  LogFormatChoice log_format = LogFormatChoice::kAuto;
};

// YAML or JSON. Unknown and repeated keys, wrong types and values outside their form are kInvalid
// with line, field and the accepted form.
[[nodiscard]] Result<Configuration> read_configuration(std::string_view text,
                                                       std::string_view source);

// The whole configuration with defaults filled in, as YAML that read_configuration() accepts.
[[nodiscard]] std::string print_configuration(const Configuration& configuration);

// What a running server needs beyond the file's own form: certificates for each enabled door, one
// source of state at most. read_configuration() does not ask this, since flags may still fill gaps.
[[nodiscard]] Result<void> check_complete(const Configuration& configuration);

}  // namespace rankward::formats
