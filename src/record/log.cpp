#include "rankward/record/log.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "rankward/formats/json_writer.hpp"

namespace rankward::record {
namespace {

enum class Severity : char { kInfo = 'I', kWarning = 'W', kError = 'E' };

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

void write_json_value(formats::JsonWriter& json, const Field& field) {
  json.key(field.key);
  std::visit(Overloaded{[&](Field::Raw raw) { json.raw(raw.json); },
                        [&](auto value) { json.value(value); }},
             field.value);
}

void write_text_value(std::string& line, const Field& field) {
  line += ' ';
  line += field.key;
  line += '=';
  std::visit(Overloaded{[&](Field::Raw raw) { line += raw.json; },
                        [&](std::string_view text) { formats::append_json_string(line, text); },
                        [&](bool truth) { line += truth ? "true" : "false"; },
                        [&](auto number) { line += std::to_string(number); }},
             field.value);
}

std::int64_t microseconds_since_epoch() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Log::Impl {
  explicit Impl(const LogOptions& options)
      : verbosity(options.verbosity),
        json(options.format == LogFormat::kJson ||
             (options.format == LogFormat::kAuto && isatty(STDERR_FILENO) == 0)),
        pool(std::make_shared<spdlog::details::thread_pool>(options.queue, 1)),
        logger(std::make_shared<spdlog::async_logger>(
            "rankward", std::make_shared<spdlog::sinks::stderr_sink_mt>(), pool,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::trace);
  }

  void write(Severity severity, int level, std::string_view message, const std::string_view* error,
             std::initializer_list<Field> fields) {
    thread_local std::string line;
    line.clear();
    const std::int64_t now = microseconds_since_epoch();
    if (json) {
      formats::JsonWriter writer(line);
      // component-base's JSON format: milliseconds since the epoch.
      writer.begin_object().member("ts", static_cast<double>(now) / 1000.0);
      if (severity == Severity::kInfo) writer.member("v", level);
      if (severity == Severity::kWarning) writer.member("level", "warning");
      writer.member("msg", message);
      if (error != nullptr) writer.member("err", *error);
      for (const Field& field : fields)
        write_json_value(writer, field);
      writer.end_object();
    } else {
      const std::time_t seconds = now / 1'000'000;
      std::tm local{};
      localtime_r(&seconds, &local);
      char head[48];
      std::snprintf(head, sizeof head, "%c%02d%02d %02d:%02d:%02d.%06d rankward] ",
                    static_cast<char>(severity), local.tm_mon + 1, local.tm_mday, local.tm_hour,
                    local.tm_min, local.tm_sec, static_cast<int>(now % 1'000'000));
      line += head;
      formats::append_json_string(line, message);
      if (error != nullptr) write_text_value(line, {"err", *error});
      for (const Field& field : fields)
        write_text_value(line, field);
    }
    logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

  const int verbosity;
  const bool json;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

Log::Log(const LogOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Log::~Log() {
  impl_->logger->flush();
}

bool Log::enabled(int verbosity) const {
  return verbosity <= impl_->verbosity;
}

void Log::info(int verbosity, std::string_view message, std::initializer_list<Field> fields) {
  if (enabled(verbosity)) impl_->write(Severity::kInfo, verbosity, message, nullptr, fields);
}

void Log::warning(std::string_view message, std::initializer_list<Field> fields) {
  impl_->write(Severity::kWarning, 0, message, nullptr, fields);
}

void Log::error(std::string_view message, std::string_view error,
                std::initializer_list<Field> fields) {
  impl_->write(Severity::kError, 0, message, &error, fields);
}

std::uint64_t Log::dropped() const {
  return impl_->pool->overrun_counter();
}

}  // namespace rankward::record
