#include "rankward/commands/demo.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>

#include "demo_client.hpp"
#include "demo_drawing.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/placement/ranking.hpp"
#include "rankward/record/log.hpp"
#include "rankward/server/application.hpp"
#include "rankward/sim/embedded_cluster.hpp"

namespace rankward::commands {
namespace {

// leaf-a has five nodes with eight free GPUs and leaf-b four, so counting sends the job to leaf-a.
// There one rank would cross to NICs on the other socket or fall back to sockets; only leaf-b holds
// all four ranks at full rate under one leaf switch.
constexpr std::array<std::string_view, 4> kExpected = {"b-0", "b-1", "b-2", "b-3"};

// A folder that is gone when the demo ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "rankward-demo-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] bool valid() const { return !path_.empty(); }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Certificates {
  net::KeyPair authority;
  net::KeyPair scheduler;  // what kube-scheduler would present
};

// Longer than the month ahead of which the server warns.
constexpr std::chrono::hours kValidity{24 * 60};

// A certificate authority for this one run, with the server's and the scheduler's certificates.
Result<Certificates> make_certificates(const TemporaryFolder& folder) {
  auto authority = net::make_authority("rankward demo", kValidity);
  if (!authority) return authority.error();
  auto server = net::issue(*authority, {.common_name = "rankward",
                                        .dns_names = {"localhost"},
                                        .ip_addresses = {"127.0.0.1"},
                                        .server = true,
                                        .validity = kValidity});
  if (!server) return server.error();
  auto scheduler = net::issue(*authority, {.common_name = "system:kube-scheduler", .client = true});
  if (!scheduler) return scheduler.error();
  for (const auto& [name, content] :
       {std::pair<std::string_view, const std::string&>{"ca.crt", authority->certificate_pem},
        {"tls.crt", server->certificate_pem},
        {"tls.key", server->key_pem}}) {
    if (auto written = net::write_private_file(folder.file(name), content); !written) {
      return written.error();
    }
  }
  return Certificates{std::move(*authority), std::move(*scheduler)};
}

formats::Configuration configuration_of(const TemporaryFolder& folder) {
  formats::Configuration configuration;
  configuration.extender_tls = {folder.file("tls.crt"), folder.file("tls.key"),
                                folder.file("ca.crt"), true};
  configuration.webhook_tls = configuration.extender_tls;
  configuration.ports = {.address = "127.0.0.1", .extender = 0, .webhook = 0, .status = 0};
  configuration.managed_resources = {"nvidia.com/gpu"};
  configuration.client_names = {"system:kube-scheduler"};
  return configuration;
}

// The nodes that kube-scheduler itself would offer: those whose free amounts hold the request.
// Kubernetes does this before it calls an extender.
std::vector<std::string> offered_nodes(const kube::Pod& pod, const placement::Snapshot& snapshot) {
  const kube::ResourceList requests = kube::effective_requests(pod.spec);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < snapshot.size(); ++i) {
    const placement::NodeState& node = snapshot.node({i});
    const bool fits = std::all_of(requests.begin(), requests.end(), [&](const auto& request) {
      return node.free(request.first).value_or(0) >= request.second.value();
    });
    if (fits) names.push_back(node.node->metadata.name);
  }
  return names;
}

struct Placed {
  std::string pod;
  std::string node;
  NodeScore best;
};

// As kube-scheduler does for each pod: filter, prioritize, bind to the best. Ties go to the first
// name that filter gave; kube-scheduler would draw lots.
Result<Placed> schedule(const PodManifest& manifest, DemoClient& client,
                        cluster::InventorySource& inventory) {
  const auto snapshot = inventory.current();
  auto fitting = client.filter(manifest.json, offered_nodes(manifest.pod, *snapshot));
  if (!fitting) return fitting.error();
  if (fitting->empty()) {
    return Error::unavailable("no node fits").at_field(manifest.pod.metadata.full_name());
  }
  auto scores = client.prioritize(manifest.json, *fitting);
  if (!scores) return scores.error();
  const NodeScore* best = nullptr;
  for (const std::string& name : *fitting) {
    for (const NodeScore& score : *scores) {
      if (score.node == name && (best == nullptr || score.score > best->score)) best = &score;
    }
  }
  if (best == nullptr) return Error::unavailable("prioritize named no node that filter gave");
  if (auto bound = inventory.bind(manifest.pod, best->node); !bound) return bound.error();
  return Placed{manifest.pod.metadata.name, best->node, *best};
}

int fail(const Console& console, const Error& error) {
  console.err << "rankward demo: " << error.to_string() << '\n';
  return 1;
}

}  // namespace

int demo(const DemoOptions& options, const Console& console) {
  const TemporaryFolder folder;
  if (!folder.valid()) return fail(console, Error::unavailable("cannot make a temporary folder"));
  auto certificates = make_certificates(folder);
  if (!certificates) return fail(console, certificates.error());

  cluster::InventorySource inventory(sim::embedded_cluster(), {});
  record::Log log({.verbosity = options.show_log ? 0 : -1});
  auto application = server::Application::start(configuration_of(folder), log, &inventory);
  if (!application) return fail(console, application.error());
  const server::OpenPorts ports = (*application)->ports();
  auto client =
      DemoClient::connect(*ports.extender, *ports.webhook, certificates->authority.certificate_pem,
                          certificates->scheduler);
  console.out << console.paint(Colour::kBold, "1. The server") << "\n\n"
              << "   extender  https://127.0.0.1:" << *ports.extender
              << "   client certificate demanded\n"
              << "   webhook   https://127.0.0.1:" << *ports.webhook << "\n\n";

  auto job = read_manifests(sim::training_job("pretrain", static_cast<int>(kExpected.size())));
  if (!job) return fail(console, job.error());
  const auto before = inventory.current();
  std::map<std::string, std::string> rank_of_node;
  bool as_expected = true;
  console.out << console.paint(
                     Colour::kBold,
                     "2. A job of 4 ranks, 8 GPUs and InfiniBand each: /filter, /prioritize, bind")
              << "\n\n";
  for (std::size_t rank = 0; rank < job->size(); ++rank) {
    auto placed = schedule((*job)[rank], client, inventory);
    if (!placed) return fail(console, placed.error());
    rank_of_node[placed->node] = "rank " + std::to_string(rank);
    as_expected = as_expected && placed->node == kExpected[rank];
  }
  draw_cluster(job->front().pod, *before, rank_of_node, console);

  console.out << console.paint(Colour::kBold, "3. kubectl apply of a pod that mounts /dev/nvidia0")
              << "\n\n";
  auto denial = client.validate(bypass_pod());
  if (!denial) return fail(console, denial.error());
  draw_denial(*denial, console);
  (*application)->stop(std::chrono::milliseconds(0), std::chrono::seconds(5));

  const bool denied = !denial->allowed;
  if (as_expected && denied) {
    console.out << console.paint(Colour::kGreen, "As expected")
                << ": the ranks stand on b-0 to b-3, and the pod was denied.\n";
    return 0;
  }
  console.out << console.paint(Colour::kRed, "Not as expected") << ": ranks "
              << (as_expected ? "as expected" : "elsewhere than b-0 to b-3") << ", pod "
              << (denied ? "denied" : "allowed") << ".\n";
  return 1;
}

}  // namespace rankward::commands
