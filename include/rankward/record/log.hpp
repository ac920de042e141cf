// The program's log: one JSON object a line on stderr with klog's keys (ts, v, msg, pod, node,
// err), or klog's text on a terminal. Writing never waits for the reader of stderr: lines are
// queued, and the oldest is dropped (and counted) when the queue is full.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace rankward::record {

enum class LogFormat : std::uint8_t { kAuto, kJson, kText };

struct LogOptions {
  // Lines of a higher verbosity are not written. Decisions are 0, refusals by clients 2.
  int verbosity = 0;
  // kAuto: text where stderr is a terminal.
  LogFormat format = LogFormat::kAuto;
  // Lines that may wait for stderr. 256 bytes and more each.
  std::size_t queue = 8192;
};

// A key with its value. Keys are camel case, as Kubernetes' own log keys are.
struct Field {
  // The last is JSON that is written as it stands.
  struct Raw {
    std::string_view json;
  };
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool, Raw>;
  std::string_view key;
  Value value;
};

class Log {
 public:
  explicit Log(const LogOptions& options);
  // Writes what is queued.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] bool enabled(int verbosity) const;
  void info(int verbosity, std::string_view message, std::initializer_list<Field> fields = {});
  void warning(std::string_view message, std::initializer_list<Field> fields = {});
  void error(std::string_view message, std::string_view error,
             std::initializer_list<Field> fields = {});
  // Lines that were dropped because stderr was too slow.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::record
