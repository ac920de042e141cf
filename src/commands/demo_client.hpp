// What kube-scheduler and kube-apiserver would send, over HTTPS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/net/client.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

struct PodManifest {
  kube::Pod pod;
  std::string json;
};
[[nodiscard]] Result<std::vector<PodManifest>> read_manifests(std::string_view yaml);

// A pod that reaches a GPU round the device plugin, as JSON.
[[nodiscard]] std::string bypass_pod();

struct NodeScore {
  std::string node;
  std::int64_t score = 0;
};

struct Denial {
  bool allowed = true;
  std::string message;
};

class DemoClient {
 public:
  [[nodiscard]] static DemoClient connect(std::uint16_t extender_port, std::uint16_t webhook_port,
                                          const std::string& authority_pem,
                                          const net::KeyPair& certificate);

  // Names that fit, in the server's order.
  [[nodiscard]] Result<std::vector<std::string>> filter(const std::string& pod_json,
                                                        const std::vector<std::string>& nodes);
  [[nodiscard]] Result<std::vector<NodeScore>> prioritize(const std::string& pod_json,
                                                          const std::vector<std::string>& nodes);
  // CREATE of a Pod in namespace team-a.
  [[nodiscard]] Result<Denial> validate(const std::string& pod_json);

 private:
  [[nodiscard]] static Result<std::string> post(net::Client& client, std::string_view path,
                                                const std::string& body);

  std::unique_ptr<net::Client> extender_;
  std::unique_ptr<net::Client> webhook_;
};

}  // namespace rankward::commands
