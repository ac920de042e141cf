// A whole server on loopback, and its two kinds of callers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "rankward/cluster/inventory.hpp"
#include "rankward/formats/caller.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/net/client.hpp"
#include "rankward/server/application.hpp"
#include "rankward/sim/embedded_cluster.hpp"

namespace rankward::server {

class ApplicationTest : public ::testing::Test {
 protected:
  ApplicationTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("rankward-server-test-" + std::to_string(getpid()))),
        authority_(net::make_authority("test").value()),
        scheduler_(client_certificate("system:kube-scheduler")) {
    std::filesystem::create_directories(folder_);
    const net::KeyPair server =
        net::issue(authority_,
                   {.common_name = "rankward", .ip_addresses = {"127.0.0.1"}, .server = true})
            .value();
    write("ca.crt", authority_.certificate_pem);
    write("tls.crt", server.certificate_pem);
    write("tls.key", server.key_pem);
    configuration_.extender_tls = {path("tls.crt"), path("tls.key"), path("ca.crt"), true};
    configuration_.webhook_tls = {path("tls.crt"), path("tls.key"), path("ca.crt"), false};
    configuration_.ports = {.address = "127.0.0.1", .extender = 0, .webhook = 0, .status = 0};
    configuration_.managed_resources = {"nvidia.com/gpu"};
  }
  ~ApplicationTest() override {
    application_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  void write(const char* name, const std::string& content) {
    ASSERT_TRUE(net::write_private_file(path(name), content));
  }
  net::KeyPair client_certificate(const std::string& name) const {
    return net::issue(authority_, {.common_name = name, .client = true}).value();
  }

  void start(const cluster::SnapshotSource* source) {
    auto started = Application::start(configuration_, log_, source);
    ASSERT_TRUE(started) << started.error().to_string();
    application_ = std::move(*started);
  }

  net::Client client(std::uint16_t port, const net::KeyPair* certificate) const {
    net::ClientOptions options{.host = "127.0.0.1", .port = port};
    options.tls = net::ClientTls{.ca_pem = authority_.certificate_pem};
    if (certificate != nullptr) {
      options.tls->certificate_pem = certificate->certificate_pem;
      options.tls->key_pem = certificate->key_pem;
    }
    return net::Client(options);
  }
  Result<net::ClientResponse> extender(std::string_view verb, std::string_view body) const {
    return client(*application_->ports().extender, &scheduler_).request("POST", verb, {}, body);
  }
  Result<net::ClientResponse> webhook(std::string_view body,
                                      std::string_view target = "/validate?timeout=3s") const {
    return client(*application_->ports().webhook, nullptr).request("POST", target, {}, body);
  }
  std::string status(std::string_view target, int expected = 200) const {
    net::Client plain({.host = "127.0.0.1", .port = application_->ports().status});
    const auto response = plain.request("GET", target);
    EXPECT_TRUE(response) << response.error().to_string();
    EXPECT_EQ(response->status, expected) << target;
    return response->body;
  }

  // Whether /metrics comes to have the text: what is counted is counted after the answer.
  bool metrics_come_to(const std::string& text) const {
    for (int i = 0; i < 500; ++i) {
      if (status("/metrics").find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static std::string rank(int number) {
    return formats::read_documents(sim::training_job("train", 4), "job")
        .value()[static_cast<std::size_t>(number)]
        .json;
  }

  std::filesystem::path folder_;
  net::KeyPair authority_;
  net::KeyPair scheduler_;
  formats::Configuration configuration_;
  record::Log log_{{.verbosity = -1}};
  cluster::InventorySource inventory_{sim::embedded_cluster(), {}};
  std::unique_ptr<Application> application_;
};

}  // namespace rankward::server
