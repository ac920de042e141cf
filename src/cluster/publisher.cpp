#include "publisher.hpp"

#include <set>
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

Publisher::Publisher(const PublisherOptions& options, Publish publish)
    : options_(options),
      patience_ends_(steady_clock::now() + options.gang_patience),
      publish_(std::move(publish)),
      not_before_(steady_clock::now()),
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

bool Publisher::wait_for_changes(const std::stop_token& stop, std::vector<Change>& batch) {
  std::unique_lock lock(mutex_);
  const auto queued = [this] { return !queue_.empty(); };
  // Before the first Snapshot the end of patience is as good as a change.
  if (synced() || settled_.size() >= options_.gang_resources) {
    queued_.wait(lock, stop, queued);
  } else {
    queued_.wait_until(lock, stop, patience_ends_, queued);
  }
  if (stop.stop_requested()) return false;
  // Spin-free wait for the rest of a burst; only stop ends it early.
  queued_.wait_until(lock, stop, not_before_, [] { return false; });
  if (stop.stop_requested()) return false;
  batch.swap(queue_);
  return true;
}

void Publisher::run(const std::stop_token& stop) {
  std::vector<Change> batch;
  while (wait_for_changes(stop, batch)) {
    drained_.notify_all();
    for (auto& change : batch)
      apply(std::move(change));
    batch.clear();
    if (!may_publish()) continue;
    publish();
    not_before_ = steady_clock::now() + options_.interval;
  }
}

bool Publisher::may_publish() const {
  if (!have_nodes_ || !have_pods_) return false;
  if (synced()) return builder_.changed();
  return settled_.size() >= options_.gang_resources || steady_clock::now() >= patience_ends_;
}

void Publisher::replace_gang_owners(const std::string& resource,
                                    std::vector<formats::GangOwner> owners) {
  builder_.clear_gang_facts(resource + "/");
  for (auto& owner : owners)
    builder_.put_gang_facts(owner.key, std::move(owner.facts));
}

void Publisher::settle_gang_resource(std::string resource, bool heard) {
  const auto [entry, added] = settled_.try_emplace(std::move(resource), false);
  if (entry->second == heard) return;
  entry->second = heard;
  std::set<std::string> kinds;
  for (const formats::GangResource& each : formats::gang_resources()) {
    const auto found = settled_.find(each.name());
    if (found != settled_.end() && found->second) kinds.merge(formats::gang_kinds(each));
  }
  builder_.set_owner_kinds({kinds.begin(), kinds.end()});
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
                 [this](PodPut&& put) { builder_.put_pod(std::move(put.pod)); },
                 [this](PodRemoved&& removed) { builder_.remove_pod(removed.key); },
                 [this](GangOwnersReplaced&& all) {
                   replace_gang_owners(all.resource, std::move(all.owners));
                   settle_gang_resource(std::move(all.resource), true);
                 },
                 [this](GangOwnersAbsent&& absent) {
                   replace_gang_owners(absent.resource, {});
                   settle_gang_resource(std::move(absent.resource), false);
                 },
                 [this](GangOwnerPut&& put) {
                   builder_.put_gang_facts(put.owner.key, std::move(put.owner.facts));
                 },
                 [this](GangOwnerRemoved&& removed) { builder_.remove_gang_facts(removed.key); },
                 [this](GangOwnersUnknown&& unknown) {
                   settle_gang_resource(std::move(unknown.resource), false);
                 },
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
