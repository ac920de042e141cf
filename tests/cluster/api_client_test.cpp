// A kubeconfig's certificates on a real TLS connection.
#include "api_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "../temporary_folder.hpp"
#include "rankward/formats/base64.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/net/server.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class ApiClientTls : public testing::Test {
 protected:
  void SetUp() override {
    authority_ = net::make_authority("test authority").value();
    const auto leaf =
        net::issue(authority_, {.common_name = "api", .dns_names = {"kubernetes"}, .server = true})
            .value();
    net::Listener listener;
    listener.options.tls =
        net::TlsOptions{.certificate_file = folder_.write("server.crt", leaf.certificate_pem),
                        .key_file = folder_.write("server.key", leaf.key_pem),
                        .client_ca_file = folder_.write("ca.crt", authority_.certificate_pem),
                        .client_certificate = net::ClientCertificate::kOptional};
    listener.handler = [](const net::Request& request, net::Response& response) {
      response.body =
          std::string(request.client == nullptr ? "nobody" : request.client->common_name) + " " +
          std::string(request.header("Authorization")) + " " + std::string(request.target);
    };
    std::vector<net::Listener> listeners;
    listeners.push_back(std::move(listener));
    server_ = net::Server::start(std::move(listeners)).value();
  }

  // The answer of the server, or why there was none.
  std::string get(const std::string& cluster, const std::string& user) {
    const auto text =
        "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
        "clusters:\n- name: c\n  cluster:\n    server: https://127.0.0.1:" +
        std::to_string(server_->ports().front()) + "/base/\n" + cluster +
        "users:\n- name: u\n  user:\n" + user;
    const auto address = from_kubeconfig(folder_.write("config", text));
    if (!address) return address.error().to_string();
    CredentialSource credentials(*address, machine_clock(), {});
    ApiClient client(*address, credentials);
    const auto response = client.get("/api/v1/nodes?limit=1", seconds(5));
    return response ? response->body : response.error().to_string();
  }

  TemporaryFolder folder_;
  net::KeyPair authority_;
  std::unique_ptr<net::Server> server_;
};

TEST_F(ApiClientTls, proves_itself_by_certificate_and_token_from_data_or_files) {
  const auto me = net::issue(authority_, {.common_name = "me", .client = true}).value();
  folder_.write("me.crt", me.certificate_pem);
  folder_.write("me.key", me.key_pem);
  const std::string name = "    tls-server-name: kubernetes\n";
  EXPECT_EQ(
      get(name + "    certificate-authority-data: " +
              formats::base64_encode(authority_.certificate_pem) + "\n",
          "    client-certificate-data: " + formats::base64_encode(me.certificate_pem) +
              "\n    client-key-data: " + formats::base64_encode(me.key_pem) + "\n    token: t\n"),
      "me Bearer t /base/api/v1/nodes");
  EXPECT_EQ(get(name + "    certificate-authority: ca.crt\n",
                "    client-certificate: me.crt\n    client-key: me.key\n"),
            "me  /base/api/v1/nodes");
}

TEST_F(ApiClientTls, proves_itself_by_the_certificate_of_a_plugin) {
  const auto me = net::issue(authority_, {.common_name = "plugged", .client = true}).value();
  const auto escaped = [](const std::string& pem) {
    std::string out;
    for (const char c : pem)
      out += c == '\n' ? std::string("\\n") : std::string(1, c);
    return out;
  };
  folder_.script("plugin",
                 "cat <<'END'\n"
                 R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                 R"("status":{"clientCertificateData":")" +
                     escaped(me.certificate_pem) + R"(","clientKeyData":")" + escaped(me.key_pem) +
                     "\"}}\nEND\n");
  EXPECT_EQ(get("    tls-server-name: kubernetes\n    certificate-authority: ca.crt\n",
                "    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin,\n"
                "           interactiveMode: Never}\n"),
            "plugged  /base/api/v1/nodes");
}

TEST_F(ApiClientTls, does_not_talk_to_a_server_of_another_name_or_authority) {
  const auto other = net::make_authority("other authority").value();
  folder_.write("other.crt", other.certificate_pem);
  const auto wrong_name =
      get("    tls-server-name: elsewhere\n    certificate-authority: ca.crt\n", "    token: t\n");
  EXPECT_THAT(wrong_name, testing::Not(HasSubstr("Bearer")));
  const auto wrong_authority = get(
      "    tls-server-name: kubernetes\n    certificate-authority: other.crt\n", "    token: t\n");
  EXPECT_THAT(wrong_authority, testing::Not(HasSubstr("Bearer")));
  EXPECT_EQ(server_->stats().front().requests, 0U);
}

}  // namespace
}  // namespace rankward::cluster
