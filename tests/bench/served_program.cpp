#include "served_program.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

extern char** environ;

namespace rankward::bench {

void die(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

double process_cpu_seconds(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  unsigned long user = 0;
  unsigned long system = 0;
  std::sscanf(text.c_str() + text.rfind(')') + 2,
              "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double process_mib(pid_t process, const std::string& line) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  std::string text;
  while (std::getline(file, text)) {
    if (text.rfind(line, 0) == 0) return std::atof(text.c_str() + line.size()) / 1024.0;
  }
  return 0;
}

LoadFolder::LoadFolder() {
  authority_ = net::make_authority("load").value();
  const net::KeyPair server =
      net::issue(authority_,
                 {.common_name = "rankward", .ip_addresses = {"127.0.0.1"}, .server = true})
          .value();
  client_pair_ =
      net::issue(authority_, {.common_name = "system:kube-scheduler", .client = true}).value();
  tls_keys_ = fmt::format(
      "certFile: {}, keyFile: {}, clientCAFile: {}", write("tls.crt", server.certificate_pem),
      write("tls.key", server.key_pem), write("ca.crt", authority_.certificate_pem));
}

net::ClientOptions LoadFolder::client(std::uint16_t port) const {
  net::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = net::ClientTls{};
  options.tls->ca_pem = authority_.certificate_pem;
  options.tls->certificate_pem = client_pair_.certificate_pem;
  options.tls->key_pem = client_pair_.key_pem;
  return options;
}

namespace {

std::uint16_t port_of(const std::string& line) {
  const auto at = line.find("\"port\":");
  return at == std::string::npos ? 0 : static_cast<std::uint16_t>(std::atoi(line.c_str() + at + 7));
}

}  // namespace

ServedProgram::ServedProgram(const std::string& program, const std::string& config) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) die("cannot make a pipe");
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
  if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) {
    die("cannot start " + program);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::FILE* log = fdopen(pipe_ends[0], "r");
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, log) != nullptr) {
    const std::string line = buffer;
    if (line.find("\"listening\"") == std::string::npos) continue;
    if (line.find("\"extender\"") != std::string::npos) extender_ = port_of(line);
    if (line.find("\"webhook\"") != std::string::npos) webhook_ = port_of(line);
    if (line.find("\"status\"") == std::string::npos) continue;
    status_ = port_of(line);
    break;
  }
  if (status_ == 0) die("the server did not start");
  // Keep reading, so that the log never blocks.
  std::thread([log] {
    char drop[4096];
    while (std::fgets(drop, sizeof drop, log) != nullptr) {
    }
  }).detach();
}

ServedProgram::~ServedProgram() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

}  // namespace rankward::bench
