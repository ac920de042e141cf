// Where the threads of the resources put what they hear, and from where it is published.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "rankward/admission/cluster_facts.hpp"
#include "rankward/cluster/latest.hpp"

namespace rankward::cluster {

// Changes that come within one interval are published together.
class ClusterFactsBoard {
 public:
  explicit ClusterFactsBoard(std::chrono::milliseconds interval);

  // `change` says whether it changed anything. From any thread.
  void edit(const std::function<bool(admission::ClusterFacts&)>& change);
  [[nodiscard]] const Latest<admission::ClusterFacts>& published() const { return published_; }
  void stop();

 private:
  void run(const std::stop_token& stop);

  const std::chrono::milliseconds interval_;
  Latest<admission::ClusterFacts> published_;
  std::mutex mutex_;
  std::condition_variable_any edited_;
  admission::ClusterFacts facts_;  // under mutex_, as all below
  bool changed_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace rankward::cluster
