// A server that watches a cluster of 5,000 nodes and 50,000 pods: how long it takes to be ready,
// what it holds in memory, and how long a filter call of 5,000 names takes over mutual TLS while
// 200 watch events a second arrive. Usage: watched_load PATH-TO-RANKWARD [--seconds N]
// The API server is the tests' own, in this process, so the cores are shared by all of it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../cluster/fake_api_server.hpp"
#include "rankward/formats/caller.hpp"
#include "served_program.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using rankward::bench::die;
using rankward::bench::LoadFolder;
using rankward::bench::ServedProgram;
using rankward::cluster::FakeApiServer;

constexpr int kNodes = 5'000;
constexpr int kPods = 50'000;
constexpr int kEventsPerSecond = 200;
constexpr int kCallsPerSecond = 100;

std::string node_name(int i) {
  return fmt::format("gpu-node-{:05}.cluster.example.com", i);
}

// A Node with what a real one has beside: images, addresses, managed fields are left out, since the
// reader passes over them.
std::string node_json(int i, int turn) {
  const std::string room =
      R"({"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","rdma/ib":"1k"})";
  return fmt::format(
      R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{}","uid":"u-{}","resourceVersion":"@VERSION@",)"
      R"("annotations":{{"turn":"{}"}},"labels":{{"nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",)"
      R"("nvidia.com/gpu.count":"8","nvidia.com/gpu.memory":"81559","nvidia.com/gpu.replicas":"1",)"
      R"("fabric.topograph.run/tier-0":"leaf-{}","fabric.topograph.run/tier-1":"spine-{}"}}}},"spec":{{}},)"
      R"("status":{{"allocatable":{},"capacity":{},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      node_name(i), i, turn, i / 16, i / 512, room, room);
}

// Most pods of a cluster ask for no GPU; every tenth does.
std::string pod_json(int i, int node, int gpus) {
  const std::string amount =
      gpus == 0 ? R"({"cpu":"100m","memory":"128Mi"})"
                : fmt::format(R"({{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"{}"}})", gpus);
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"namespace":"team-{}","name":"pod-{:05}",)"
      R"("uid":"00000000-0000-4000-8000-{:012}","resourceVersion":"@VERSION@"}},"spec":{{"nodeName":"{}",)"
      R"("containers":[{{"name":"main","image":"registry.example.com/app:1","resources":{{"limits":{},"requests":{}}}}}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      i % 50, i, i, node_name(node), amount, amount);
}

void fill(FakeApiServer& server) {
  for (int i = 0; i < kNodes; ++i)
    server.put("nodes", node_name(i), node_json(i, 0));
  for (int i = 0; i < kPods; ++i)
    server.put("pods", fmt::format("pod-{:05}", i), pod_json(i, i % kNodes, i % 10 == 0 ? 1 : 0));
  server.compact();
}

// Half Nodes that say something new, half GPU pods that come and go, at an even pace.
void change(FakeApiServer& server, const std::atomic<bool>& stop, std::atomic<int>& events) {
  const auto began = Clock::now();
  for (int i = 0; !stop; ++i) {
    std::this_thread::sleep_until(began + i * (1'000'000us / kEventsPerSecond));
    const int which = (i * 7) % kNodes;
    if (i % 2 == 0) {
      server.put("nodes", node_name(which), node_json(which, i));
    } else if (const std::string name = fmt::format("come-{:05}", i / 4 % 1000); i % 4 == 1) {
      server.put("pods", name, pod_json(kPods + i, which, 2));
    } else {
      server.remove("pods", name);
    }
    ++events;
  }
}

bool is_ready(const ServedProgram& server) {
  rankward::net::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.status();
  rankward::net::Client client(options);
  const auto response = client.request("GET", "/readyz", {}, "");
  return response && response->status == 200;
}

std::string waiting_pod() {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-0","namespace":"team-a","uid":"u-1"},)"
         R"("spec":{"containers":[{"name":"train","resources":{"limits":{"nvidia.com/gpu":"2","rdma/ib":"1"},)"
         R"("requests":{"nvidia.com/gpu":"2","rdma/ib":"1"}}}]}})";
}

// One call after the other, as kube-scheduler makes them, at an even pace.
void measure(const std::string& name, const ServedProgram& server, const LoadFolder& folder,
             double seconds) {
  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i)
    names.push_back(node_name(i));
  const std::string body = rankward::formats::write_extender_args(waiting_pod(), names);
  rankward::net::Client client(folder.client(server.extender()));
  std::vector<double> milliseconds;
  int failed = 0;
  const double cpu = server.cpu_seconds();
  const auto began = Clock::now();
  const int calls = static_cast<int>(seconds * kCallsPerSecond);
  for (int i = 0; i < calls; ++i) {
    std::this_thread::sleep_until(began + i * (1'000'000us / kCallsPerSecond));
    const auto before = Clock::now();
    const auto response = client.request("POST", "/filter", {}, body);
    if (!response || response->status != 200) ++failed;
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto quantile = [&](double q) {
    return milliseconds[static_cast<std::size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  };
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {} |\n", name, calls, quantile(0.5),
             quantile(0.99), quantile(0.999),
             (server.cpu_seconds() - cpu) * 1e6 / static_cast<double>(calls), failed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: watched_load PATH-TO-RANKWARD [--seconds N]");
  double seconds = 10;
  if (argc == 4 && std::strcmp(argv[2], "--seconds") == 0) seconds = std::atof(argv[3]);
  FakeApiServer api_server;
  fill(api_server);
  const LoadFolder folder;
  const std::string kubeconfig = folder.write(
      "kubeconfig",
      fmt::format("apiVersion: v1\nkind: Config\ncurrent-context: load\n"
                  "clusters: [{{name: load, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n"
                  "contexts: [{{name: load, context: {{cluster: load, user: load}}}}]\n"
                  "users: [{{name: load, user: {{}}}}]\n",
                  api_server.address().port));
  const std::string config = folder.write(
      "config.yaml",
      fmt::format("apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                  "doors: [extender]\ntls:\n  extender: {{{}}}\n"
                  "ports: {{address: 127.0.0.1, extender: 0, status: 0}}\n"
                  "managedResources: [nvidia.com/gpu]\nkubeconfig: {}\nnominate: false\n",
                  folder.tls_keys(), kubeconfig));
  const auto began = Clock::now();
  const ServedProgram server(argv[1], config);
  while (!is_ready(server)) {
    if (Clock::now() - began > 2min) die("watched_load: not ready after two minutes");
    std::this_thread::sleep_for(5ms);
  }
  fmt::print(
      "start to ready: {:.2f} s with {} nodes and {} pods; server: {:.2f} s of CPU, {:.0f} "
      "MiB resident, {:.0f} MiB at most\n\n",
      std::chrono::duration<double>(Clock::now() - began).count(), kNodes, kPods,
      server.cpu_seconds(), server.resident_mib(), server.peak_mib());

  fmt::print(
      "| filter, 5,000 names, 2 GPUs, {} calls/s | calls | p50 ms | p99 ms | p99.9 ms | server CPU "
      "us/call | failed |\n|---|---|---|---|---|---|---|\n",
      kCallsPerSecond);
  measure("no events", server, folder, seconds);
  std::atomic<bool> stop{false};
  std::atomic<int> events{0};
  std::thread changes([&] { change(api_server, stop, events); });
  const auto changing = Clock::now();
  measure(fmt::format("{} events/s", kEventsPerSecond), server, folder, seconds);
  stop = true;
  changes.join();
  const double elapsed = std::chrono::duration<double>(Clock::now() - changing).count();
  fmt::print("\n{:.0f} events/s were sent; server: {:.0f} MiB resident, {:.0f} MiB at most\n",
             events / elapsed, server.resident_mib(), server.peak_mib());
  return 0;
}
