// Every form of a kubeconfig that is taken, and every one that is refused.
#include "rankward/cluster/kubeconfig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "../temporary_folder.hpp"
#include "rankward/formats/base64.hpp"

namespace rankward::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::string_view kPem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
constexpr std::string_view kKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";

// One cluster, one user, one context; the bodies are lines of YAML, each indented by four.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c, user: u, namespace: team}\n"
         "clusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: u\n  user:\n" + user;
}

std::string good_cluster() {
  return "    server: https://10.0.0.1:6443\n    certificate-authority-data: " +
         formats::base64_encode(kPem) + "\n";
}

class Kubeconfig : public testing::Test {
 protected:
  Result<ApiServer> read(const std::string& text, std::string_view context = {}) {
    return from_kubeconfig(folder_.write("config", text), context);
  }
  TemporaryFolder folder_;
};

TEST_F(Kubeconfig, takes_certificates_as_data) {
  const auto server = read(kubeconfig(
      good_cluster(), "    client-certificate-data: " + formats::base64_encode(kPem) +
                          "\n    client-key-data: " + formats::base64_encode(kKey) + "\n"));
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_TRUE(server->tls);
  EXPECT_EQ(server->host, "10.0.0.1");
  EXPECT_EQ(server->port, 6443);
  EXPECT_EQ(server->namespace_, "team");
  EXPECT_EQ(server->ca.pem, kPem);
  EXPECT_EQ(server->certificate.pem, kPem);
  EXPECT_EQ(server->key.pem, kKey);
  EXPECT_EQ(server->token, "");
  EXPECT_FALSE(server->exec);
}

TEST_F(Kubeconfig, counts_relative_files_from_its_own_folder_and_keeps_absolute_ones) {
  const auto server = read(kubeconfig(
      "    server: https://h\n    certificate-authority: pki/../ca.crt\n    tls-server-name: k8s\n",
      "    client-certificate: pki/me.crt\n    client-key: /etc/me.key\n"
      "    tokenFile: token\n"));
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_EQ(server->ca.file, folder_.path("ca.crt"));
  EXPECT_EQ(server->certificate.file, folder_.path("pki/me.crt"));
  EXPECT_EQ(server->key.file, "/etc/me.key");
  EXPECT_EQ(server->token_file, folder_.path("token"));
  EXPECT_EQ(server->server_name, "k8s");
}

TEST_F(Kubeconfig, prefers_data_over_files_as_client_go_does) {
  const auto server =
      read(kubeconfig(good_cluster() + "    certificate-authority: other.crt\n", "    token: t\n"));
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_EQ(server->ca.pem, kPem);
  EXPECT_EQ(server->ca.file, "");
  EXPECT_EQ(server->token, "t");
}

TEST_F(Kubeconfig, takes_json_and_a_context_by_name) {
  const std::string text =
      R"({"contexts":[{"name":"a","context":{"cluster":"x","user":""}},
                      {"name":"b","context":{"cluster":"y","user":"u"}}],
          "clusters":[{"name":"x","cluster":{"server":"http://127.0.0.1:8001"}},
                      {"name":"y","cluster":{"server":"http://127.0.0.1:8002"}}],
          "users":[{"name":"u","user":{"token":"secret"}}],
          "current-context":"a","kind":"Config","apiVersion":"v1","preferences":{}})";
  const auto current = read(text);
  ASSERT_TRUE(current) << current.error().to_string();
  EXPECT_FALSE(current->tls);
  EXPECT_EQ(current->port, 8001);
  EXPECT_EQ(current->token, "");
  const auto named = read(text, "b");
  ASSERT_TRUE(named) << named.error().to_string();
  EXPECT_EQ(named->port, 8002);
  EXPECT_EQ(named->token, "secret");
}

TEST_F(Kubeconfig, takes_an_exec_plugin_of_either_version) {
  const std::string rest =
      "      args: [get-token, --cluster, a]\n      env:\n      - {name: PROFILE, value: p}\n"
      "      installHint: install it\n      provideClusterInfo: true\n";
  for (const auto* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto server = read(kubeconfig(
        good_cluster(), std::string("    exec:\n      apiVersion: ") + version +
                            "\n      command: bin/login\n      interactiveMode: Never\n" + rest));
    ASSERT_TRUE(server) << server.error().to_string();
    ASSERT_TRUE(server->exec);
    EXPECT_EQ(server->exec->api_version, version);
    EXPECT_EQ(server->exec->command, folder_.path("bin/login"));
    EXPECT_THAT(server->exec->arguments, ElementsAre("get-token", "--cluster", "a"));
    EXPECT_THAT(server->exec->environment, ElementsAre(Pair("PROFILE", "p")));
    EXPECT_EQ(server->exec->install_hint, "install it");
    EXPECT_TRUE(server->exec->provide_cluster_info);
  }
  const auto in_path = read(kubeconfig(
      good_cluster(),
      "    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws, env: null}\n"));
  ASSERT_TRUE(in_path) << in_path.error().to_string();
  EXPECT_EQ(in_path->exec->command, "aws");
}

TEST_F(Kubeconfig, refuses_what_is_unsafe_unsupported_or_incomplete_and_names_the_field) {
  const std::string token = "    token: t\n";
  const std::string exec = "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n";
  const std::string command = "      command: x\n      interactiveMode: Never\n";
  struct Case {
    std::string cluster;
    std::string user;
    std::string field;
  };
  const std::string c = "clusters[0].cluster.";
  const std::string u = "users[0].user.";
  const Case cases[] = {
      {good_cluster() + "    insecure-skip-tls-verify: true\n", token,
       c + "insecure-skip-tls-verify"},
      {good_cluster() + "    proxy-url: http://proxy\n", token, c + "proxy-url"},
      {"    server: https://h\n", token, c + "certificate-authority-data"},
      {"    server: 7\n", token, c + "server"},
      {"    server: 'https://h:99999'\n", token, c + "server"},
      {"    certificate-authority: ca.crt\n", token, c + "server"},
      {"    server: https://h\n    certificate-authority-data: '%%%'\n", token,
       c + "certificate-authority-data"},
      {"    server: https://h\n    certificate-authority-data: bm8gcGVt\n", token,
       c + "certificate-authority-data"},
      {good_cluster(), "    token: 12345\n", u + "token"},
      {good_cluster(), "    client-certificate: a.crt\n", u + "client-key"},
      {good_cluster(), "    client-key: a.key\n", u + "client-certificate"},
      {good_cluster(), token + "    as: admin\n", u + "as"},
      {good_cluster(), token + "    as-groups: [x]\n", u + "as-groups"},
      {good_cluster(), "    username: admin\n    password: p\n", u + "username"},
      {good_cluster(), "    auth-provider: {name: gcp}\n", u + "auth-provider"},
      {good_cluster(), "    exec: yes\n", u + "exec"},
      {good_cluster(),
       "    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}\n",
       u + "exec.apiVersion"},
      {good_cluster(), exec + "      interactiveMode: Never\n", u + "exec.command"},
      {good_cluster(), exec + "      command: x\n", u + "exec.interactiveMode"},
      {good_cluster(), exec + "      command: x\n      interactiveMode: Always\n",
       u + "exec.interactiveMode"},
      {good_cluster(), exec + command + "      args: [1]\n", u + "exec.args[0]"},
      {good_cluster(), exec + command + "      env: [{value: v}]\n", u + "exec.env[0].name"},
  };
  for (const auto& wrong : cases) {
    const auto server = read(kubeconfig(wrong.cluster, wrong.user));
    ASSERT_FALSE(server) << wrong.field;
    EXPECT_EQ(server.error().field(), wrong.field) << server.error().to_string();
    EXPECT_EQ(server.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(server.error().source(), folder_.path("config"));
    EXPECT_TRUE(server.error().line()) << wrong.field;
    EXPECT_THAT(server.error().to_string(), testing::Not(HasSubstr("12345")));
  }
}

TEST_F(Kubeconfig, says_what_is_missing) {
  const auto expect_missing = [](const Result<ApiServer>& server, const std::string& text) {
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().kind(), ErrorKind::kNotFound) << server.error().to_string();
    EXPECT_THAT(server.error().to_string(), HasSubstr(text));
  };
  const std::string good = kubeconfig(good_cluster(), "    token: t\n");
  expect_missing(from_kubeconfig(folder_.path("none")), folder_.path("none"));
  expect_missing(read(good, "other"), "contexts: has no entry with the name \"other\"");
  expect_missing(read("kind: Config\napiVersion: v1\n"), "current-context: is not set");
  std::string no_user = good;
  no_user.replace(no_user.find("- name: u\n"), 10, "- name: v\n");
  expect_missing(read(no_user), "users: has no entry with the name \"u\"");
  std::string no_cluster = good;
  no_cluster.replace(no_cluster.find("- name: c\n"), 10, "- name: d\n");
  expect_missing(read(no_cluster), "clusters: has no entry with the name \"c\"");
}

TEST_F(Kubeconfig, refuses_other_documents) {
  for (const auto* text :
       {"", "a: [", "kind: Pod\napiVersion: v1\n", "kind: Config\napiVersion: v2\n", "- a\n",
        "kind: Config\ncontexts: 3\n", "kind: Config\n---\nkind: Config\n"}) {
    EXPECT_FALSE(read(text, "main")) << text;
  }
}

class InCluster : public testing::Test {
 protected:
  ~InCluster() override {
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
  }
  static void environment(const char* host, const char* port) {
    setenv("KUBERNETES_SERVICE_HOST", host, 1);
    setenv("KUBERNETES_SERVICE_PORT", port, 1);
  }
  TemporaryFolder folder_;
};

TEST_F(InCluster, takes_address_from_the_environment_and_the_rest_from_the_mount) {
  environment("fd00::1", "443");
  folder_.write("account/token", "abc");
  folder_.write("account/ca.crt", kPem);
  folder_.write("account/namespace", "rankward-system");
  const auto server = in_cluster(folder_.path("account"));
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_TRUE(server->tls);
  EXPECT_EQ(server->host, "fd00::1");
  EXPECT_EQ(server->port, 443);
  EXPECT_EQ(server->token_file, folder_.path("account/token"));
  EXPECT_EQ(server->ca.file, folder_.path("account/ca.crt"));
  EXPECT_EQ(server->namespace_, "rankward-system");
}

TEST_F(InCluster, says_why_this_is_no_pod) {
  unsetenv("KUBERNETES_SERVICE_HOST");
  auto server = in_cluster(folder_.path("account"));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind(), ErrorKind::kNotFound);
  environment("10.0.0.1", "443");
  server = in_cluster(folder_.path("account"));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(server.error().source(), folder_.path("account/token"));
  environment("10.0.0.1", "https");
  server = in_cluster(folder_.path("account"));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().field(), "KUBERNETES_SERVICE_PORT");
}

}  // namespace
}  // namespace rankward::cluster
