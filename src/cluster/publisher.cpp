#include "publisher.hpp"

#include <utility>

namespace rankward::cluster {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxQueue = 8192;

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace

Publisher::Publisher(std::chrono::milliseconds interval, Publish publish)
    : interval_(interval),
      publish_(std::move(publish)),
      thread_([this] { run(stopping_.get_token()); }) {}

void Publisher::push(Change change) {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, stopping_.get_token(), [this] { return queue_.size() < kMaxQueue; });
  if (stopping_.stop_requested()) return;
  queue_.push_back(std::move(change));
  queued_.notify_one();
}

void Publisher::stop() {
  stopping_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Publisher::run(const std::stop_token& stop) {
  std::vector<Change> batch;
  auto not_before = steady_clock::now();
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!queued_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      // Spin-free wait for the rest of a burst; only stop ends it early.
      queued_.wait_until(lock, stop, not_before, [] { return false; });
      if (stop.stop_requested()) return;
      batch.swap(queue_);
    }
    drained_.notify_all();
    for (auto& change : batch)
      apply(std::move(change));
    batch.clear();
    if (!have_nodes_ || !have_pods_) continue;
    publish();
    not_before = steady_clock::now() + interval_;
  }
}

void Publisher::apply(Change change) {
  std::visit(Overload{
                 [this](NodesReplaced&& all) {
                   builder_.clear_nodes();
                   for (auto& facts : all.nodes) {
                     builder_.put_node(std::move(facts.node), std::move(facts.topology));
                   }
                   have_nodes_ = true;
                 },
                 [this](NodePut&& put) {
                   builder_.put_node(std::move(put.node.node), std::move(put.node.topology));
                 },
                 [this](NodeRemoved&& removed) { builder_.remove_node(removed.name); },
                 [this](PodsReplaced&& all) {
                   builder_.clear_pods();
                   for (const auto& pod : all.pods)
                     builder_.put_pod(pod);
                   have_pods_ = true;
                 },
                 [this](PodPut&& put) { builder_.put_pod(put.pod); },
                 [this](PodRemoved&& removed) { builder_.remove_pod(removed.key); },
             },
             std::move(change));
}

void Publisher::publish() {
  auto snapshot = builder_.build();
  holder_.store(snapshot);
  ++published_;
  synced_.store(true, std::memory_order_release);
  if (publish_) publish_(snapshot);
}

}  // namespace rankward::cluster
