#include "api_failure.hpp"

#include <boost/json.hpp>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace rankward::cluster {
namespace {

constexpr std::size_t kMostOfMessage = 300;

std::string status_message(std::string_view body) {
  boost::system::error_code failure;
  const auto root = boost::json::parse(body, failure);
  if (failure || !root.is_object()) return {};
  const auto* message = root.get_object().if_contains("message");
  if (message == nullptr || !message->is_string()) return {};
  return std::string(std::string_view(message->get_string()).substr(0, kMostOfMessage));
}

// Seconds, the form that the API server and most proxies use; a date is passed over.
std::optional<std::chrono::milliseconds> retry_after(std::string_view text) {
  std::uint32_t seconds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

ApiFailure api_failure(const net::ClientResponse& response) {
  ApiFailure failure;
  failure.status = response.status;
  failure.what = "HTTP status " + std::to_string(response.status);
  if (const auto message = status_message(response.body); !message.empty()) {
    failure.what += ": " + message;
  }
  failure.retry_after = retry_after(response.header("Retry-After"));
  return failure;
}

}  // namespace rankward::cluster
