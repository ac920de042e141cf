#include "cluster_facts_board.hpp"

#include <memory>
#include <utility>

namespace rankward::cluster {

ClusterFactsBoard::ClusterFactsBoard(std::chrono::milliseconds interval)
    : interval_(interval), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ClusterFactsBoard::edit(const std::function<bool(admission::ClusterFacts&)>& change) {
  const std::lock_guard lock(mutex_);
  if (!change(facts_)) return;
  changed_ = true;
  edited_.notify_one();
}

void ClusterFactsBoard::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (edited_.wait(lock, stop, [this] { return changed_; })) {
    // The rest of the burst.
    edited_.wait_for(lock, stop, interval_, [] { return false; });
    changed_ = false;
    auto facts = std::make_shared<const admission::ClusterFacts>(facts_);
    lock.unlock();
    published_.store(std::move(facts));
    lock.lock();
  }
}

void ClusterFactsBoard::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace rankward::cluster
