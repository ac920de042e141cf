// What admission learns of the cluster, and what it does without.
#include "rankward/cluster/cluster_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "watched.hpp"

namespace rankward::cluster {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

using enum FactsResource;

std::string namespace_json(const std::string& name, const std::string& labels) {
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":"@VERSION@","labels":{)" +
         labels + "}}}";
}

std::string volume_json(const std::string& name, const std::string& source,
                        const std::string& claim) {
  const std::string reference =
      claim.empty() ? "" : R"(,"claimRef":{"namespace":"team-a","name":")" + claim + "\"}";
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":"@VERSION@"},"spec":{)" +
         source + reference + "}}";
}

std::string host_path(const std::string& path) {
  return R"("hostPath":{"path":")" + path + "\"}";
}

class ClusterFactsTest : public testing::Test {
 protected:
  void start(const std::vector<FactsResource>& resources = {kPersistentVolumes, kNamespaces,
                                                            kNodes}) {
    WatcherOptions options = quick_options();
    options.on_event = [this](const WatchEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::string(event.resource) + ": " + std::string(event.message) + ": " +
                        event.error);
    };
    watcher_ = ClusterFactsWatcher::start(server_.address(), resources, std::move(options));
  }
  bool comes_to(const std::function<bool(const admission::ClusterFacts&)>& condition) const {
    return eventually([&] { return condition(*watcher_->facts().load()); });
  }
  [[nodiscard]] FactsState state(FactsResource resource) const {
    for (const FactsStats& stats : watcher_->stats())
      if (stats.resource == resource) return stats.state;
    ADD_FAILURE() << "not watched: " << to_string(resource);
    return FactsState::kUnknown;
  }
  // How often it was said that the resource may not be watched.
  [[nodiscard]] std::size_t told(const std::string& resource) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(events_.begin(), events_.end(), [&](const std::string& event) {
          return event.rfind(resource + ": may not be watched", 0) == 0;
        }));
  }

  FakeApiServer server_;
  mutable std::mutex mutex_;
  std::vector<std::string> events_;
  std::unique_ptr<ClusterFactsWatcher> watcher_;  // last: its threads use all of the above
};

TEST_F(ClusterFactsTest, are_the_most_that_a_node_has_labels_and_claimed_host_volumes) {
  server_.put("nodes", "small", node_json("small", 4));
  server_.put("nodes", "large", node_json("large", 8));
  server_.put("namespaces", "team-a", namespace_json("team-a", R"("a":"b")"));
  server_.put("persistentvolumes", "pv-1", volume_json("pv-1", host_path("/dev/nvidia0"), "data"));
  server_.put("persistentvolumes", "pv-2",
              volume_json("pv-2", R"("volumeMode":"Block","local":{"path":"/dev/sdb"})", "disk"));
  server_.put("persistentvolumes", "pv-3", volume_json("pv-3", R"("csi":{"driver":"x"})", "net"));
  server_.put("persistentvolumes", "pv-4", volume_json("pv-4", host_path("/data"), ""));
  start();
  ASSERT_TRUE(comes_to([](const auto& facts) {
    return !facts.largest_node.empty() && !facts.namespace_labels.empty() &&
           !facts.claimed_volumes.empty();
  }));
  const auto facts = watcher_->facts().load();
  EXPECT_THAT(facts->largest_node, ElementsAre(Pair("nvidia.com/gpu", 8)));
  EXPECT_THAT(facts->namespace_labels, ElementsAre(Pair("team-a", ElementsAre(Pair("a", "b")))));
  ASSERT_THAT(facts->claimed_volumes, SizeIs(2));
  EXPECT_EQ(facts->claimed_volumes.at("team-a/data").host_path->path, "/dev/nvidia0");
  EXPECT_EQ(facts->claimed_volumes.at("team-a/disk").local_path, "/dev/sdb");
  EXPECT_TRUE(facts->claimed_volumes.at("team-a/disk").block);
  EXPECT_EQ(state(kNodes), FactsState::kWatched);
}

TEST_F(ClusterFactsTest, follow_what_changes) {
  server_.put("nodes", "small", node_json("small", 4));
  server_.put("nodes", "large", node_json("large", 8));
  server_.put("persistentvolumes", "pv-1", volume_json("pv-1", host_path("/data"), ""));
  server_.put("namespaces", "team-a", namespace_json("team-a", R"("a":"b")"));
  start();
  ASSERT_TRUE(comes_to([](const auto& facts) {
    return facts.largest_node.count("nvidia.com/gpu") > 0 && facts.namespace_labels.size() == 1;
  }));
  server_.remove("nodes", "large");
  server_.put("persistentvolumes", "pv-1", volume_json("pv-1", host_path("/data"), "claim"));
  server_.put("namespaces", "team-a",
              namespace_json("team-a", R"("rankward.io/isolation":"required")"));
  EXPECT_TRUE(comes_to([](const auto& facts) {
    return facts.largest_node.at("nvidia.com/gpu") == 4 &&
           facts.claimed_volumes.count("team-a/claim") > 0 &&
           facts.namespace_labels.at("team-a").count("rankward.io/isolation") > 0;
  }));
  server_.put("persistentvolumes", "pv-1", volume_json("pv-1", host_path("/data"), ""));
  server_.remove("namespaces", "team-a");
  EXPECT_TRUE(comes_to([](const auto& facts) {
    return facts.claimed_volumes.empty() && facts.namespace_labels.empty();
  }));
}

TEST_F(ClusterFactsTest, are_not_published_anew_for_what_does_not_matter) {
  server_.put("nodes", "a", node_json("a", 8));
  start({kNodes});
  ASSERT_TRUE(comes_to([](const auto& facts) { return !facts.largest_node.empty(); }));
  const auto before = watcher_->facts().load();
  server_.put("nodes", "a", node_json("a", 8, R"("heartbeat":"1")"));
  server_.put("nodes", "b", node_json("b", 2));
  ASSERT_TRUE(eventually([&] { return watcher_->stats().front().watch.events == 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(watcher_->facts().load(), before);
}

TEST_F(ClusterFactsTest, lack_what_may_not_be_watched_until_it_may) {
  server_.put("nodes", "a", node_json("a", 8));
  server_.put("persistentvolumes", "pv-1", volume_json("pv-1", host_path("/data"), "claim"));
  for (int i = 0; i < 3; ++i) {
    server_.answer_next(
        "list persistentvolumes",
        {403, "", R"({"kind":"Status","message":"persistentvolumes is forbidden"})"});
  }
  start({kPersistentVolumes, kNodes});
  ASSERT_TRUE(eventually([&] { return state(kPersistentVolumes) == FactsState::kForbidden; }));
  ASSERT_TRUE(comes_to([](const auto& facts) { return !facts.largest_node.empty(); }));
  EXPECT_THAT(watcher_->facts().load()->claimed_volumes, IsEmpty());
  ASSERT_TRUE(comes_to([](const auto& facts) { return facts.claimed_volumes.size() == 1; }));
  EXPECT_EQ(state(kPersistentVolumes), FactsState::kWatched);
  EXPECT_EQ(told("persistentvolumes"), 1U) << "said once, however often it is tried";
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(events_, Contains(HasSubstr("persistentvolumes is forbidden")));
}

TEST_F(ClusterFactsTest, forget_what_was_taken_away_and_say_so_again) {
  server_.put("namespaces", "team-a", namespace_json("team-a", R"("a":"b")"));
  start({kNamespaces});
  ASSERT_TRUE(comes_to([](const auto& facts) { return facts.namespace_labels.size() == 1; }));
  ASSERT_TRUE(eventually([&] { return server_.open_watches("namespaces") == 1; }));
  server_.uninstall("namespaces");
  EXPECT_TRUE(comes_to([](const auto& facts) { return facts.namespace_labels.empty(); }));
  EXPECT_TRUE(eventually([&] { return state(kNamespaces) == FactsState::kAbsent; }));
  EXPECT_TRUE(eventually([&] { return told("namespaces") == 1; }));
}

TEST_F(ClusterFactsTest, survive_the_faults_that_a_watch_has) {
  server_.put("nodes", "a", node_json("a", 1));
  start({kNodes});
  ASSERT_TRUE(comes_to([](const auto& facts) { return !facts.largest_node.empty(); }));
  int gpus = 1;
  for (const Fault fault : {Fault::kCutInsideLine, Fault::kGarbage, Fault::kGoneEvent,
                            Fault::kErrorEvent, Fault::kCleanEnd}) {
    ASSERT_TRUE(eventually([&] { return server_.open_watches("nodes") == 1; }));
    server_.disturb("nodes", fault);
    server_.put("nodes", "a", node_json("a", ++gpus));
    EXPECT_TRUE(comes_to(
        [&](const auto& facts) { return facts.largest_node.at("nvidia.com/gpu") == gpus; }));
  }
}

TEST_F(ClusterFactsTest, ask_for_nothing_but_what_was_wanted) {
  start({kNamespaces});
  ASSERT_TRUE(eventually([&] { return server_.open_watches("namespaces") == 1; }));
  EXPECT_THAT(server_.targets("nodes"), IsEmpty());
  EXPECT_THAT(server_.targets("persistentvolumes"), IsEmpty());
  EXPECT_THAT(watcher_->stats(), SizeIs(1));
}

TEST_F(ClusterFactsTest, end_quickly_whatever_goes_on) {
  server_.answer_next("list nodes", {403, "", ""});
  server_.delay(std::chrono::seconds(60));
  start();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  watcher_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  server_.delay(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace rankward::cluster
