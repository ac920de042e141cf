#include "rankward/server/application.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "expiry.hpp"
#include "extender.hpp"
#include "metrics.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/admission/rules.hpp"
#include "rankward/cluster/cluster_facts.hpp"
#include "rankward/cluster/gang_keeper.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/cluster/watcher.hpp"
#include "rankward/net/server.hpp"
#include "routes.hpp"
#include "samples.hpp"
#include "status.hpp"
#include "webhook.hpp"

namespace rankward::server {
namespace {

using formats::Configuration;
using std::chrono::system_clock;

// Event loops of a door. kube-scheduler calls the extender one pod at a time; more threads serve a
// second scheduler and keep one large answer from delaying another.
unsigned door_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
}

net::TlsOptions tls_of(const formats::TlsFiles& files, bool extender, bool allow_tls12) {
  using net::ClientCertificate;
  net::TlsOptions tls;
  tls.certificate_file = files.cert_file;
  tls.key_file = files.key_file;
  tls.client_ca_file = files.client_ca_file;
  tls.client_certificate = extender || files.require_client_certificate
                               ? ClientCertificate::kRequired
                           : files.client_ca_file.empty() ? ClientCertificate::kNone
                                                          : ClientCertificate::kOptional;
  tls.minimum_version = allow_tls12 ? net::TlsVersion::k12 : net::TlsVersion::k13;
  return tls;
}

void log_event(record::Log& log, const net::Event& event) {
  switch (event.level) {
    case net::EventLevel::kError:
      return log.error(event.message, event.error, {{"door", event.listener}});
    case net::EventLevel::kWarning:
      return log.warning(event.message, {{"door", event.listener}, {"err", event.error}});
    case net::EventLevel::kInfo:
      return log.info(0, event.message, {{"door", event.listener}});
  }
}

void log_event(record::Log& log, const cluster::WatchEvent& event) {
  switch (event.severity) {
    case cluster::Severity::kError:
      return log.error(event.message, event.error,
                       {{"resource", event.resource}, {"object", event.object}});
    case cluster::Severity::kWarning:
      return log.warning(
          event.message,
          {{"resource", event.resource}, {"object", event.object}, {"err", event.error}});
    case cluster::Severity::kInfo:
      return log.info(1, event.message, {{"resource", event.resource}, {"object", event.object}});
  }
}

std::vector<std::string> rule_ids() {
  std::vector<std::string> ids;
  for (const admission::RuleInfo& rule : admission::catalogue())
    ids.emplace_back(rule.id);
  return ids;
}

std::vector<std::string> exemption_names(const admission::Policy& policy) {
  std::vector<std::string> names;
  for (const admission::Exemption& exemption : policy.exemptions())
    names.push_back(exemption.name);
  return names;
}

bool is_in_cluster() {
  return std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
}

Result<cluster::ApiServer> api_server(const Configuration& configuration) {
  return configuration.kubeconfig.empty() ? cluster::in_cluster()
                                          : cluster::from_kubeconfig(configuration.kubeconfig);
}

std::vector<cluster::FactsResource> facts_resources(const Configuration& configuration) {
  using enum cluster::FactsResource;
  std::vector<cluster::FactsResource> out;
  for (const auto resource : {kPersistentVolumes, kNamespaces, kNodes}) {
    const auto& names = configuration.admission_watch;
    if (std::find(names.begin(), names.end(), cluster::to_string(resource)) != names.end())
      out.push_back(resource);
  }
  return out;
}

}  // namespace

struct Application::Impl {
  Impl(Configuration given, const admission::Policy& policy, record::Log& to)
      : configuration(std::move(given)), log(to), metrics(rule_ids(), exemption_names(policy)) {}

  Result<void> open_source(const cluster::SnapshotSource* given);
  Result<void> open_doors(admission::Policy policy);
  std::vector<Sample> samples() const;
  void warn_of_expiry() const;
  void open_facts();
  void open_keeper(cluster::ApiServer api);
  void on_snapshot();
  void stop_cluster();
  net::Listener status_listener();

  Configuration configuration;
  record::Log& log;
  Metrics metrics;
  std::unique_ptr<cluster::InventorySource> inventory;
  std::unique_ptr<cluster::ClusterWatcher> watcher;
  const cluster::SnapshotSource* source = nullptr;
  std::unique_ptr<cluster::ClusterFactsWatcher> facts;         // of the webhook
  std::unique_ptr<cluster::PlanBoard> board;                   // where there is a source
  std::unique_ptr<cluster::GangKeeper> keeper;                 // where there is an API server
  std::atomic<cluster::GangKeeper*> snapshot_reader{nullptr};  // told of each Snapshot
  std::unique_ptr<Extender> extender;
  std::unique_ptr<Webhook> webhook;
  std::vector<std::string> door_names;  // in the order of the listeners
  std::unique_ptr<net::Server> server;
  // The status port outlives the doors, so that a probe sees "not ready" while they drain.
  std::unique_ptr<net::Server> status;
  std::atomic<bool> stopping{false};
  std::jthread expiry_watch;  // last: ends before what it looks at
};

Result<void> Application::Impl::open_source(const cluster::SnapshotSource* given) {
  if (given != nullptr) {
    source = given;
    return {};
  }
  // The webhook judges each object by itself.
  if (!configuration.extender_door) return {};
  if (!configuration.inventory.empty()) {
    auto read =
        cluster::InventorySource::from_files({configuration.inventory}, configuration.labels);
    if (!read) return std::move(read.error());
    inventory = std::move(*read);
    for (const std::string& warning : inventory->warnings()) {
      log.warning("topology report cannot be read", {{"err", warning}});
    }
    source = inventory.get();
    return {};
  }
  if (configuration.kubeconfig.empty() && !is_in_cluster()) {
    log.warning(
        "no cluster state: neither kubeconfig nor inventory is configured and this is no pod; each "
        "pod is judged alone, from the nodes in the request (nodeCacheCapable: false)");
    return {};
  }
  auto api = api_server(configuration);
  if (!api) return std::move(api.error());
  cluster::WatcherOptions options;
  options.labels = configuration.labels;
  options.requests = configuration.request;
  options.on_event = [this](const cluster::WatchEvent& event) { log_event(log, event); };
  watcher = cluster::ClusterWatcher::start(*api, std::move(options),
                                           [this](const auto&) { on_snapshot(); });
  source = watcher.get();
  board = std::make_unique<cluster::PlanBoard>(*source, cluster::machine_clock());
  open_keeper(std::move(*api));
  return {};
}

// What the webhook may know beside the object. It judges without it too, so a cluster that cannot
// be asked is no reason not to start.
void Application::Impl::open_facts() {
  const auto resources = facts_resources(configuration);
  if (!configuration.webhook_door || resources.empty()) return;
  const bool has_api_server = !configuration.kubeconfig.empty() || is_in_cluster();
  if (!has_api_server || !configuration.inventory.empty()) return;
  auto api = api_server(configuration);
  if (!api) {
    log.warning("the webhook knows nothing of the cluster beside the object",
                {{"err", api.error().to_string()}});
    return;
  }
  cluster::WatcherOptions options;
  options.on_event = [this](const cluster::WatchEvent& event) { log_event(log, event); };
  facts = cluster::ClusterFactsWatcher::start(std::move(*api), resources, std::move(options));
}

// The writes of gangs, by one of all replicas.
void Application::Impl::open_keeper(cluster::ApiServer api) {
  cluster::GangKeeperOptions options;
  options.nominate = configuration.nominate;
  options.scheduler_names = configuration.scheduler_names;
  options.placement = configuration.placement;
  options.timing.gate_max_hold = configuration.gate_max_hold;
  options.on_planned = [this](const placement::PlanTiers& tiers) { metrics.planned_ahead(tiers); };
  options.on_event = [this](const cluster::WatchEvent& event) { log_event(log, event); };
  keeper = std::make_unique<cluster::GangKeeper>(std::move(api), *board, std::move(options));
  keeper->start();
  snapshot_reader = keeper.get();
}

// The watcher first: it calls the keeper.
void Application::Impl::stop_cluster() {
  if (watcher) watcher->stop();
  if (keeper) keeper->stop();
  if (facts) facts->stop();
}

void Application::Impl::on_snapshot() {
  if (cluster::GangKeeper* reader = snapshot_reader.load()) reader->notify();
}

net::Listener Application::Impl::status_listener() {
  StatusPages pages;
  pages.readiness.push_back({"shutdown", [this] {
                               return stopping ? std::string("the server is stopping")
                                               : std::string();
                             }});
  if (configuration.extender_door) {
    pages.readiness.push_back({"extender", [this] {
                                 return extender->ready()
                                            ? std::string()
                                            : std::string("nodes and pods are not listed yet");
                               }});
  }
  if (configuration.webhook_door) {
    // Needs no state: it serves from the first moment.
    pages.readiness.push_back({"webhook", [] { return std::string(); }});
  }
  pages.metrics = [this] { return metrics.text(samples()); };
  net::ListenerOptions options;
  options.name = "status";
  options.address = configuration.ports.status_address;
  options.port = configuration.ports.status;
  options.limits.max_body_bytes = 0;
  options.limits.max_connections = 64;
  return {std::move(options), status_handler(std::move(pages))};
}

Result<void> Application::Impl::open_doors(admission::Policy policy) {
  ExtenderOptions options;
  options.placement = configuration.placement;
  options.request = configuration.request;
  options.labels = configuration.labels;
  options.managed_resources = configuration.managed_resources;
  options.always_list_reasons = configuration.always_list_reasons;
  if (source != nullptr && !board) {
    board = std::make_unique<cluster::PlanBoard>(*source, cluster::machine_clock());
  }
  extender = std::make_unique<Extender>(std::move(options), board.get());
  webhook = std::make_unique<Webhook>(
      std::move(policy),
      WebhookOptions{.facts = facts ? &facts->facts() : nullptr, .mutate = configuration.mutate});

  std::vector<net::Listener> listeners;
  const auto add_door = [&](std::string name, std::uint16_t port, net::TlsOptions tls,
                            std::size_t max_body, net::Handler handler) {
    net::ListenerOptions door;
    door.name = name;
    door.address = configuration.ports.address;
    door.port = port;
    door.tls = std::move(tls);
    door.limits.max_body_bytes = max_body;
    door.threads = door_threads();
    listeners.push_back({std::move(door), std::move(handler)});
    door_names.push_back(std::move(name));
  };
  if (configuration.extender_door) {
    add_door("extender", configuration.ports.extender,
             tls_of(configuration.extender_tls, true, configuration.allow_tls12),
             configuration.max_body_bytes,
             extender_handler(*extender, configuration.client_names, metrics, log));
  }
  if (configuration.webhook_door) {
    add_door("webhook", configuration.ports.webhook,
             tls_of(configuration.webhook_tls, false, configuration.allow_tls12),
             net::Limits{}.max_body_bytes, webhook_handler(*webhook, metrics, log));
  }
  net::ServerOptions server_options;
  server_options.on_event = [this](const net::Event& event) { log_event(log, event); };
  auto started = net::Server::start(std::move(listeners), server_options);
  if (!started) return std::move(started.error());
  server = std::move(*started);
  std::vector<net::Listener> status_listeners;
  status_listeners.push_back(status_listener());
  auto status_started = net::Server::start(std::move(status_listeners), server_options);
  if (!status_started) return std::move(status_started.error());
  status = std::move(*status_started);
  return {};
}

// What nobody renews is told a month before it is missed.
void Application::Impl::warn_of_expiry() const {
  const auto now = system_clock::now();
  warn_of_certificates(*server, door_names, now, log);
  if (configuration.webhook_door) warn_of_exemptions(webhook->policy(), now, log);
}

std::vector<Sample> Application::Impl::samples() const {
  SampleList list;
  list.gauge("rankward_build_info", "Version of the program; always 1.", 1,
             {{"version", std::string(kVersion)}});
  if (board) add_board_samples(*board, list);
  if (watcher) add_watcher_samples(*watcher, list);
  if (keeper) add_keeper_samples(keeper->stats(), list);
  if (facts) add_facts_samples(*facts, list);
  if (configuration.webhook_door) {
    add_exemption_samples(webhook->policy(), system_clock::to_time_t(system_clock::now()), list);
  }
  add_door_samples(*server, door_names, list);
  list.counter("rankward_log_lines_dropped_total", "Log lines lost because stderr was too slow.",
               log.dropped());
  return std::move(list).take();
}

Result<std::unique_ptr<Application>> Application::start(Configuration configuration,
                                                        record::Log& log,
                                                        const cluster::SnapshotSource* source) {
  auto policy = admission::Policy::make(configuration.admission);
  if (!policy) return std::move(policy.error()).under("admission");
  auto impl = std::make_unique<Impl>(std::move(configuration), *policy, log);
  if (auto opened = impl->open_source(source); !opened) return std::move(opened.error());
  impl->open_facts();
  if (auto opened = impl->open_doors(std::move(*policy)); !opened) return std::move(opened.error());
  impl->expiry_watch = std::jthread([raw = impl.get()](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      raw->warn_of_expiry();
      wake.wait_for(lock, stop, std::chrono::hours(12), [] { return false; });
    }
  });
  std::unique_ptr<Application> application(new Application(std::move(impl)));
  const OpenPorts ports = application->ports();
  const std::string_view address = application->impl_->configuration.ports.address;
  for (const auto& [door, port] :
       {std::pair{"extender", ports.extender}, std::pair{"webhook", ports.webhook}}) {
    if (!port) continue;
    log.info(
        0, "listening",
        {{"door", std::string_view(door)}, {"address", address}, {"port", std::int64_t{*port}}});
  }
  log.info(0, "listening",
           {{"door", std::string_view("status")},
            {"address", std::string_view(application->impl_->configuration.ports.status_address)},
            {"port", std::int64_t{ports.status}}});
  return application;
}

Application::Application(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Application::~Application() {
  if (impl_->server) impl_->server->stop(std::chrono::milliseconds(0));
  if (impl_->status) impl_->status->stop(std::chrono::milliseconds(0));
  impl_->stop_cluster();
}

OpenPorts Application::ports() const {
  OpenPorts ports;
  const auto open = impl_->server->ports();
  for (std::size_t i = 0; i < impl_->door_names.size(); ++i) {
    (impl_->door_names[i] == "extender" ? ports.extender : ports.webhook) = open[i];
  }
  ports.status = impl_->status->ports().front();
  return ports;
}

void Application::reload() {
  // Failures are reported through the server's events; the old certificates stay in use.
  static_cast<void>(impl_->server->reload());
}

void Application::stop(std::chrono::milliseconds drain, std::chrono::milliseconds grace) {
  impl_->stopping = true;
  impl_->server->set_draining(true);
  impl_->log.info(0, "stopping", {{"drainMilliseconds", std::int64_t{drain.count()}}});
  std::this_thread::sleep_for(drain);
  const bool finished = impl_->server->stop(grace);
  if (!finished) impl_->log.warning("calls were cut: the grace time passed");
  impl_->stop_cluster();
  impl_->status->stop(std::chrono::milliseconds(500));
  impl_->log.info(0, "stopped");
}

}  // namespace rankward::server
