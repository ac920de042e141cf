// An API server on loopback that lists and watches Nodes, Pods and what it is told to have, and
// misbehaves on demand.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::cluster {

// What a watch that is open does next.
enum class Fault : std::uint8_t {
  kCutInsideLine,  // half an event, then the connection is closed
  kCutBetween,     // the connection is closed without the last chunk
  kCleanEnd,       // the last chunk, as at the end of timeoutSeconds
  kEndInsideLine,  // half an event, then the last chunk
  kGarbage,        // a line that is not JSON
  kGoneEvent,      // an ERROR event with code 410
  kErrorEvent,     // an ERROR event with code 500
  kBookmark,       // a BOOKMARK with the version that the watch has reached
  kUnknownType,    // an event of a type that does not exist
};

struct CannedResponse {
  int status = 500;
  std::string headers;  // complete lines
  std::string body;
};

class FakeApiServer {
 public:
  FakeApiServer();
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  [[nodiscard]] ApiServer address() const;

  // `resource` is "nodes", "pods", "namespaces", "persistentvolumes" or one that was installed.
  // `json` has @VERSION@ where its resourceVersion belongs. An object that is there already is
  // modified.
  void put(const std::string& resource, const std::string& name, std::string json);
  // "jobs.batch" in version "v1": it is there from now on. Others are answered 404.
  void install(const std::string& resource, const std::string& version);
  // With all its objects; its watches end.
  void uninstall(const std::string& resource);
  void remove(const std::string& resource, const std::string& name);
  // New watches from a version before this one are answered 410; open ones go on.
  void compact();
  // Versions begin anew, below all that were given, as after a restore of etcd.
  void restore();

  // For each watch of the resource that is open now.
  void disturb(const std::string& resource, Fault fault);
  // The next lists ("list nodes") or watches ("watch pods") get these, in turn.
  void answer_next(const std::string& call, CannedResponse response);
  void send_events_twice(bool twice) { twice_ = twice; }
  // New watches begin with so many events of before their version, as from a cache that lags.
  void replay(std::size_t events) { replay_ = events; }
  // Lists wait that long, watches stay silent, until it is set back to 0.
  void delay(std::chrono::milliseconds time) { delay_ = time; }
  // 401 for whoever does not send it; "" for no check.
  void require_token(std::string token);

  // "GET" targets in order of arrival, of one resource.
  [[nodiscard]] std::vector<std::string> targets(const std::string& resource) const;
  [[nodiscard]] std::size_t open_watches(const std::string& resource) const;
  // The state that an undisturbed client has in the end.
  [[nodiscard]] std::vector<kube::Node> nodes() const;
  [[nodiscard]] std::vector<kube::Pod> pods() const;
  [[nodiscard]] std::vector<std::string> installed() const;
  // JSON of each object of the resource.
  [[nodiscard]] std::vector<std::string> objects(const std::string& resource) const;
  [[nodiscard]] std::uint64_t version() const;

 private:
  struct LoggedEvent {
    std::uint64_t version;
    std::string resource;
    std::string line;
  };
  struct Listing {
    std::uint64_t version;
    std::map<std::string, std::string> objects;
  };
  struct Watch {
    std::string resource;
    std::deque<Fault> faults;
  };
  struct HttpRequest {
    std::string target;
    std::string token;
  };

  void accept_loop();
  void serve(int socket);
  bool read_request(int socket, std::string& buffer, HttpRequest& request) const;
  // Each returns whether the connection goes on.
  bool answer(int socket, const HttpRequest& request);
  bool answer_discovery(int socket, const std::string& path) const;
  // "" where there is none.
  [[nodiscard]] std::string resource_at(const std::string& path) const;
  bool answer_list(int socket, const std::string& resource, const HttpRequest& request);
  bool answer_watch(int socket, const std::string& resource, const HttpRequest& request);
  void log_event(const std::string& resource, const std::string& type, const std::string& json);

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> twice_{false};
  std::atomic<std::size_t> replay_{0};
  std::atomic<std::chrono::milliseconds> delay_{std::chrono::milliseconds(0)};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t version_ = 1000;  // under mutex_, as all below
  std::uint64_t compacted_ = 0;
  std::uint64_t epoch_ = 0;  // restores
  std::map<std::string, std::map<std::string, std::string>> objects_;
  std::map<std::string, std::string> paths_{{"nodes", "/api/v1/nodes"},
                                            {"pods", "/api/v1/pods"},
                                            {"namespaces", "/api/v1/namespaces"},
                                            {"persistentvolumes", "/api/v1/persistentvolumes"}};
  std::vector<LoggedEvent> log_;
  std::vector<std::shared_ptr<const Listing>>
      listings_;  // of lists in pages, by the number in their tokens
  std::list<Watch*> watches_;
  std::map<std::string, std::deque<CannedResponse>> canned_;
  std::vector<std::string> targets_;
  std::string token_;
  std::vector<int> sockets_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

}  // namespace rankward::cluster
