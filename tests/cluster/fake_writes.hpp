// An API server on loopback that takes writes: Leases with their versions, JSON patches of pods as
// RFC 6902 and the API server's library have them, and whatever else is posted.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/formats/lease.hpp"
#include "rankward/net/server.hpp"

namespace rankward::cluster {

class FakeWriteServer {
 public:
  FakeWriteServer();
  ~FakeWriteServer();

  [[nodiscard]] ApiServer address() const;

  // Of the one Lease; nothing where there is none.
  [[nodiscard]] std::optional<formats::Lease> lease() const;
  // As another process writes it, whatever stood there.
  void write_lease(formats::Lease lease);

  // `json` of a pod, by its path below /api/v1/namespaces/.
  void put_pod(const std::string& path, std::string json);
  [[nodiscard]] std::string pod(const std::string& path) const;

  // Every call is answered so, until it is set back to 0.
  void answer_all(int status, std::string body = kStatus);
  // The next call is answered so, then all as they should be.
  void answer_next(int status);

  struct Call {
    std::string method;
    std::string target;
    std::string content_type;
    std::string authorization;
    std::string body;
  };
  [[nodiscard]] std::vector<Call> calls() const;

 private:
  static constexpr const char* kStatus = R"({"kind":"Status","message":"as the test wants it"})";

  void handle(const net::Request& request, net::Response& response);
  void answer_lease(const net::Request& request, net::Response& response);
  void answer_pods(const net::Request& request, net::Response& response);

  mutable std::mutex mutex_;
  std::optional<formats::Lease> lease_;  // under mutex_, as all below
  int version_ = 1;
  std::map<std::string, std::string> pods_;
  std::vector<Call> calls_;
  int all_ = 0;
  std::string body_ = kStatus;
  int next_ = 0;
  std::unique_ptr<net::Server> server_;
};

}  // namespace rankward::cluster
