// Load on a real server over mutual TLS: latency and calls a second, CPU a call and memory of the
// server; last, nginx where there is one, which answers a review with the webhook's very bytes.
// Usage: door_load PATH-TO-RANKWARD [--seconds N] Each server runs as a process of its own; load
// and server share the machine's cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "rankward/formats/caller.hpp"
#include "served_program.hpp"
#include "static_nginx.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using rankward::bench::LoadFolder;
using rankward::bench::ServedProgram;
using rankward::bench::StaticNginx;

constexpr int kNodes = 5'000;

std::string node_name(int i) {
  return fmt::format("gpu-node-{:05}.cluster.example.com", i);
}

std::string inventory() {
  std::string out = R"({"kind":"List","apiVersion":"v1","items":[)";
  for (int i = 0; i < kNodes; ++i) {
    if (i != 0) out += ',';
    out += fmt::format(
        R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{}","labels":{{)"
        R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.count":"8",)"
        R"("nvidia.com/gpu.memory":"81559","nvidia.com/gpu.replicas":"1",)"
        R"("fabric.topograph.run/tier-0":"leaf-{}","fabric.topograph.run/tier-1":"spine-{}"}}}},)"
        R"("status":{{"allocatable":{{"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","rdma/ib":"1k"}},)"
        R"("capacity":{{"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","rdma/ib":"1k"}},)"
        R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        node_name(i), i / 16, i / 512);
  }
  return out + "]}";
}

// A pod of about 4 KB once it stands in a review, as a training job's are.
std::string pod(int gpus, std::size_t padding) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"train-0","namespace":"team-a","uid":"u-1"}},)"
      R"("spec":{{"containers":[{{"name":"train","image":"registry.example.com/train:1","args":["{}"],)"
      R"("env":[{{"name":"NCCL_DEBUG","value":"INFO"}}],"resources":{{"limits":{{"nvidia.com/gpu":"{}","rdma/ib":"1"}},)"
      R"("requests":{{"nvidia.com/gpu":"{}","rdma/ib":"1"}}}}}}],"volumes":[{{"name":"shm","emptyDir":{{}}}}]}}}})",
      std::string(padding, 'x'), gpus, gpus);
}

struct Work {
  std::string name;
  std::uint16_t port;
  std::string path;
  std::string body;
};

// `Server`: ServedProgram or StaticNginx.
template <class Server>
void run(const Work& work, int connections, double seconds, const LoadFolder& folder,
         const Server& server) {
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(connections));
  std::atomic<bool> measuring{false};
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      rankward::net::Client client(folder.client(work.port));
      while (!stop) {
        const auto before = Clock::now();
        const auto response = client.request("POST", work.path, {}, work.body);
        if (!response || response->status != 200) {
          ++failures;
          continue;
        }
        if (measuring) {
          latencies[static_cast<std::size_t>(i)].push_back(
              std::chrono::duration<double, std::milli>(Clock::now() - before).count());
        }
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double cpu_before = server.cpu_seconds();
  const auto began = Clock::now();
  measuring = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  measuring = false;
  const double elapsed = std::chrono::duration<double>(Clock::now() - began).count();
  const double cpu = server.cpu_seconds() - cpu_before;
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
  std::vector<double> all;
  for (const auto& each : latencies)
    all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  const auto quantile = [&](double q) {
    return all.empty() ? 0.0
                       : all[static_cast<std::size_t>(q * static_cast<double>(all.size() - 1))];
  };
  fmt::print("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {} |\n", work.name,
             connections, static_cast<double>(all.size()) / elapsed, quantile(0.5), quantile(0.99),
             quantile(0.999), cpu * 1e6 / std::max<double>(1, static_cast<double>(all.size())),
             server.resident_mib(), failures.load());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) rankward::bench::die("usage: door_load PATH-TO-RANKWARD [--seconds N]");
  double seconds = 5;
  if (argc == 4 && std::strcmp(argv[2], "--seconds") == 0) seconds = std::atof(argv[3]);
  const LoadFolder folder;
  const std::string config = folder.write(
      "config.yaml",
      fmt::format("apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                  "tls:\n  extender: {{{0}}}\n  webhook: {{{0}}}\n"
                  "ports: {{address: 127.0.0.1, extender: 0, webhook: 0, status: 0}}\n"
                  "managedResources: [nvidia.com/gpu]\ninventory: {1}\n",
                  folder.tls_keys(), folder.write("nodes.json", inventory())));
  const ServedProgram server(argv[1], config);

  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i)
    names.push_back(node_name(i));
  const std::vector<Work> work = {
      {"filter, 5,000 names, 8 GPUs", server.extender(), "/filter",
       rankward::formats::write_extender_args(pod(8, 0), names)},
      {"filter, 5,000 names, 2 GPUs", server.extender(), "/filter",
       rankward::formats::write_extender_args(pod(2, 0), names)},
      {"prioritize, 100 names", server.extender(), "/prioritize",
       rankward::formats::write_extender_args(pod(8, 0), {names.data(), 100})},
      {"validate, 4 KB", server.webhook(), "/validate",
       rankward::formats::write_pod_review("6f1c0b3e-0000-4000-8000-000000000001", "team-a",
                                           pod(8, 3300))}};
  fmt::print(
      "| call | connections | calls/s | p50 ms | p99 ms | p99.9 ms | server CPU us/call | server "
      "RSS MiB | failed |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  constexpr std::array kConnections{1, 8, 64};
  for (const Work& each : work) {
    for (const int connections : kConnections)
      run(each, connections, seconds, folder, server);
  }
  const auto nginx = StaticNginx::find();
  if (!nginx) {
    fmt::print(
        "\nNo row of nginx, which is not here (Debian: nginx-light; it is not installed for you, "
        "since\nits package starts a server).\n");
    return 0;
  }
  rankward::net::Client client(folder.client(server.webhook()));
  const Work& review = work.back();
  const auto answer = client.request("POST", review.path, {}, review.body);
  if (!answer) rankward::bench::die("the webhook does not answer");
  const StaticNginx same_bytes(*nginx, folder, answer->body);
  for (const int connections : kConnections)
    run({"nginx, the same bytes", same_bytes.port(), review.path, review.body}, connections,
        seconds, folder, same_bytes);
  return 0;
}
