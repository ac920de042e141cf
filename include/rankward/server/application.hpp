// The serving process: both doors, health and metrics, from start to a graceful end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/formats/configuration.hpp"
#include "rankward/record/log.hpp"
#include "rankward/result.hpp"

namespace rankward::server {

inline constexpr std::string_view kVersion = "0.1.0";

// Ports that are in use; nothing for a door that is closed.
struct OpenPorts {
  std::optional<std::uint16_t> extender;
  std::optional<std::uint16_t> webhook;
  std::uint16_t status = 0;
};

class Application {
 public:
  // Opens the ports, then begins to learn the cluster: until it is known /readyz says 503 and
  // filter answers an Error, while the webhook works from the first moment. `log` outlives the
  // application. A `source` that is given takes the place of the configuration's kubeconfig and
  // inventory and outlives it too.
  [[nodiscard]] static Result<std::unique_ptr<Application>> start(
      formats::Configuration configuration, record::Log& log,
      const cluster::SnapshotSource* source = nullptr);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  [[nodiscard]] OpenPorts ports() const;
  // Reads the certificate files now, as SIGHUP asks.
  void reload();
  // Not ready at once; answers carry `Connection: close` for `drain`, so that clients move away;
  // then what is in flight is finished, within `grace`.
  void stop(std::chrono::milliseconds drain, std::chrono::milliseconds grace);

 private:
  struct Impl;
  explicit Application(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::server
