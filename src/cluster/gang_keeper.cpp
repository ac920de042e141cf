#include "rankward/cluster/gang_keeper.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "api_client.hpp"
#include "api_writes.hpp"
#include "credentials.hpp"
#include "gang_keeper_rounds.hpp"

namespace rankward::cluster {
namespace {

constexpr std::string_view kNamespace = "rankward-system";
// Between two rounds of which the first had more to write than a round may.
constexpr std::chrono::milliseconds kBreath{1};

std::function<double()> seeded_random() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::generate_canonical<double, 53>(engine);
  };
}

}  // namespace

struct GangKeeper::Impl {
  Impl(ApiServer api_server, PlanBoard& plan_board, GangKeeperOptions keeper_options)
      : server(std::move(api_server)), board(plan_board), options(std::move(keeper_options)) {
    if (options.name_space.empty()) options.name_space = server.namespace_;
    if (options.name_space.empty()) options.name_space = kNamespace;
    options.leader.name_space = options.name_space;
    options.leader.clock = options.clock;
    options.leader.on_event = options.on_event;
  }
  ~Impl() { stop(); }

  void start() {
    if (thread.joinable()) return;
    leader = Leader::start(server, options.leader);
    credentials.emplace(server, *options.clock, stopping.get_token());
    client.emplace(server, *credentials);
    writes.emplace(*client, options.name_space, options.timing.request_timeout);
    rounds.emplace(
        board, *writes, options, [this] { return !stopping.stop_requested() && leader->leading(); },
        leader->identity(), options.random ? options.random : seeded_random());
    thread = std::thread([this] { run(stopping.get_token()); });
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto time = rounds->run() ? kBreath : options.timing.look;
      std::unique_lock lock(mutex);
      wake.wait_for(lock, stop, time, [this] { return notified; });
      notified = false;
    }
  }

  void stop() {
    stopping.request_stop();
    if (client) client->cancel();
    if (thread.joinable()) thread.join();
    // Only when nothing is written any more may another begin.
    if (leader) leader->stop();
  }

  const ApiServer server;
  PlanBoard& board;
  GangKeeperOptions options;
  std::stop_source stopping;
  std::unique_ptr<Leader> leader;
  std::optional<CredentialSource> credentials;
  std::optional<ApiClient> client;
  std::optional<ApiWrites> writes;
  std::optional<GangRounds> rounds;
  std::mutex mutex;
  std::condition_variable_any wake;
  bool notified = false;  // under mutex
  std::thread thread;
};

GangKeeper::GangKeeper(ApiServer server, PlanBoard& board, GangKeeperOptions options)
    : impl_(std::make_unique<Impl>(std::move(server), board, std::move(options))) {}

GangKeeper::~GangKeeper() = default;

void GangKeeper::start() {
  impl_->start();
}

void GangKeeper::notify() {
  const std::lock_guard lock(impl_->mutex);
  impl_->notified = true;
  impl_->wake.notify_one();
}

void GangKeeper::stop() {
  impl_->stop();
}

bool GangKeeper::leading() const {
  return impl_->leader && impl_->leader->leading();
}

GangKeeperStats GangKeeper::stats() const {
  GangKeeperStats out;
  if (impl_->rounds) out = impl_->rounds->stats();
  if (impl_->leader) out.leader = impl_->leader->stats();
  return out;
}

}  // namespace rankward::cluster
