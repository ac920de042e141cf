// Nodes and Pods as Changes of the Snapshot.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "publisher.hpp"
#include "rankward/cluster/watcher.hpp"
#include "resource_sink.hpp"

namespace rankward::cluster {

class NodeSink final : public ResourceSink {
 public:
  NodeSink(Publisher& publisher, const WatcherOptions& options)
      : publisher_(publisher), options_(options) {}

  void begin_list() override { listed_.clear(); }
  Result<void> list_item(std::string_view json) override;
  void end_list() override;
  Result<void> put(std::string_view json) override;
  Result<void> remove(std::string_view json) override;

  // From any thread.
  [[nodiscard]] std::uint64_t bad_annotations() const { return bad_annotations_; }

 private:
  Result<NodeFacts> read(std::string_view json);

  Publisher& publisher_;
  const WatcherOptions& options_;
  std::vector<NodeFacts> listed_;
  std::atomic<std::uint64_t> bad_annotations_{0};
  // What was last reported, by node: the same fault comes back with every heartbeat.
  std::map<std::string, std::string, std::less<>> reported_;
};

class PodSink final : public ResourceSink {
 public:
  PodSink(Publisher& publisher, const WatcherOptions& options)
      : publisher_(publisher), options_(options) {}

  void begin_list() override { listed_.clear(); }
  Result<void> list_item(std::string_view json) override;
  void end_list() override;
  Result<void> put(std::string_view json) override;
  Result<void> remove(std::string_view json) override;

 private:
  Publisher& publisher_;
  const WatcherOptions& options_;
  std::vector<placement::PodDigest> listed_;
};

}  // namespace rankward::cluster
