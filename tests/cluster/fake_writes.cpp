#include "fake_writes.hpp"

#include <boost/json.hpp>
#include <string_view>
#include <utility>

namespace rankward::cluster {
namespace {

constexpr std::string_view kLeases = "/apis/coordination.k8s.io/v1/namespaces/";
constexpr std::string_view kPods = "/api/v1/namespaces/";

// One operation on a document; false where it does not apply. A test of a path that is not there
// holds for null, as in the API server's library (evanphx/json-patch).
bool apply(boost::json::value& document, const boost::json::object& operation) {
  const std::string path(operation.at("path").as_string());
  const auto slash = path.rfind('/');
  boost::system::error_code failure;
  auto* parent = slash == 0 ? &document : document.find_pointer(path.substr(0, slash), failure);
  if (parent == nullptr) return false;
  const auto key = path.substr(slash + 1);
  const auto kind = operation.at("op").as_string();
  auto* found = document.find_pointer(path, failure);
  if (kind == "test") {
    const auto& wanted = operation.at("value");
    return found == nullptr ? wanted.is_null() : *found == wanted;
  }
  if (kind == "add" && parent->is_object()) {
    parent->get_object()[key] = operation.at("value");
    return true;
  }
  if (kind != "remove" || found == nullptr) return false;
  if (parent->is_object()) {
    parent->get_object().erase(key);
  } else {
    auto& array = parent->get_array();
    array.erase(array.begin() + std::stol(key));
  }
  return true;
}

}  // namespace

FakeWriteServer::FakeWriteServer() {
  net::Listener listener;
  listener.handler = [this](const net::Request& request, net::Response& response) {
    handle(request, response);
  };
  std::vector<net::Listener> listeners;
  listeners.push_back(std::move(listener));
  server_ = net::Server::start(std::move(listeners)).value();
}

FakeWriteServer::~FakeWriteServer() = default;

ApiServer FakeWriteServer::address() const {
  ApiServer server;
  server.tls = false;
  server.host = "127.0.0.1";
  server.port = server_->ports().front();
  server.token = "token";
  return server;
}

std::optional<formats::Lease> FakeWriteServer::lease() const {
  const std::lock_guard lock(mutex_);
  return lease_;
}

void FakeWriteServer::write_lease(formats::Lease lease) {
  const std::lock_guard lock(mutex_);
  lease.resource_version = std::to_string(++version_);
  lease_ = std::move(lease);
}

void FakeWriteServer::put_pod(const std::string& path, std::string json) {
  const std::lock_guard lock(mutex_);
  pods_[path] = std::move(json);
}

std::string FakeWriteServer::pod(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return pods_.at(path);
}

void FakeWriteServer::answer_all(int status, std::string body) {
  const std::lock_guard lock(mutex_);
  body_ = std::move(body);
  all_ = status;
}

void FakeWriteServer::answer_next(int status) {
  const std::lock_guard lock(mutex_);
  next_ = status;
}

std::vector<FakeWriteServer::Call> FakeWriteServer::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void FakeWriteServer::handle(const net::Request& request, net::Response& response) {
  const std::lock_guard lock(mutex_);
  calls_.push_back({std::string(request.method),
                    std::string(request.target) +
                        (request.query.empty() ? "" : "?" + std::string(request.query)),
                    std::string(request.header("Content-Type")),
                    std::string(request.header("Authorization")), std::string(request.body)});
  if (const int status = std::exchange(next_, 0); status != 0 || all_ != 0) {
    response.status = status != 0 ? status : all_;
    response.body = body_;
    return;
  }
  if (request.target.starts_with(kLeases)) {
    answer_lease(request, response);
  } else if (request.target.starts_with(kPods)) {
    answer_pods(request, response);
  } else {
    response.status = request.method == "POST" ? 201 : 200;
    response.body = "{}";
  }
}

void FakeWriteServer::answer_lease(const net::Request& request, net::Response& response) {
  if (request.method == "GET" && !lease_) {
    response.status = 404;
    return;
  }
  if (request.method != "GET") {
    auto given = formats::read_lease(request.body).value();
    const bool is_new = request.method == "POST";
    if (is_new == lease_.has_value() ||
        (!is_new && given.resource_version != lease_->resource_version)) {
      response.status = 409;
      return;
    }
    given.resource_version = std::to_string(++version_);
    lease_ = given;
    response.status = is_new ? 201 : 200;
  }
  response.body = formats::write_lease("own", "rankward", *lease_);
}

void FakeWriteServer::answer_pods(const net::Request& request, net::Response& response) {
  auto path = std::string(request.target.substr(kPods.size()));
  if (path.ends_with("/pods")) {
    std::string items;
    for (const auto& [name, json] : pods_) {
      if (name.starts_with(path + "/")) items += (items.empty() ? "" : ",") + json;
    }
    response.body = R"({"metadata":{"resourceVersion":"1"},"items":[)" + items + "]}";
    return;
  }
  if (path.ends_with("/status")) path.resize(path.size() - std::string_view("/status").size());
  const auto found = pods_.find(path);
  if (found == pods_.end()) {
    response.status = 404;
    return;
  }
  if (request.method == "PATCH") {
    auto document = boost::json::parse(found->second);
    const auto patch = boost::json::parse(std::string(request.body));
    for (const auto& operation : patch.as_array()) {
      if (apply(document, operation.as_object())) continue;
      response.status = 422;
      return;
    }
    found->second = boost::json::serialize(document);
  }
  response.body = found->second;
}

}  // namespace rankward::cluster
