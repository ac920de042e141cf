// Tokens from files and credentials from plugins, over their whole life.
#include "credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "../temporary_folder.hpp"
#include "exec_plugin.hpp"
#include "fake_clock.hpp"
#include "subprocess.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string credential_json(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         status + "}";
}

class Credentials : public testing::Test {
 protected:
  CredentialSource source() { return CredentialSource(server_, clock_, stop_.get_token()); }
  std::string token(CredentialSource& from) {
    auto credential = from.get();
    return credential ? credential->token : "error: " + credential.error().to_string();
  }
  ApiServer with_plugin(const std::string& body) {
    ApiServer server;
    server.host = "10.0.0.1";
    server.port = 6443;
    server.exec =
        ExecPlugin{.api_version = std::string(kV1), .command = folder_.script("plugin", body)};
    return server;
  }

  TemporaryFolder folder_;
  // 2026-01-31T12:00:00Z
  FakeClock clock_{std::chrono::system_clock::time_point(seconds(1769860800))};
  std::stop_source stop_;
  ApiServer server_;
};

TEST_F(Credentials, reads_a_token_file_again_after_a_minute_and_after_a_refusal) {
  server_.token_file = folder_.write("token", "  one\n");
  auto from = source();
  EXPECT_EQ(token(from), "one");
  folder_.write("token", "two");
  EXPECT_EQ(token(from), "one");
  clock_.advance(seconds(61));
  EXPECT_EQ(token(from), "two");
  folder_.write("token", "three");
  from.reject({.token = "one"});  // an old answer, somebody has read since
  EXPECT_EQ(token(from), "two");
  from.reject({.token = "two"});
  EXPECT_EQ(token(from), "three");
}

TEST_F(Credentials, keeps_the_last_token_while_the_file_cannot_be_read) {
  server_.token_file = folder_.write("token", "one");
  auto from = source();
  EXPECT_EQ(token(from), "one");
  std::filesystem::remove(server_.token_file);
  clock_.advance(seconds(61));
  EXPECT_EQ(token(from), "one");

  auto fresh = source();
  EXPECT_THAT(token(fresh), HasSubstr(server_.token_file));
  server_.token = "fallback";
  auto with_fallback = source();
  EXPECT_EQ(token(with_fallback), "fallback");
}

TEST_F(Credentials, refuses_a_token_that_would_break_the_header_line) {
  server_.token_file = folder_.write("token", "a\r\nX-Other: b");
  auto from = source();
  EXPECT_THAT(token(from), HasSubstr("error"));
  EXPECT_THAT(token(from), Not(HasSubstr("X-Other")));
}

TEST_F(Credentials, runs_a_plugin_again_only_when_its_credential_ends_or_is_refused) {
  const std::string count = folder_.path("count");
  server_ = with_plugin(
      "echo x >> " + count + "\nn=$(wc -l < " + count + ")\ncat <<END\n" +
      credential_json(R"({"token":"t$n","expirationTimestamp":"2026-01-31T12:1$n:00Z"})") +
      "\nEND\n");
  auto from = source();
  EXPECT_EQ(token(from), "t1");
  clock_.advance(seconds(60 * 10 + 40));
  EXPECT_EQ(token(from), "t1");
  clock_.advance(seconds(15));  // within ten seconds of its end
  EXPECT_EQ(token(from), "t2");
  EXPECT_EQ(token(from), "t2");
  from.reject({.token = "t2"});
  EXPECT_EQ(token(from), "t3");
}

TEST_F(Credentials, gives_the_plugin_its_arguments_environment_and_cluster) {
  server_ =
      with_plugin("printf '%s|%s|%s' \"$1\" \"$PROFILE\" \"$KUBERNETES_EXEC_INFO\" > " +
                  folder_.path("seen") + "\necho '" + credential_json(R"({"token":"t"})") + "'\n");
  server_.ca.pem = "PEM";
  server_.server_name = "k8s";
  server_.exec->arguments = {"get-token"};
  server_.exec->environment = {{"PROFILE", "p"}};
  server_.exec->provide_cluster_info = true;
  auto from = source();
  EXPECT_EQ(token(from), "t");
  std::ifstream file(folder_.path("seen"));
  const std::string seen((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(
      seen,
      R"(get-token|p|{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
      R"("spec":{"cluster":{"server":"https://10.0.0.1:6443","tls-server-name":"k8s",)"
      R"("certificate-authority-data":"UEVN"},"interactive":false}})");
}

TEST_F(Credentials, says_why_a_plugin_gave_nothing) {
  struct Case {
    std::string body;
    std::string text;
  };
  const Case cases[] = {
      {"exit 3\n", "failed with exit code 3"},
      {"kill -9 $$\n", "did not end by itself"},
      {"echo hello\n", "must print an ExecCredential in JSON"},
      {"echo '{\"kind\":\"Pod\"}'\n", "kind: must be ExecCredential"},
      {"head -c 2000000 /dev/zero\n", "printed more than"},
  };
  for (const auto& wrong : cases) {
    server_ = with_plugin(wrong.body);
    auto from = source();
    EXPECT_THAT(token(from), HasSubstr(wrong.text));
  }
  server_.exec->command = folder_.path("none");
  server_.exec->install_hint = "get it from the vendor";
  auto from = source();
  EXPECT_THAT(token(from), HasSubstr("get it from the vendor"));
}

TEST_F(Credentials, prefers_a_token_over_the_plugin) {
  server_ = with_plugin("exit 1\n");
  server_.token = "given";
  auto from = source();
  EXPECT_EQ(token(from), "given");
}

TEST(ExecCredential, takes_certificates_and_refuses_halves) {
  const auto both = read_exec_credential(
      credential_json(R"({"clientCertificateData":"C","clientKeyData":"K","token":null})"), kV1);
  ASSERT_TRUE(both) << both.error().to_string();
  EXPECT_EQ(both->certificate_pem, "C");
  EXPECT_EQ(both->key_pem, "K");
  EXPECT_EQ(both->token, "");
  const std::pair<std::string, std::string> wrong[] = {
      {R"({"clientCertificateData":"C"})", "status"},
      {R"({})", "status"},
      {"null", "status"},
      {"[]", "status"},
      {R"({"token":7})", "status.token"},
      {R"({"token":"s3cret","expirationTimestamp":"soon"})", "status.expirationTimestamp"},
  };
  for (const auto& [status, field] : wrong) {
    const auto credential = read_exec_credential(credential_json(status), kV1);
    ASSERT_FALSE(credential) << status;
    EXPECT_EQ(credential.error().field(), field) << credential.error().to_string();
    EXPECT_THAT(credential.error().to_string(), Not(HasSubstr("s3cret")));
  }
  const auto other = read_exec_credential(credential_json(R"({"token":"t"})"),
                                          "client.authentication.k8s.io/v1beta1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().field(), "apiVersion");
}

TEST(Subprocess, is_killed_with_its_children_when_its_time_is_over) {
  Program program{
      .command = "sh", .arguments = {"-c", "sleep 30 & sleep 30"}, .timeout = milliseconds(100)};
  const auto started = steady_clock::now();
  const auto output = run_program(program, {});
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().to_string(), HasSubstr("did not end within 100 ms"));
  EXPECT_LT(steady_clock::now() - started, seconds(15));
}

TEST(Subprocess, does_not_wait_for_children_that_keep_its_output_open) {
  Program program{.command = "sh", .arguments = {"-c", "echo done; sleep 5 & exit 0"}};
  const auto started = steady_clock::now();
  const auto output = run_program(program, {});
  ASSERT_TRUE(output) << output.error().to_string();
  EXPECT_EQ(*output, "done\n");
  EXPECT_LT(steady_clock::now() - started, seconds(4));
}

TEST(Subprocess, ends_when_it_is_told_to_stop) {
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(50));
    stop.request_stop();
  });
  const auto started = steady_clock::now();
  EXPECT_FALSE(run_program({.command = "sleep", .arguments = {"30"}}, stop.get_token()));
  EXPECT_LT(steady_clock::now() - started, seconds(15));
}

}  // namespace
}  // namespace rankward::cluster
