// The protocol: what is asked for, what is reported, what is counted.
#include "rankward/cluster/watcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "../temporary_folder.hpp"
#include "fake_clock.hpp"
#include "watched.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Watcher : public testing::Test, protected Watched {
 protected:
  void fill() {
    put_node("node-a", 8);
    put_node("node-b", 4);
    put_pod("p1", "uid-1", "node-a", 2);
    put_pod("p2", "uid-2", "node-b", 4);
  }
};

TEST_F(Watcher, lists_from_the_cache_then_watches_with_bookmarks) {
  fill();
  start();
  ASSERT_TRUE(settles());
  EXPECT_EQ(describe(*watcher_->current()),
            "node-a gpus=8 free=6 labels=8: uid-1=2\n"
            "node-b gpus=4 free=0 labels=4: uid-2=4\n");
  const std::string version = std::to_string(server_.version());
  EXPECT_THAT(server_.targets("nodes"),
              ElementsAre("/api/v1/nodes?resourceVersion=0",
                          "/api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=" +
                              version + "&timeoutSeconds=450"));
  const std::string selector =
      "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
  EXPECT_THAT(server_.targets("pods"),
              ElementsAre("/api/v1/pods?" + selector + "&resourceVersion=0",
                          "/api/v1/pods?watch=1&allowWatchBookmarks=true&" + selector +
                              "&resourceVersion=" + version + "&timeoutSeconds=450"));
}

TEST_F(Watcher, follows_what_is_added_modified_and_deleted) {
  fill();
  start();
  ASSERT_TRUE(settles());
  put_node("node-c", 8);
  put_node("node-b", 6);
  server_.remove("pods", "p1");
  put_pod("p3", "uid-3", "node-c", 8);
  ASSERT_TRUE(settles());
  server_.remove("nodes", "node-a");
  ASSERT_TRUE(settles());
  EXPECT_EQ(describe(*watcher_->current()),
            "node-b gpus=6 free=2 labels=6: uid-2=4\n"
            "node-c gpus=8 free=0 labels=8: uid-3=8\n");
  const auto stats = watcher_->stats();
  EXPECT_EQ(stats.nodes.events, 3U);
  EXPECT_EQ(stats.pods.events, 2U);
  EXPECT_EQ(stats.relists(), 0U);
}

TEST_F(Watcher, follows_the_pods_of_a_gang_from_pending_to_bound_and_gone) {
  put_node("node-a", 8);
  put_pod("alone", "uid-0", "", 1);
  put_pod("g0", "uid-1", "", 2, "g");
  put_pod("g1", "uid-2", "", 2, "g");
  auto options = quick_options();
  options.requests.message_size = topology::Bytes{1 << 20};
  start(options);
  ASSERT_TRUE(settles());
  EXPECT_EQ(describe(*watcher_->current()),
            "node-a gpus=8 free=8 labels=8:\n"
            "team/Gang/g: waits uid-1 waits uid-2\n");
  const auto snapshot = watcher_->current();
  EXPECT_EQ(snapshot->gang("team/Gang/g")->pending[0].request->message_size.count, 1 << 20);
  put_pod("g0", "uid-1", "node-a", 2, "g");
  ASSERT_TRUE(settles());
  EXPECT_EQ(describe(*watcher_->current()),
            "node-a gpus=8 free=6 labels=8: uid-1=2\n"
            "team/Gang/g: on node-a waits uid-2\n");
  server_.remove("pods", "g1");
  ASSERT_TRUE(settles());
  server_.remove("pods", "g0");
  ASSERT_TRUE(settles());
  EXPECT_EQ(describe(*watcher_->current()), "node-a gpus=8 free=8 labels=8:\n");
}

GangSourceStats source_of(const ClusterWatcher& watcher, const std::string& resource) {
  for (const auto& source : watcher.stats().gang_sources) {
    if (source.resource == resource) return source;
  }
  return {};
}

TEST_F(Watcher, hears_of_a_gangs_size_from_the_resources_that_the_server_has) {
  fill();
  server_.install("jobs.batch", "v1");
  put_job("train", "g", 4);
  put_job("done", "g", 0);
  put_pod("g0", "uid-g0", "", 1, "g");
  start(options_with_gangs());
  ASSERT_TRUE(settles());
  EXPECT_THAT(describe(*watcher_->current()), HasSubstr("team/Gang/g: waits uid-g0 size =4\n"));
  EXPECT_EQ(source_of(*watcher_, "jobs.batch").state, GangSourceState::kWatched);
  EXPECT_EQ(source_of(*watcher_, "jobs.batch").watch.lists, 1U);
  EXPECT_EQ(source_of(*watcher_, "statefulsets.apps").state, GangSourceState::kAbsent);
  EXPECT_EQ(server_.targets("jobs.batch").front(), "/apis/batch/v1/jobs?resourceVersion=0");
  put_job("train", "g", 6);
  ASSERT_TRUE(settles());
  server_.remove("jobs.batch", "train");
  ASSERT_TRUE(settles());
  EXPECT_THAT(describe(*watcher_->current()), HasSubstr("team/Gang/g: waits uid-g0\n"));
  // Installed later.
  server_.install("statefulsets.apps", "v1");
  put_stateful_set("set", "g", 8);
  ASSERT_TRUE(settles());
  EXPECT_THAT(describe(*watcher_->current()), HasSubstr("size =8"));
}

TEST_F(Watcher, asks_for_the_best_version_that_has_the_resource) {
  fill();
  server_.install("podgroups.scheduling.k8s.io", "v1alpha3");
  server_.install("priorityclasses.scheduling.k8s.io", "v1beta1");
  auto options = quick_options();
  options.gang_resources = {"podgroups.scheduling.k8s.io"};
  start(options);
  ASSERT_TRUE(eventually(
      [this] { return source_of(*watcher_, "podgroups.scheduling.k8s.io").watch.watches == 1; }));
  EXPECT_THAT(server_.targets("podgroups.scheduling.k8s.io").front(),
              HasSubstr("/apis/scheduling.k8s.io/v1alpha3/podgroups?"));
}

TEST_F(Watcher, says_once_what_it_may_not_watch_and_is_ready_without) {
  fill();
  server_.install("jobs.batch", "v1");
  for (int i = 0; i < 4; ++i)
    server_.answer_next("list jobs.batch", {403, "", R"({"message":"jobs is forbidden"})"});
  start(options_with_gangs());
  ASSERT_TRUE(eventually([this] { return watcher_->ready(); }));
  ASSERT_TRUE(settles());
  EXPECT_EQ(source_of(*watcher_, "jobs.batch").watch.failures, 4U);
  const auto told = events();
  EXPECT_EQ(std::count(told.begin(), told.end(),
                       "jobs.batch : may not be watched, so it says nothing of gangs: HTTP status "
                       "403: jobs is forbidden"),
            1);
}

TEST_F(Watcher, waits_for_gang_sizes_but_not_longer_than_its_patience) {
  fill();
  server_.install("jobs.batch", "v1");
  for (int i = 0; i < 1000; ++i)
    server_.answer_next("list jobs.batch", {503, "", ""});
  auto options = options_with_gangs();
  options.timing.gang_patience = milliseconds(300);
  const auto started = steady_clock::now();
  start(options);
  ASSERT_TRUE(eventually([this] { return server_.open_watches("pods") == 1; }));
  ASSERT_TRUE(eventually([this] { return watcher_->ready(); }));
  EXPECT_GE(steady_clock::now() - started, milliseconds(300));
  EXPECT_EQ(source_of(*watcher_, "jobs.batch").watch.lists, 0U);
}

TEST_F(Watcher, publishes_nothing_where_an_owner_says_the_same_again) {
  fill();
  server_.install("jobs.batch", "v1");
  put_job("train", "g", 4);
  start(options_with_gangs());
  ASSERT_TRUE(settles());
  const auto before = watcher_->current()->number();
  const auto heard = source_of(*watcher_, "jobs.batch").watch.events;
  put_job("train", "g", 4);
  ASSERT_TRUE(
      eventually([&] { return source_of(*watcher_, "jobs.batch").watch.events == heard + 1; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(watcher_->current()->number(), before);
}

TEST_F(Watcher, is_not_ready_before_both_resources_are_listed) {
  fill();
  server_.answer_next("list pods", {403, "", R"({"message":"pods is forbidden"})"});
  auto options = quick_options();
  options.timing.least_backoff = options.timing.longest_backoff = milliseconds(300);
  start(options);
  ASSERT_TRUE(eventually([this] { return server_.open_watches("nodes") == 1; }));
  EXPECT_FALSE(watcher_->ready());
  EXPECT_EQ(watcher_->current()->size(), 0U);
  EXPECT_EQ(watcher_->snapshot_age(), std::nullopt);
  ASSERT_TRUE(settles());
  EXPECT_TRUE(watcher_->ready());
  EXPECT_THAT(events(), Contains("pods : list failed, trying again: "
                                 "HTTP status 403: pods is forbidden"));
}

TEST_F(Watcher, continues_a_watch_that_ends_at_its_time_without_a_list) {
  fill();
  start();
  ASSERT_TRUE(settles());
  put_node("node-c", 8);
  ASSERT_TRUE(settles());
  const auto version = std::to_string(server_.version());
  server_.disturb("nodes", Fault::kCleanEnd);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.watches == 2; }));
  put_node("node-d", 8);
  ASSERT_TRUE(settles());
  const auto stats = watcher_->stats();
  EXPECT_EQ(stats.nodes.watch_ends, 1U);
  EXPECT_EQ(stats.nodes.failures, 0U);
  EXPECT_EQ(stats.relists(), 0U);
  EXPECT_EQ(stats.watch_restarts(), 1U);
  EXPECT_THAT(server_.targets("nodes").back(), HasSubstr("resourceVersion=" + version + "&"));
}

TEST_F(Watcher, takes_a_watch_that_ends_at_once_for_a_failure) {
  fill();
  start();
  ASSERT_TRUE(settles());
  server_.disturb("nodes", Fault::kCleanEnd);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 1; }));
  EXPECT_THAT(events(), Contains(HasSubstr("the watch ended at once")));
  EXPECT_TRUE(settles());
}

TEST_F(Watcher, lists_again_from_the_version_of_the_last_bookmark) {
  fill();
  start();
  ASSERT_TRUE(settles());
  put_pod("p3", "uid-3", "node-a", 1);  // moves the version on, but not that of nodes
  const auto version = std::to_string(server_.version());
  server_.disturb("nodes", Fault::kBookmark);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.bookmarks == 1; }));
  server_.disturb("nodes", Fault::kCutBetween);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 1; }));
  EXPECT_THAT(server_.targets("nodes"), Contains("/api/v1/nodes?resourceVersion=" + version +
                                                 "&resourceVersionMatch=NotOlderThan"));
  EXPECT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().pods.relists, 0U);
}

TEST_F(Watcher, asks_etcd_in_pages_after_410_in_a_stream_or_as_status) {
  fill();
  put_node("node-c", 8);
  start();
  ASSERT_TRUE(settles());
  server_.disturb("nodes", Fault::kGoneEvent);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 1; }));
  EXPECT_EQ(watcher_->stats().nodes.gone, 1U);
  EXPECT_THAT(server_.targets("nodes"), AllOf(Contains("/api/v1/nodes?limit=2"),
                                              Contains("/api/v1/nodes?limit=2&continue=0.2")));
  ASSERT_TRUE(settles());

  put_node("node-d", 8);
  ASSERT_TRUE(settles());
  server_.compact();
  server_.disturb("nodes", Fault::kCleanEnd);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 2; }));
  EXPECT_EQ(watcher_->stats().nodes.gone, 2U);
  EXPECT_TRUE(settles());
}

TEST_F(Watcher, recovers_when_versions_go_back_as_after_a_restore_of_etcd) {
  fill();
  start();
  ASSERT_TRUE(settles());
  server_.restore();
  EXPECT_TRUE(settles());
  put_node("node-c", 8);
  EXPECT_TRUE(settles());
}

TEST_F(Watcher, waits_as_long_as_retry_after_asks) {
  fill();
  server_.answer_next("list nodes", {429, "Retry-After: 1\r\n", ""});
  const auto started = steady_clock::now();
  start();
  ASSERT_TRUE(settles());
  EXPECT_GE(steady_clock::now() - started, milliseconds(1000));
  EXPECT_EQ(watcher_->stats().nodes.failures, 1U);
  EXPECT_EQ(watcher_->stats().relists(), 0U);
}

TEST_F(Watcher, caps_what_retry_after_asks) {
  fill();
  server_.answer_next("list nodes", {503, "Retry-After: 3600\r\n", ""});
  auto options = quick_options();
  options.timing.longest_retry_after = milliseconds(50);
  start(options);
  EXPECT_TRUE(settles());
}

TEST_F(Watcher, lists_again_once_an_outage_however_many_tries_it_takes) {
  fill();
  start();
  ASSERT_TRUE(settles());
  for (int i = 0; i < 5; ++i)
    server_.answer_next("list nodes", {500, "", ""});
  server_.disturb("nodes", Fault::kCutInsideLine);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 1; }));
  ASSERT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().nodes.failures, 6U);
  EXPECT_EQ(watcher_->stats().relists(), 1U);
}

TEST_F(Watcher, publishes_a_new_list_as_one_replacement) {
  fill();
  std::atomic<std::size_t> least{1000};
  start(quick_options(), [&](const std::shared_ptr<const placement::Snapshot>& snapshot) {
    least = std::min(least.load(), snapshot->size());
  });
  ASSERT_TRUE(settles());
  const auto before = watcher_->current()->number();
  server_.disturb("nodes", Fault::kCutBetween);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists == 1; }));
  ASSERT_TRUE(eventually([&] { return watcher_->current()->number() > before; }));
  EXPECT_EQ(watcher_->current()->number(), before + 1);
  EXPECT_EQ(least, 2U);
}

TEST_F(Watcher, makes_few_snapshots_of_a_burst_and_keeps_order) {
  fill();
  auto options = quick_options();
  options.timing.publish_interval = milliseconds(100);
  start(options);
  ASSERT_TRUE(settles());
  const auto before = watcher_->stats().snapshots;
  const auto started = steady_clock::now();
  for (int i = 1; i <= 400; ++i)
    put_node("node-a", i);
  ASSERT_TRUE(settles());
  const auto intervals = (steady_clock::now() - started) / milliseconds(100);
  EXPECT_THAT(describe(*watcher_->current()), HasSubstr("node-a gpus=400"));
  EXPECT_LE(watcher_->stats().snapshots - before, static_cast<std::uint64_t>(intervals) + 2);
}

TEST_F(Watcher, counts_a_bad_annotation_reports_it_once_and_uses_the_labels) {
  fill();
  put_node("node-c", 8, R"("rankward.io/topology":"{\"version\":99}")");
  start();
  ASSERT_TRUE(settles());
  put_node("node-c", 7, R"("rankward.io/topology":"{\"version\":99}")");
  ASSERT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().bad_annotations, 2U);
  const auto all = events();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const std::string& event) {
                            return event.find("nodes node-c: topology annotation cannot be read") ==
                                   0;
                          }),
            1);
  const auto snapshot = watcher_->current();
  EXPECT_EQ(snapshot->node(*snapshot->find("node-c")).topology->gpu_count, 7);
  EXPECT_EQ(watcher_->stats().parse_errors(), 0U);
}

TEST_F(Watcher, passes_over_objects_that_cannot_be_read) {
  fill();
  server_.put("nodes", "odd", R"({"metadata":{"name":7,"resourceVersion":"@VERSION@"}})");
  start();
  ASSERT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().nodes.parse_errors, 1U);
  put_node("node-c", 8);
  ASSERT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().relists(), 0U);
}

TEST_F(Watcher, gives_up_a_watch_that_is_silent_for_too_long) {
  fill();
  auto options = quick_options();
  options.timing.watch_silence = milliseconds(150);
  start(options);
  EXPECT_TRUE(eventually([this] {
    const auto stats = watcher_->stats();
    return stats.nodes.relists > 0 && stats.pods.relists > 0;
  }));
}

TEST_F(Watcher, gives_up_a_line_over_its_limit) {
  fill();
  auto options = quick_options();
  options.max_line_bytes = 2000;
  start(options);
  ASSERT_TRUE(settles());
  put_node("node-c", 8, R"("note":")" + std::string(3000, 'x') + "\"");
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.relists > 0; }));
  EXPECT_THAT(events(), Contains(HasSubstr("an event is larger than 2000 bytes")));
  EXPECT_TRUE(settles());
}

TEST_F(Watcher, uses_a_token_that_was_rotated_under_it) {
  const TemporaryFolder folder;
  fill();
  server_.require_token("one");
  address_ = server_.address();
  address_->token_file = folder.write("token", "one\n");
  start();
  ASSERT_TRUE(settles());
  folder.write("token", "two\n");
  server_.require_token("two");
  server_.disturb("nodes", Fault::kCutBetween);
  server_.disturb("pods", Fault::kCutBetween);
  ASSERT_TRUE(eventually([this] { return watcher_->relists() == 2; }));
  EXPECT_TRUE(settles());
  EXPECT_EQ(watcher_->stats().nodes.failures, 1U);  // the cut itself: the 401 was no failure
  for (const auto& event : events())
    EXPECT_THAT(event, Not(HasSubstr("one")));
}

TEST_F(Watcher, knows_how_old_its_snapshot_may_be) {
  FakeClock clock{std::chrono::system_clock::time_point(seconds(1769860800))};
  fill();
  auto options = quick_options();
  options.clock = &clock;
  start(options);
  ASSERT_TRUE(settles());
  clock.advance(seconds(40));
  server_.disturb("pods", Fault::kBookmark);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().pods.bookmarks == 1; }));
  EXPECT_EQ(watcher_->snapshot_age(), seconds(40));  // nodes have been silent
  server_.disturb("nodes", Fault::kBookmark);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.bookmarks == 1; }));
  ASSERT_TRUE(eventually([this] { return watcher_->snapshot_age() == seconds(0); }));
  watcher_->stop();  // the clock ends before the watcher does
}

class WatcherStops : public Watcher {
 protected:
  // Whatever it waits for takes half a minute at least.
  void expect_quick_stop() {
    const auto started = steady_clock::now();
    watcher_->stop();
    EXPECT_LT(steady_clock::now() - started, seconds(15));
  }
};

TEST_F(WatcherStops, in_the_middle_of_a_watch_and_keeps_its_snapshot) {
  fill();
  start();
  ASSERT_TRUE(settles());
  expect_quick_stop();
  EXPECT_TRUE(watcher_->ready());
  EXPECT_EQ(describe(*watcher_->current()), expected());
}

TEST_F(WatcherStops, in_the_middle_of_a_list) {
  server_.delay(seconds(60));
  auto options = quick_options();
  options.timing.list_timeout = seconds(60);
  start(options);
  ASSERT_TRUE(eventually([this] { return server_.targets("pods").size() == 1; }));
  expect_quick_stop();
  EXPECT_FALSE(watcher_->ready());
  server_.delay(milliseconds(0));
}

TEST_F(WatcherStops, while_it_waits_to_try_again) {
  server_.answer_next("list nodes", {500, "", ""});
  auto options = quick_options();
  options.timing.least_backoff = options.timing.longest_backoff = seconds(30);
  start(options);
  ASSERT_TRUE(eventually([this] { return watcher_->stats().nodes.failures == 1; }));
  expect_quick_stop();
}

TEST_F(WatcherStops, while_a_credential_plugin_hangs) {
  const TemporaryFolder folder;
  address_ = server_.address();
  address_->exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                              .command = folder.script("plugin", "touch \"$0.ran\"; sleep 60\n")};
  start();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path("plugin.ran")); }));
  expect_quick_stop();
}

}  // namespace
}  // namespace rankward::cluster
