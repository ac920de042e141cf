// nginx that answers every POST with the same bytes over mutual TLS: what the machine, TLS and HTTP
// allow, without any judgement.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "served_program.hpp"

namespace rankward::bench {

class StaticNginx {
 public:
  // Nothing where there is no nginx. `body` goes into a file of the folder, which must outlive it.
  static std::optional<std::string> find();
  StaticNginx(const std::string& program, const LoadFolder& folder, const std::string& body);
  ~StaticNginx();
  StaticNginx(const StaticNginx&) = delete;
  StaticNginx& operator=(const StaticNginx&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Of the master and its workers.
  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] double resident_mib() const;

 private:
  [[nodiscard]] std::vector<pid_t> processes() const;

  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace rankward::bench
