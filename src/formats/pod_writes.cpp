#include "rankward/formats/pod_writes.hpp"

#include <algorithm>

#include "json_cursor.hpp"
#include "json_text.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {
namespace {

constexpr std::size_t kMostOfNote = 1024;
constexpr std::string_view kNominationPath = "/status/nominatedNodeName";
// 253 is what a name may have; the suffix and its dot come behind.
constexpr std::size_t kMostOfEventName = 253 - 17;

void append_test(JsonWriter& json, std::string_view path, std::string_view value) {
  json.begin_object().member("op", "test").member("path", path).member("value", value).end_object();
}

// Cut so that no character is left half.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return text.substr(0, end);
}

// The name of an Event must be that of a DNS subdomain, as the pod's own is; what is cut off must
// not leave a dot or hyphen at the end.
std::string event_name(const PodEvent& event) {
  std::string name(std::string_view(event.pod).substr(0, kMostOfEventName));
  while (!name.empty() && (name.back() == '.' || name.back() == '-'))
    name.pop_back();
  return name + "." + event.suffix;
}

}  // namespace

std::string nomination_patch(std::string_view uid, std::string_view seen, std::string_view node) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  append_test(json, "/metadata/uid", uid);
  if (seen.empty()) {
    // A path that is not there equals null: the API server's own library for patches.
    json.begin_object().member("op", "test").member("path", kNominationPath).key("value").null();
    json.end_object();
  } else {
    append_test(json, kNominationPath, seen);
  }
  json.begin_object();
  if (node.empty()) {
    json.member("op", "remove").member("path", kNominationPath);
  } else {
    json.member("op", "add").member("path", kNominationPath).member("value", node);
  }
  json.end_object().end_array();
  return out;
}

std::string gate_patch(std::string_view uid, std::size_t position, std::string_view gate) {
  const std::string path = "/spec/schedulingGates/" + std::to_string(position);
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  append_test(json, "/metadata/uid", uid);
  append_test(json, path + "/name", gate);
  json.begin_object().member("op", "remove").member("path", path).end_object().end_array();
  return out;
}

Result<NominationHead> read_nomination(std::string_view pod_json) {
  Cursor cursor(pod_json);
  NominationHead out;
  const auto entry = [&](std::size_t) {
    std::string manager;
    bool nomination = false;
    const auto mark = [&] {
      nomination = true;
      return cursor.skip();
    };
    const auto status = [&] { return cursor.object(field("f:nominatedNodeName", mark)); };
    const auto fields = [&] { return cursor.object(field("f:status", status)); };
    if (!cursor.object(field("manager", manager), field("fieldsV1", fields))) return false;
    if (nomination && manager == kFieldManager) out.nominated_by_us = true;
    return true;
  };
  const auto metadata = [&] {
    return cursor.object(field("uid", out.uid),
                         field("managedFields", [&] { return cursor.items(entry); }));
  };
  const auto status = [&] { return cursor.object(field("nominatedNodeName", out.nominated_node)); };
  if (!cursor.document(field("metadata", metadata), field("status", status))) {
    return cursor.take_error();
  }
  return out;
}

std::string write_event(const PodEvent& event) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("apiVersion", "events.k8s.io/v1")
      .member("kind", "Event")
      .key("metadata")
      .begin_object()
      .member("namespace", event.name_space)
      .member("name", event_name(event))
      .end_object()
      .member("eventTime", event.time)
      .member("reportingController", "rankward.io/rankward")
      .member("reportingInstance", cut(event.instance, 128))
      .member("action", cut(event.action, 128))
      .member("reason", cut(event.reason, 128))
      .member("type", event.warning ? "Warning" : "Normal")
      .member("note", cut(event.note, kMostOfNote))
      .key("regarding")
      .begin_object()
      .member("apiVersion", "v1")
      .member("kind", "Pod")
      .member("namespace", event.name_space)
      .member("name", event.pod)
      .member("uid", event.uid)
      .end_object()
      .end_object();
  return out;
}

std::string write_wake_claim(std::string_view name_space, std::string_view name) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("apiVersion", "resource.k8s.io/v1")
      .member("kind", "ResourceClaim")
      .key("metadata")
      .begin_object()
      .member("namespace", name_space)
      .member("name", name)
      .end_object()
      .key("spec")
      .begin_object()
      .end_object()
      .end_object();
  return out;
}

std::string wake_patch(std::string_view value) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .key("metadata")
      .begin_object()
      .key("annotations")
      .begin_object()
      .member("rankward.io/woken-at", value)
      .end_object()
      .end_object()
      .end_object();
  return out;
}

}  // namespace rankward::formats
