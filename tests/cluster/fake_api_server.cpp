#include "fake_api_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "rankward/formats/objects.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kMark = "@VERSION@";
// How often a watch looks for the end of the test; events wake it at once.
constexpr milliseconds kTick{20};

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Whether the client has gone. It sends nothing while it watches.
bool is_closed(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool send_chunk(int socket, std::string_view text) {
  if (text.empty()) return true;
  char size[32];
  const int length = std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return send_all(socket,
                  std::string(size, static_cast<std::size_t>(length)) + std::string(text) + "\r\n");
}

std::string reason(int status) {
  return status == 200 ? "OK" : "Other";
}

bool send_response(int socket, int status, std::string_view headers, std::string_view body) {
  return send_all(socket, "HTTP/1.1 " + std::to_string(status) + " " + reason(status) + "\r\n" +
                              std::string(headers) + "Content-Type: application/json\r\n" +
                              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                              std::string(body));
}

std::string status_json(int code, std::string_view message) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
         std::string(message) + R"(","code":)" + std::to_string(code) + "}";
}

// Value of a parameter of the target's query, not decoded; "" where absent.
std::string parameter(const std::string& target, const std::string& name) {
  for (const auto* before : {"?", "&"}) {
    const auto at = target.find(before + name + "=");
    if (at == std::string::npos) continue;
    const auto from = at + name.size() + 2;
    return target.substr(from, target.find('&', from) - from);
  }
  return "";
}

std::string with_version(std::string json, std::uint64_t version) {
  if (const auto at = json.find(kMark); at != std::string::npos) {
    json.replace(at, kMark.size(), std::to_string(version));
  }
  return json;
}

std::string event_line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// What the fault sends; `version` is the one that the watch has reached. Returns whether the
// connection goes on, and `ended` whether the response is over.
bool play(int socket, Fault fault, std::uint64_t version, bool& ended) {
  const std::string half = R"({"type":"ADDED","object":{"metadata":{"na)";
  const std::string bare = with_version(R"({"metadata":{"resourceVersion":"@VERSION@"}})", version);
  switch (fault) {
    case Fault::kCutInsideLine:
      send_chunk(socket, half);
      return false;
    case Fault::kCutBetween:
      return false;
    case Fault::kCleanEnd:
      ended = true;
      return send_all(socket, "0\r\n\r\n");
    case Fault::kEndInsideLine:
      ended = true;
      return send_chunk(socket, half) && send_all(socket, "0\r\n\r\n");
    case Fault::kGarbage:
      return send_chunk(socket, "upstream connect error\n");
    case Fault::kGoneEvent:
      return send_chunk(socket, event_line("ERROR", status_json(410, "too old resource version")));
    case Fault::kErrorEvent:
      return send_chunk(socket, event_line("ERROR", status_json(500, "etcd is gone")));
    case Fault::kBookmark:
      return send_chunk(socket, event_line("BOOKMARK", bare));
    case Fault::kUnknownType:
      return send_chunk(socket, event_line("RENAMED", bare));
  }
  return false;
}

}  // namespace

FakeApiServer::FakeApiServer() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, generic, &length) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_loop(); });
}

FakeApiServer::~FakeApiServer() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_)
      ::shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  for (auto& connection : connections_)
    connection.join();
  for (const int socket : sockets_)
    ::close(socket);
  ::close(listener_);
}

ApiServer FakeApiServer::address() const {
  ApiServer server;
  server.tls = false;
  server.host = "127.0.0.1";
  server.port = port_;
  return server;
}

void FakeApiServer::accept_loop() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    connections_.emplace_back([this, socket] {
      serve(socket);
      ::shutdown(socket, SHUT_RDWR);
    });
  }
}

void FakeApiServer::serve(int socket) {
  std::string buffer;
  HttpRequest request;
  while (!stopping_ && read_request(socket, buffer, request)) {
    if (!answer(socket, request)) return;
  }
}

bool FakeApiServer::read_request(int socket, std::string& buffer, HttpRequest& request) const {
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    char piece[4096];
    const auto got = ::recv(socket, piece, sizeof piece, 0);
    if (got <= 0) return false;
    buffer.append(piece, static_cast<std::size_t>(got));
  }
  const std::string head = buffer.substr(0, end + 2);
  buffer.erase(0, end + 4);
  const auto from = head.find(' ') + 1;
  request.target = head.substr(from, head.find(' ', from) - from);
  constexpr std::string_view kBearer = "Authorization: Bearer ";
  const auto token = head.find(kBearer);
  request.token =
      token == std::string::npos
          ? ""
          : head.substr(token + kBearer.size(), head.find('\r', token) - token - kBearer.size());
  return true;
}

std::string FakeApiServer::resource_at(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [resource, known] : paths_) {
    if (known == path) return resource;
  }
  return "";
}

bool FakeApiServer::answer_discovery(int socket, const std::string& path) const {
  std::string resources;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [resource, known] : paths_) {
      if (known.rfind(path + "/", 0) != 0) continue;
      resources += (resources.empty() ? "" : ",") +
                   (R"({"name":")" + known.substr(path.size() + 1)) +
                   R"(","namespaced":true,"verbs":["get","list","watch"]})";
    }
  }
  if (resources.empty()) {
    return send_response(socket, 404, "", status_json(404, "the server could not find it"));
  }
  return send_response(socket, 200, "",
                       R"({"kind":"APIResourceList","resources":[)" + resources + "]}");
}

bool FakeApiServer::answer(int socket, const HttpRequest& request) {
  const auto path = request.target.substr(0, request.target.find('?'));
  const std::string resource = resource_at(path);
  const bool watch = parameter(request.target, "watch") == "1";
  CannedResponse canned{.status = 0};
  {
    const std::lock_guard lock(mutex_);
    targets_.push_back(request.target);
    if (!token_.empty() && request.token != token_) {
      canned = {401, "", status_json(401, "Unauthorized")};
    } else if (auto& queue = canned_[(watch ? "watch " : "list ") + resource]; !queue.empty()) {
      canned = queue.front();
      queue.pop_front();
    }
  }
  if (canned.status != 0) return send_response(socket, canned.status, canned.headers, canned.body);
  if (resource.empty()) return answer_discovery(socket, path);
  return watch ? answer_watch(socket, resource, request) : answer_list(socket, resource, request);
}

bool FakeApiServer::answer_list(int socket, const std::string& resource,
                                const HttpRequest& request) {
  std::string body;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, delay_.load(),
                      [this] { return stopping_ || delay_.load().count() == 0; });
    const auto asked = parameter(request.target, "resourceVersion");
    if (std::strtoull(asked.c_str(), nullptr, 10) > version_) {
      lock.unlock();
      return send_response(socket, 504, "", status_json(504, "Too large resource version"));
    }
    // A continued list shows the state of its first page to its end.
    const auto token = parameter(request.target, "continue");
    const auto dot = token.find('.');
    const auto page = token.empty()
                          ? std::make_shared<const Listing>(Listing{version_, objects_[resource]})
                          : listings_[std::strtoul(token.c_str(), nullptr, 10)];
    const auto first =
        dot == std::string::npos ? 0 : std::strtoul(token.substr(dot + 1).c_str(), nullptr, 10);
    const auto limit = std::strtoul(parameter(request.target, "limit").c_str(), nullptr, 10);
    std::string items;
    std::size_t index = 0;
    for (const auto& [name, json] : page->objects) {
      const bool wanted = index >= first && (limit == 0 || index < first + limit);
      if (wanted) items += (items.empty() ? "" : ",") + json;
      ++index;
    }
    std::string next;
    if (limit != 0 && first + limit < page->objects.size()) {
      if (token.empty()) listings_.push_back(page);
      const auto id = token.empty() ? std::to_string(listings_.size() - 1) : token.substr(0, dot);
      next = R"(,"continue":")" + id + "." + std::to_string(first + limit) + "\"";
    }
    body = R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":")" +
           std::to_string(page->version) + "\"" + next + R"(},"items":[)" + items + "]}";
  }
  return send_response(socket, 200, "", body);
}

bool FakeApiServer::answer_watch(int socket, const std::string& resource,
                                 const HttpRequest& request) {
  std::unique_lock lock(mutex_);
  std::uint64_t seen =
      std::strtoull(parameter(request.target, "resourceVersion").c_str(), nullptr, 10);
  if (seen < compacted_) {
    lock.unlock();
    return send_response(socket, 410, "", status_json(410, "too old resource version"));
  }
  std::size_t again = replay_;
  for (auto event = log_.rbegin(); event != log_.rend() && again > 0; ++event) {
    if (event->resource != resource || event->version > seen) continue;
    seen = event->version - 1;
    --again;
  }
  const auto epoch = epoch_;
  Watch watch{resource, {}};
  const auto self = watches_.insert(watches_.end(), &watch);
  lock.unlock();
  bool going = send_all(socket,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
  bool ended = false;
  std::size_t turn = 0;
  lock.lock();
  while (going && !ended && !stopping_ && epoch_ == epoch && paths_.count(resource) != 0 &&
         !is_closed(socket)) {
    const auto next = std::find_if(log_.begin(), log_.end(), [&](const LoggedEvent& event) {
      return event.version > seen && event.resource == resource;
    });
    if (!watch.faults.empty()) {
      const auto fault = watch.faults.front();
      watch.faults.pop_front();
      // A bookmark says that all before it has been sent.
      const auto reached = next == log_.end() ? version_ : seen;
      lock.unlock();
      going = play(socket, fault, reached, ended);
      lock.lock();
      continue;
    }
    if (delay_.load().count() > 0 || next == log_.end()) {
      changed_.wait_for(lock, kTick);
      continue;
    }
    seen = next->version;
    const std::string line = next->line;
    lock.unlock();
    // Chunks have nothing to do with lines.
    const auto cut = ++turn * 7 % line.size();
    for (int time = 0; time < (twice_ ? 2 : 1); ++time) {
      going = going && send_chunk(socket, std::string_view(line).substr(0, cut)) &&
              send_chunk(socket, std::string_view(line).substr(cut));
    }
    lock.lock();
  }
  watches_.erase(self);
  return going && ended;
}

void FakeApiServer::log_event(const std::string& resource, const std::string& type,
                              const std::string& json) {
  log_.push_back({version_, resource, event_line(type, json)});
  changed_.notify_all();
}

void FakeApiServer::put(const std::string& resource, const std::string& name, std::string json) {
  const std::lock_guard lock(mutex_);
  ++version_;
  auto& objects = objects_[resource];
  const bool there = objects.count(name) != 0;
  json = with_version(std::move(json), version_);
  objects[name] = json;
  log_event(resource, there ? "MODIFIED" : "ADDED", json);
}

void FakeApiServer::remove(const std::string& resource, const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& objects = objects_[resource];
  const auto object = objects.find(name);
  if (object == objects.end()) return;
  ++version_;
  log_event(resource, "DELETED", object->second);
  objects.erase(object);
}

void FakeApiServer::install(const std::string& resource, const std::string& version) {
  const std::lock_guard lock(mutex_);
  const auto dot = resource.find('.');
  paths_[resource] =
      "/apis/" + resource.substr(dot + 1) + "/" + version + "/" + resource.substr(0, dot);
}

void FakeApiServer::uninstall(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  ++version_;
  paths_.erase(resource);
  objects_.erase(resource);
  changed_.notify_all();
}

void FakeApiServer::compact() {
  const std::lock_guard lock(mutex_);
  ++version_;
  compacted_ = version_;
}

void FakeApiServer::restore() {
  const std::lock_guard lock(mutex_);
  version_ = 1;
  compacted_ = 0;
  ++epoch_;
  log_.clear();
  changed_.notify_all();
}

void FakeApiServer::disturb(const std::string& resource, Fault fault) {
  const std::lock_guard lock(mutex_);
  for (auto* watch : watches_) {
    if (watch->resource == resource) watch->faults.push_back(fault);
  }
  changed_.notify_all();
}

void FakeApiServer::answer_next(const std::string& call, CannedResponse response) {
  const std::lock_guard lock(mutex_);
  canned_[call].push_back(std::move(response));
}

void FakeApiServer::require_token(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

std::vector<std::string> FakeApiServer::targets(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  const auto path = paths_.find(resource);
  if (path == paths_.end()) return out;
  for (const auto& target : targets_) {
    if (target.rfind(path->second, 0) == 0) out.push_back(target);
  }
  return out;
}

std::size_t FakeApiServer::open_watches(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(watches_.begin(), watches_.end(),
                    [&](const Watch* watch) { return watch->resource == resource; }));
}

std::vector<kube::Node> FakeApiServer::nodes() const {
  const std::lock_guard lock(mutex_);
  std::vector<kube::Node> out;
  if (const auto all = objects_.find("nodes"); all != objects_.end()) {
    for (const auto& [name, json] : all->second) {
      auto node = formats::read_node(json);
      if (node) out.push_back(std::move(*node));
    }
  }
  return out;
}

std::vector<kube::Pod> FakeApiServer::pods() const {
  const std::lock_guard lock(mutex_);
  std::vector<kube::Pod> out;
  if (const auto all = objects_.find("pods"); all != objects_.end()) {
    for (const auto& [name, json] : all->second) {
      auto pod = formats::read_pod(json);
      if (pod) out.push_back(std::move(*pod));
    }
  }
  return out;
}

std::vector<std::string> FakeApiServer::installed() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [resource, path] : paths_) {
    if (resource.find('.') != std::string::npos) out.push_back(resource);
  }
  return out;
}

std::vector<std::string> FakeApiServer::objects(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  if (const auto all = objects_.find(resource); all != objects_.end()) {
    for (const auto& [name, json] : all->second)
      out.push_back(json);
  }
  return out;
}

std::uint64_t FakeApiServer::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace rankward::cluster
