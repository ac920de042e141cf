#include "demo_client.hpp"

#include <utility>

#include "rankward/formats/caller.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::commands {
namespace {

std::unique_ptr<net::Client> client_of(std::uint16_t port, const std::string& authority_pem,
                                       const net::KeyPair& certificate) {
  net::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = net::ClientTls{.ca_pem = authority_pem,
                               .certificate_pem = certificate.certificate_pem,
                               .key_pem = certificate.key_pem};
  return std::make_unique<net::Client>(std::move(options));
}

}  // namespace

Result<std::vector<PodManifest>> read_manifests(std::string_view yaml) {
  auto documents = formats::read_documents(yaml, "manifest");
  if (!documents) return documents.error();
  std::vector<PodManifest> manifests;
  for (formats::Document& document : *documents) {
    auto pod = formats::read_pod(document.json);
    if (!pod) return pod.error();
    manifests.push_back({std::move(*pod), std::move(document.json)});
  }
  return manifests;
}

std::string bypass_pod() {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"notebook","namespace":"team-a"},)"
         R"("spec":{"containers":[{"name":"notebook","image":"registry.example.com/notebook:1",)"
         R"("env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}],)"
         R"("volumeMounts":[{"name":"gpu","mountPath":"/dev/nvidia0"}]}],)"
         R"("volumes":[{"name":"gpu","hostPath":{"path":"/dev/nvidia0"}}]}})";
}

DemoClient DemoClient::connect(std::uint16_t extender_port, std::uint16_t webhook_port,
                               const std::string& authority_pem, const net::KeyPair& certificate) {
  DemoClient client;
  client.extender_ = client_of(extender_port, authority_pem, certificate);
  client.webhook_ = client_of(webhook_port, authority_pem, certificate);
  return client;
}

Result<std::string> DemoClient::post(net::Client& client, std::string_view path,
                                     const std::string& body) {
  auto response = client.request("POST", path, {{"Content-Type", "application/json"}}, body);
  if (!response) return response.error();
  if (response->status != 200) {
    return Error::unavailable("answered " + std::to_string(response->status) + ": " +
                              response->body)
        .in(std::string(path));
  }
  return std::move(response->body);
}

Result<std::vector<std::string>> DemoClient::filter(const std::string& pod_json,
                                                    const std::vector<std::string>& nodes) {
  const auto body = post(*extender_, "/filter", formats::write_extender_args(pod_json, nodes));
  if (!body) return body.error();
  auto answer = formats::read_filter_answer(*body);
  if (!answer) return answer.error();
  if (!answer->error.empty()) return Error::unavailable(answer->error).in("/filter");
  return std::move(answer->node_names);
}

Result<std::vector<NodeScore>> DemoClient::prioritize(const std::string& pod_json,
                                                      const std::vector<std::string>& nodes) {
  const auto body = post(*extender_, "/prioritize", formats::write_extender_args(pod_json, nodes));
  if (!body) return body.error();
  auto list = formats::read_host_priorities(*body);
  if (!list) return list.error();
  std::vector<NodeScore> scores;
  for (auto& [node, score] : *list)
    scores.push_back({std::move(node), score});
  return scores;
}

Result<Denial> DemoClient::validate(const std::string& pod_json) {
  const auto body =
      post(*webhook_, "/validate",
           formats::write_pod_review("6f1c0b3e-0000-4000-8000-000000000001", "team-a", pod_json));
  if (!body) return body.error();
  auto verdict = formats::read_review_verdict(*body);
  if (!verdict) return verdict.error();
  return Denial{verdict->allowed, std::move(verdict->message)};
}

}  // namespace rankward::commands
