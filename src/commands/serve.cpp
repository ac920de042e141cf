#include "rankward/commands/serve.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ostream>

#include "files.hpp"
#include "rankward/formats/configuration.hpp"
#include "rankward/net/process.hpp"
#include "rankward/record/log.hpp"
#include "rankward/server/application.hpp"

namespace rankward::commands {
namespace {

// Kubernetes kills a pod 30 s after SIGTERM; what is left after the drain belongs to calls in
// flight.
constexpr std::chrono::seconds kGrace{20};

Result<formats::Configuration> configure(const ServeOptions& options) {
  formats::Configuration configuration;
  if (!options.config.empty()) {
    auto text = read_file(options.config);
    if (!text) return std::move(text.error());
    auto read = formats::read_configuration(*text, options.config);
    if (!read) return std::move(read.error());
    configuration = std::move(*read);
  }
  if (!options.doors.empty()) {
    configuration.extender_door = configuration.webhook_door = false;
    for (const std::string& door : options.doors) {
      if (door == "extender") {
        configuration.extender_door = true;
      } else if (door == "webhook") {
        configuration.webhook_door = true;
      } else {
        return Error::invalid("\"" + door + "\" is no door: extender or webhook")
            .at_field("--doors");
      }
    }
  }
  if (options.kubeconfig) {
    configuration.kubeconfig = *options.kubeconfig;
    configuration.inventory.clear();
  }
  if (options.inventory) {
    configuration.inventory = *options.inventory;
    configuration.kubeconfig.clear();
  }
  if (options.verbosity) configuration.log_verbosity = *options.verbosity;
  if (options.log_format == "json") configuration.log_format = formats::LogFormatChoice::kJson;
  if (options.log_format == "text") configuration.log_format = formats::LogFormatChoice::kText;
  if (options.log_format == "auto") configuration.log_format = formats::LogFormatChoice::kAuto;
  return configuration;
}

record::LogFormat log_format(formats::LogFormatChoice choice) {
  switch (choice) {
    case formats::LogFormatChoice::kJson:
      return record::LogFormat::kJson;
    case formats::LogFormatChoice::kText:
      return record::LogFormat::kText;
    case formats::LogFormatChoice::kAuto:
      break;
  }
  return record::LogFormat::kAuto;
}

}  // namespace

int serve(const ServeOptions& options, const Console& console) {
  auto configuration = configure(options);
  if (!configuration) {
    console.err << "rankward serve: " << configuration.error().to_string() << '\n';
    return 3;
  }
  if (options.print_config) {
    console.out << formats::print_configuration(*configuration);
    return 0;
  }
  if (const auto complete = formats::check_complete(*configuration); !complete) {
    console.err << "rankward serve: " << complete.error().to_string() << '\n';
    return 3;
  }
  net::tune_allocator();
  // Before any thread, so that every thread leaves the signals to this one.
  net::SignalWaiter signals;
  record::Log log(
      {.verbosity = configuration->log_verbosity, .format = log_format(configuration->log_format)});
  auto application = server::Application::start(std::move(*configuration), log);
  if (!application) {
    log.error("cannot start", application.error().to_string());
    return 1;
  }
  for (;;) {
    const int signal = signals.wait();
    if (signal != SIGHUP) break;
    log.info(0, "reload asked for");
    (*application)->reload();
  }
  (*application)->stop(std::chrono::seconds(std::max(options.drain_seconds, 0)), kGrace);
  return 0;
}

}  // namespace rankward::commands
