// The real server as a process of its own, with certificates of its own, for the load generators.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "../temporary_folder.hpp"
#include "rankward/net/certificates.hpp"
#include "rankward/net/client.hpp"

namespace rankward::bench {

// Ends the program. For what makes a measurement impossible.
[[noreturn]] void die(const std::string& why);

// User and system time of all threads of a process.
[[nodiscard]] double process_cpu_seconds(pid_t process);
// A line of /proc/PID/status in MiB: "VmRSS:", "VmHWM:".
[[nodiscard]] double process_mib(pid_t process, const std::string& line);

// A temporary folder with an authority, a server's and a client's certificate below it.
class LoadFolder {
 public:
  LoadFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  // Returns the path.
  std::string write(std::string_view name, std::string_view content) const {
    return folder_.write(name, content);
  }
  // `certFile: ..., keyFile: ..., clientCAFile: ...` of the configuration.
  [[nodiscard]] const std::string& tls_keys() const { return tls_keys_; }
  // A client that presents its certificate to a server on loopback.
  [[nodiscard]] net::ClientOptions client(std::uint16_t port) const;

 private:
  TemporaryFolder folder_;
  net::KeyPair authority_;
  net::KeyPair client_pair_;
  std::string tls_keys_;
};

// `rankward serve` until the object goes away. Ports are those that its log names.
class ServedProgram {
 public:
  ServedProgram(const std::string& program, const std::string& config);
  ~ServedProgram();
  ServedProgram(const ServedProgram&) = delete;
  ServedProgram& operator=(const ServedProgram&) = delete;

  [[nodiscard]] std::uint16_t extender() const { return extender_; }
  [[nodiscard]] std::uint16_t webhook() const { return webhook_; }
  [[nodiscard]] std::uint16_t status() const { return status_; }
  [[nodiscard]] double cpu_seconds() const { return process_cpu_seconds(pid_); }
  [[nodiscard]] double resident_mib() const { return process_mib(pid_, "VmRSS:"); }
  [[nodiscard]] double peak_mib() const { return process_mib(pid_, "VmHWM:"); }

 private:
  pid_t pid_ = 0;
  std::uint16_t extender_ = 0;
  std::uint16_t webhook_ = 0;
  std::uint16_t status_ = 0;
};

}  // namespace rankward::bench
