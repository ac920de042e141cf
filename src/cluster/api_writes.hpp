// Every write that the leader makes, and what became of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api_client.hpp"
#include "rankward/formats/pod_writes.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

enum class WriteResult : std::uint8_t {
  kDone,
  kGone,      // 404: the object is not there any more
  kConflict,  // 409, 422: it is not as we thought; look again
  kRefused,   // 401, 403: a role is missing
  kFailed,    // no answer, 429, 5xx: later
};

struct WriteOutcome {
  WriteResult result = WriteResult::kDone;
  std::string what;  // for the log, "" where done
  std::optional<std::chrono::milliseconds> retry_after;

  [[nodiscard]] bool done() const { return result == WriteResult::kDone; }
};

// A seam for the tests. `pod` is namespace/name.
class GangWrites {
 public:
  virtual ~GangWrites() = default;
  // status.nominatedNodeName from `seen` to `node`, "" for none.
  virtual WriteOutcome nominate(std::string_view pod, std::string_view uid, std::string_view seen,
                                std::string_view node) = 0;
  // Takes rankward.io/gang away, the only gate that the pod has.
  virtual WriteOutcome lift_gate(std::string_view pod, std::string_view uid) = 0;
  virtual WriteOutcome post_event(const formats::PodEvent& event) = 0;
  // Changes the object of ours that kube-scheduler watches.
  virtual WriteOutcome wake(std::string_view value) = 0;
  // Whose nomination the pod carries.
  virtual Result<formats::NominationHead> nomination(std::string_view pod) = 0;
};

class ApiWrites final : public GangWrites {
 public:
  // `name_space` is our own.
  ApiWrites(ApiClient& client, std::string name_space, std::chrono::milliseconds timeout)
      : client_(client), name_space_(std::move(name_space)), timeout_(timeout) {}

  WriteOutcome nominate(std::string_view pod, std::string_view uid, std::string_view seen,
                        std::string_view node) override;
  WriteOutcome lift_gate(std::string_view pod, std::string_view uid) override;
  WriteOutcome post_event(const formats::PodEvent& event) override;
  WriteOutcome wake(std::string_view value) override;
  Result<formats::NominationHead> nomination(std::string_view pod) override;

 private:
  [[nodiscard]] WriteOutcome send(std::string_view method, const std::string& target,
                                  std::string_view content_type, const std::string& body);

  ApiClient& client_;
  const std::string name_space_;
  const std::chrono::milliseconds timeout_;
};

// "namespace/name" -> "/api/v1/namespaces/namespace/pods/name". Empty where it is no such name:
// what the API server gives us always is, and nothing else may become a path.
[[nodiscard]] std::string pod_path(std::string_view pod);

[[nodiscard]] WriteOutcome outcome_of(const Result<net::ClientResponse>& response);

}  // namespace rankward::cluster
