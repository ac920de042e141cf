// Requests a second, latency and CPU of the server over kept mutual TLS: 4 KB in, 300 B out.
// Usage: net_load [connections] [seconds]. Server threads are told from client threads by their CPU
// clocks, so both may share the machine.
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "fixtures.hpp"

namespace {

using namespace rankward::net;
using Clock = std::chrono::steady_clock;

double cpu_microseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  const int connections = argc > 1 ? std::atoi(argv[1]) : 8;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 5;
  const testing::ServerFiles files;
  std::atomic<clockid_t> server_clock{0};
  std::atomic<bool> clock_known{false};
  const std::string answer(300, 'a');
  auto server = testing::start_tls(files.options(ClientCertificate::kRequired), {},
                                   [&](const Request&, Response& response) {
                                     if (!clock_known) {
                                       clockid_t clock{};
                                       pthread_getcpuclockid(pthread_self(), &clock);
                                       server_clock = clock;
                                       clock_known = true;
                                     }
                                     response.body.append(answer);
                                   });
  std::atomic<bool> measuring{false};
  std::atomic<bool> done{false};
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(connections));
  std::vector<std::thread> clients;
  for (auto& latency : latencies) {
    clients.emplace_back([&] {
      Client client = testing::make_client(server->ports()[0], files.client_tls());
      const std::string body(4096, 'b');
      while (!done) {
        const auto start = Clock::now();
        if (!client.request("POST", "/validate", {}, body)) std::abort();
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        if (measuring) latency.push_back(took.count());
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double cpu_before = cpu_microseconds(server_clock);
  const auto requests_before = server->stats()[0].requests;
  measuring = true;
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  measuring = false;
  const double cpu = cpu_microseconds(server_clock) - cpu_before;
  const auto requests = server->stats()[0].requests - requests_before;
  done = true;
  for (auto& client : clients)
    client.join();
  std::vector<double> all;
  for (const auto& latency : latencies)
    all.insert(all.end(), latency.begin(), latency.end());
  std::sort(all.begin(), all.end());
  const auto at = [&all](double part) {
    return all.empty() ? 0.0
                       : all[static_cast<std::size_t>(static_cast<double>(all.size() - 1) * part)];
  };
  std::printf(
      "%d connections, one server thread: %.0f requests/s, server CPU %.1f us a call, "
      "p50 %.0f us, p99 %.0f us\n",
      connections, static_cast<double>(requests) / seconds,
      cpu / static_cast<double>(std::max<std::uint64_t>(requests, 1)), at(0.5), at(0.99));
  return 0;
}
