#include "rankward/cluster/list_objects.hpp"

#include <chrono>
#include <utility>

#include "api_client.hpp"
#include "api_failure.hpp"
#include "credentials.hpp"
#include "list_splitter.hpp"
#include "rankward/cluster/clock.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/net/percent_encoding.hpp"

namespace rankward::cluster {
namespace {

constexpr std::chrono::seconds kTimeout{60};
// As kubectl asks for.
constexpr std::string_view kPageSize = "500";
constexpr std::size_t kMaxItemBytes = std::size_t{64} << 20;

// A Status of 410 carries a token that goes on where the old one ended, at a newer version.
// Source: KEP-365, apiserver storage/continue.go.
std::string token_to_go_on(const net::ClientResponse& response) {
  const auto meta =
      formats::read_list(response.body, [](std::string_view) -> Result<void> { return {}; });
  return meta ? meta->continue_token : std::string();
}

Result<void> no_more_items(std::string_view /*json*/) {
  return Error::invalid("must be an object");
}

}  // namespace

struct ObjectLister::Connection {
  explicit Connection(const ApiServer& given)
      : server(given), credentials(server, machine_clock(), {}), client(server, credentials) {}

  const ApiServer server;
  CredentialSource credentials;
  ApiClient client;
};

ObjectLister::ObjectLister(const ApiServer& server)
    : connection_(std::make_unique<Connection>(server)) {}

ObjectLister::~ObjectLister() = default;

Result<void> ObjectLister::list(std::string_view path, std::string_view field_selector,
                                const OnObject& on_object) {
  std::string base(path);
  base.append("?limit=").append(kPageSize);
  if (!field_selector.empty()) base += "&fieldSelector=" + net::percent_encoded(field_selector);
  std::string token;
  bool went_on = false;
  do {
    std::string target = base;
    if (!token.empty()) target += "&continue=" + net::percent_encoded(token);
    const auto response = connection_->client.get(target, kTimeout);
    if (!response) return response.error();
    if (response->status == 410 && !went_on) {
      token = token_to_go_on(*response);
      went_on = true;
      if (!token.empty()) continue;
    }
    if (response->status != 200) {
      return Error::unavailable(api_failure(*response).what).in(std::string(path));
    }
    went_on = false;
    auto meta = formats::read_list(response->body, [&](std::string_view json) -> Result<void> {
      on_object(json);
      return {};
    });
    if (!meta) return std::move(meta.error()).in(std::string(path));
    token = std::move(meta->continue_token);
  } while (!token.empty());
  return {};
}

struct ListText::Splitter {
  ListSplitter items{kMaxItemBytes};
};

ListText::ListText() : splitter_(std::make_unique<Splitter>()) {}

ListText::~ListText() = default;

Result<void> ListText::feed(std::string_view piece, const OnObject& on_object) {
  if (splitter_->items.feed(piece, on_object)) return {};
  return Error(ErrorKind::kTooLarge,
               "must not have an object of more than " + std::to_string(kMaxItemBytes) + " bytes");
}

const std::string& ListText::rest() const {
  return splitter_->items.rest();
}

Result<void> ListText::finish() const {
  auto meta = formats::read_list(rest(), no_more_items);
  if (!meta) return std::move(meta.error());
  return {};
}

}  // namespace rankward::cluster
