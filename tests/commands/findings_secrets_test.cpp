// Nothing private comes out: values of variables that no rule is about, annotations, commands.
#include <gmock/gmock.h>

#include <random>

#include "run_commands.hpp"

namespace rankward::commands {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "s3cr3t-4711";

// A pod with findings of many rules, and the secret wherever a user may keep one.
std::string pod_with_secrets(std::mt19937& random, int number) {
  const auto coin = [&] { return random() % 2 == 0; };
  const std::string secret = std::string(kSecret) + "-" + std::to_string(number);
  std::string env = "    - {name: TOKEN, value: \"" + secret + "\"}\n";
  if (coin()) env += "    - {name: NVIDIA_VISIBLE_DEVICES, value: all}\n";
  if (coin()) env += "    - {name: CUDA_VERSION, value: \"12.4\"}\n";
  env += "    - {name: LATER, value: \"--password=" + secret + "\"}\n";
  std::string out = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p" +
                    std::to_string(number) + "\n  namespace: team-a\n  labels: {note: " + secret +
                    "}\n  annotations:\n    example.com/note: " + secret +
                    "\n    kubectl.kubernetes.io/last-applied-configuration: '" + secret + "'\n";
  if (coin()) out += "    cdi.k8s.io/gpu: " + secret + "\n";
  out += "spec:\n";
  if (coin()) out += "  runtimeClassName: nvidia\n";
  if (coin()) out += "  hostPID: true\n";
  out += "  containers:\n  - name: c\n    image: registry.example.com/" + secret +
         "\n    command: [sh, -c, \"login " + secret + "\"]\n    args: [" + secret +
         "]\n    env:\n" + env;
  if (coin()) out += "    securityContext: {privileged: true}\n";
  if (coin()) out += "    resources: {limits: {nvidia.com/gpu: 1}}\n";
  out += "  volumes:\n  - {name: other, hostPath: {path: /srv/" + secret + "}}\n";
  if (coin()) out += "  - {name: dev, hostPath: {path: //dev/nvidia0}}\n";
  if (coin()) out += "  - {name: sock, hostPath: {path: /run/containerd/containerd.sock}}\n";
  return out;
}

class SecretsStayInside : public RunCommands {
 protected:
  void expect_silence(std::string_view where) {
    EXPECT_THAT(out_.str(), Not(HasSubstr(std::string(kSecret)))) << where;
    EXPECT_THAT(err_.str(), Not(HasSubstr(std::string(kSecret)))) << where;
  }
};

TEST_F(SecretsStayInside, InEveryFormOfCheckAndScan) {
  std::mt19937 random(20240607);
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += pod_with_secrets(random, i);
  const std::string path = file("pods.yaml", text);
  for (const CheckForm form : {CheckForm::kText, CheckForm::kTable, CheckForm::kJson,
                               CheckForm::kSarif, CheckForm::kGithub}) {
    CheckOptions options;
    options.output = form;
    options.fix_hints = true;
    EXPECT_EQ(run_check({path}, options), 1);
    EXPECT_THAT(out_.str(), HasSubstr("NVIDIA_VISIBLE_DEVICES"));
    expect_silence("check");
  }
  for (const ScanForm form : {ScanForm::kTable, ScanForm::kWide, ScanForm::kJson, ScanForm::kSarif,
                              ScanForm::kPolicyReport}) {
    ScanOptions options;
    options.output = form;
    options.audit = true;
    EXPECT_EQ(run_scan(path, options), 1);
    EXPECT_THAT(out_.str(), HasSubstr("ENV-01"));
    expect_silence("scan");
  }
}

TEST_F(SecretsStayInside, InWhatIsSaidOfInputThatCannotBeRead) {
  const std::string secret(kSecret);
  const std::string broken[] = {
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n    env: [{name: T, value: [" +
          secret + "]}]\n",
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n    env: {T: " + secret +
          "}\n",
      "apiVersion: v1\nkind: Pod\nmetadata: {annotations: {a: {b: " + secret + "}}}\n",
      "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, resources: {limits: {cpu: " +
          secret + "}}}]}\n",
      "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"labels\": [\"" + secret +
          "\"]}}",
  };
  for (const std::string& text : broken) {
    const std::string path = file("broken.yaml", text);
    run_check({path});
    expect_silence(text);
    EXPECT_EQ(run_scan(path), 3) << text;
    expect_silence(text);
  }
}

}  // namespace
}  // namespace rankward::commands
