// Load on a real server over mutual TLS: latency and calls a second, CPU a call and memory of the
// server. Usage: door_load PATH-TO-RANKWARD [--seconds N] The server runs as a process of its own;
// load and server share the machine's cores.
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "rankward/formats/caller.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/net/client.hpp"

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;
using rankward::net::KeyPair;

constexpr int kNodes = 5'000;

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "door_load: {}\n", why);
  std::exit(1);
}

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

struct Server {
  pid_t pid = 0;
  std::uint16_t extender = 0;
  std::uint16_t webhook = 0;
};

std::uint16_t port_of(const std::string& line) {
  const auto at = line.find("\"port\":");
  return at == std::string::npos ? 0 : static_cast<std::uint16_t>(std::atoi(line.c_str() + at + 7));
}

Server start(const std::string& program, const std::string& config) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) die("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  std::vector<std::string> words = {program,        "serve", "--config",        config,
                                    "--log-format", "json",  "--drain-seconds", "0"};
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  Server server;
  if (posix_spawn(&server.pid, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) {
    die("cannot start " + program);
  }
  close(pipe_ends[1]);
  std::FILE* log = fdopen(pipe_ends[0], "r");
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, log) != nullptr) {
    const std::string line = buffer;
    if (line.find("\"listening\"") == std::string::npos) continue;
    if (line.find("\"extender\"") != std::string::npos) server.extender = port_of(line);
    if (line.find("\"webhook\"") != std::string::npos) server.webhook = port_of(line);
    if (line.find("\"status\"") != std::string::npos) break;
  }
  // Keep reading, so that the log never blocks.
  std::thread([log] {
    char drop[4096];
    while (std::fgets(drop, sizeof drop, log) != nullptr) {
    }
  }).detach();
  if (server.extender == 0) die("the server did not start");
  return server;
}

double cpu_seconds(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  unsigned long user = 0;
  unsigned long system = 0;
  std::sscanf(text.c_str() + text.rfind(')') + 2,
              "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double resident_mib(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6) / 1024.0;
  }
  return 0;
}

struct Work {
  std::string name;
  std::uint16_t port;
  std::string path;
  std::string body;
};

void run(const Work& work, int connections, double seconds, const KeyPair& authority,
         const KeyPair& certificate, pid_t pid) {
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(connections));
  std::atomic<bool> measuring{false};
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      rankward::net::ClientOptions options;
      options.host = "127.0.0.1";
      options.port = work.port;
      options.tls = rankward::net::ClientTls{};
      options.tls->ca_pem = authority.certificate_pem;
      options.tls->certificate_pem = certificate.certificate_pem;
      options.tls->key_pem = certificate.key_pem;
      rankward::net::Client client(options);
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
  const double cpu_before = cpu_seconds(pid);
  const auto began = Clock::now();
  measuring = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  measuring = false;
  const double elapsed = std::chrono::duration<double>(Clock::now() - began).count();
  const double cpu = cpu_seconds(pid) - cpu_before;
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
             resident_mib(pid), failures.load());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: door_load PATH-TO-RANKWARD [--seconds N]");
  double seconds = 5;
  if (argc == 4 && std::strcmp(argv[2], "--seconds") == 0) seconds = std::atof(argv[3]);
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "rankward-load-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) die("mkdtemp");
  const fs::path folder = pattern;
  const KeyPair authority = rankward::net::make_authority("load").value();
  const KeyPair server_pair =
      rankward::net::issue(
          authority, {.common_name = "rankward", .ip_addresses = {"127.0.0.1"}, .server = true})
          .value();
  const KeyPair client_pair =
      rankward::net::issue(authority, {.common_name = "system:kube-scheduler", .client = true})
          .value();
  const auto write = [&](const char* name, const std::string& content) {
    std::ofstream((folder / name).string()) << content;
    return (folder / name).string();
  };
  const std::string ca = write("ca.crt", authority.certificate_pem);
  const std::string cert = write("tls.crt", server_pair.certificate_pem);
  const std::string key = write("tls.key", server_pair.key_pem);
  const std::string nodes = write("nodes.json", inventory());
  const std::string config =
      write("config.yaml",
            fmt::format("apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                        "tls:\n  extender: {{certFile: {0}, keyFile: {1}, clientCAFile: {2}}}\n"
                        "  webhook: {{certFile: {0}, keyFile: {1}, clientCAFile: {2}}}\n"
                        "ports: {{address: 127.0.0.1, extender: 0, webhook: 0, status: 0}}\n"
                        "managedResources: [nvidia.com/gpu]\ninventory: {3}\n",
                        cert, key, ca, nodes));
  const Server server = start(argv[1], config);

  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i)
    names.push_back(node_name(i));
  const std::vector<Work> work = {
      {"filter, 5,000 names, 8 GPUs", server.extender, "/filter",
       rankward::formats::write_extender_args(pod(8, 0), names)},
      {"filter, 5,000 names, 2 GPUs", server.extender, "/filter",
       rankward::formats::write_extender_args(pod(2, 0), names)},
      {"prioritize, 100 names", server.extender, "/prioritize",
       rankward::formats::write_extender_args(pod(8, 0), {names.data(), 100})},
      {"validate, 4 KB", server.webhook, "/validate",
       rankward::formats::write_pod_review("6f1c0b3e-0000-4000-8000-000000000001", "team-a",
                                           pod(8, 3300))}};
  fmt::print(
      "| call | connections | calls/s | p50 ms | p99 ms | p99.9 ms | server CPU us/call | server "
      "RSS MiB | failed |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const Work& each : work) {
    for (const int connections : {1, 8, 64})
      run(each, connections, seconds, authority, client_pair, server.pid);
  }
  kill(server.pid, SIGTERM);
  waitpid(server.pid, nullptr, 0);
  fs::remove_all(folder);
  return 0;
}
