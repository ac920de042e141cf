#include "lease.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

#include "api_failure.hpp"

namespace rankward::cluster {
namespace {

constexpr std::string_view kJson = "application/json";

}  // namespace

std::string format_micro_time(std::chrono::system_clock::time_point time) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto micros = duration_cast<microseconds>(time.time_since_epoch()).count();
  const auto fraction = ((micros % 1'000'000) + 1'000'000) % 1'000'000;
  const auto seconds = static_cast<std::time_t>((micros - fraction) / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  char tail[16];
  std::snprintf(tail, sizeof tail, ".%06dZ", static_cast<int>(fraction));
  return std::string(text, length) + tail;
}

LeaseCandidate::LeaseCandidate(ApiClient& client, const Clock& clock, const LeaderOptions& options)
    : client_(client), clock_(clock), options_(options) {}

std::string LeaseCandidate::path(bool one) const {
  return "/apis/coordination.k8s.io/v1/namespaces/" + options_.name_space + "/leases" +
         (one ? "/" + options_.name : "");
}

std::string LeaseCandidate::wall_time() const {
  return format_micro_time(clock_.wall_now());
}

void LeaseCandidate::observe(const formats::Lease& lease) {
  if (observed_ == lease) return;
  observed_ = lease;
  observed_at_ = clock_.now();
}

std::optional<formats::Lease> LeaseCandidate::read(ApiClient& client) {
  const auto response = client.get(path(true), options_.timing.request_timeout);
  if (!response) {
    failure_ = response.error().to_string();
    return std::nullopt;
  }
  if (response->status == 404) return formats::Lease();
  if (response->status != 200) {
    failure_ = api_failure(*response).what;
    return std::nullopt;
  }
  auto lease = formats::read_lease(response->body);
  if (lease) return std::move(*lease);
  failure_ = lease.error().to_string();
  return std::nullopt;
}

LeaseCandidate::Try LeaseCandidate::write(ApiClient& client, const formats::Lease& lease,
                                          std::chrono::milliseconds timeout) {
  const bool is_new = lease.resource_version.empty();
  const auto body = formats::write_lease(options_.name_space, options_.name, lease);
  const auto response = client.send(is_new ? "POST" : "PUT", path(!is_new), kJson, body, timeout);
  if (!response) {
    // It may have been written all the same: what we knew of it is worth nothing now.
    observed_.reset();
    failure_ = response.error().to_string();
    return Try::kFailed;
  }
  if (response->status == 409) {
    observed_.reset();
    return Try::kOthers;
  }
  if (response->status != 200 && response->status != 201) {
    failure_ = api_failure(*response).what;
    return Try::kFailed;
  }
  auto written = formats::read_lease(response->body);
  if (!written) {
    observed_.reset();
    failure_ = written.error().to_string();
    return Try::kFailed;
  }
  observe(*written);
  return Try::kHeld;
}

LeaseCandidate::Try LeaseCandidate::attempt() {
  const auto began = clock_.now();
  // A holder renews on what it wrote last, without reading: if that is out of date, the version
  // tells (409).
  const bool ours = observed_ && observed_->holder == options_.identity;
  if (!ours) {
    const auto lease = read(client_);
    if (!lease) return Try::kFailed;
    observe(*lease);
    const bool others = !lease->holder.empty() && lease->holder != options_.identity;
    // The time that its holder wants counts, if it is the longer one. A record that is new to us is
    // waited for in full, however old its own times say it is: clocks differ.
    const auto wanted = std::max<std::chrono::milliseconds>(
        options_.timing.lease, std::chrono::seconds(lease->duration_seconds));
    if (others && clock_.now() < observed_at_ + wanted) return Try::kOthers;
  }
  formats::Lease next = observed_.value_or(formats::Lease());
  const auto now = wall_time();
  if (next.holder != options_.identity) {
    if (!next.resource_version.empty()) ++next.transitions;
    next.acquire_time = now;
  }
  next.holder = options_.identity;
  next.renew_time = now;
  next.duration_seconds = static_cast<std::int32_t>(
      std::chrono::ceil<std::chrono::seconds>(options_.timing.lease).count());
  const auto result = write(client_, next, options_.timing.request_timeout);
  if (result == Try::kHeld) held_since_ = began;
  return result;
}

void LeaseCandidate::release(ApiClient& client, std::chrono::milliseconds timeout) {
  // A renewal that was cut off may have been written or not: look once what stands there.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!observed_) {
      const auto lease = read(client);
      if (!lease) return;
      observe(*lease);
    }
    if (observed_->holder != options_.identity) return;
    formats::Lease next = *observed_;
    next.holder.clear();
    // 0 is not allowed.
    next.duration_seconds = 1;
    next.renew_time = wall_time();
    if (write(client, next, timeout) == Try::kHeld) return;
  }
}

}  // namespace rankward::cluster
