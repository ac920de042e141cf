#include "static_nginx.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

extern char** environ;

namespace rankward::bench {
namespace {

std::uint16_t free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, length) != 0 || ::getsockname(listener, generic, &length) != 0)
    die("no free port");
  ::close(listener);
  return ntohs(address.sin_port);
}

// Inside single quotes of nginx's configuration. A `$` would start a variable there.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '$') die("the answer holds a $, which nginx cannot send as it stands");
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::optional<std::string> StaticNginx::find() {
  constexpr std::array<const char*, 3> kPlaces{"/usr/sbin/nginx", "/usr/local/sbin/nginx",
                                               "/usr/bin/nginx"};
  for (const char* place : kPlaces)
    if (::access(place, X_OK) == 0) return place;
  return std::nullopt;
}

StaticNginx::StaticNginx(const std::string& program, const LoadFolder& folder,
                         const std::string& body)
    : port_(free_port()) {
  const std::string config = folder.write(
      "nginx.conf",
      fmt::format(
          "daemon off;\nworker_processes auto;\npid {0}/nginx.pid;\n"
          "error_log {0}/nginx.log;\nevents {{ worker_connections 1024; }}\n"
          "http {{\n  access_log off;\n  client_body_temp_path {0};\n"
          "  proxy_temp_path {0};\n  fastcgi_temp_path {0};\n  uwsgi_temp_path {0};\n"
          "  scgi_temp_path {0};\n  keepalive_requests 1000000000;\n"
          "  server {{\n    listen 127.0.0.1:{1} ssl;\n    ssl_certificate {0}/tls.crt;\n"
          "    ssl_certificate_key {0}/tls.key;\n    ssl_client_certificate {0}/ca.crt;\n"
          "    ssl_verify_client on;\n    ssl_protocols TLSv1.3;\n"
          "    client_body_buffer_size 64k;\n    location / {{\n"
          "      default_type application/json;\n      return 200 '{2}';\n    }}\n  }}\n}}\n",
          folder.path().string(), port_, quoted(body)));
  std::vector<std::string> words = {program, "-e", (folder.path() / "nginx.log").string(), "-c",
                                    config};
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0)
    die("cannot start " + program);
  for (int i = 0; i < 200; ++i) {
    net::Client client(folder.client(port_));
    if (client.request("POST", "/", {}, "{}")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  die("nginx does not answer");
}

StaticNginx::~StaticNginx() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

std::vector<pid_t> StaticNginx::processes() const {
  std::vector<pid_t> out{pid_};
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid_));
  for (pid_t child = 0; file >> child;)
    out.push_back(child);
  return out;
}

double StaticNginx::cpu_seconds() const {
  double sum = 0;
  for (const pid_t process : processes())
    sum += process_cpu_seconds(process);
  return sum;
}

double StaticNginx::resident_mib() const {
  double sum = 0;
  for (const pid_t process : processes())
    sum += process_mib(process, "VmRSS:");
  return sum;
}

}  // namespace rankward::bench
