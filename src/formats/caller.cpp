#include "rankward/formats/caller.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {
namespace {

namespace json = boost::json;

Result<json::value> parse(std::string_view text) {
  boost::system::error_code ec;
  json::value value = json::parse(json::string_view(text.data(), text.size()), ec);
  if (ec) return Error::invalid("is not JSON: " + ec.message());
  return value;
}

// The member, or null where it is absent or the value is no object.
const json::value& member(const json::value& value, std::string_view key) {
  static const json::value null;
  const json::object* object = value.if_object();
  const json::value* found = object != nullptr ? object->if_contains(key) : nullptr;
  return found != nullptr ? *found : null;
}

std::string text_of(const json::value& value) {
  const json::string* text = value.if_string();
  return text != nullptr ? std::string(text->data(), text->size()) : std::string();
}

std::vector<std::string> texts_of(const json::value& value) {
  std::vector<std::string> out;
  if (const json::array* array = value.if_array()) {
    for (const json::value& item : *array)
      out.push_back(text_of(item));
  }
  return out;
}

kube::StringMap map_of(const json::value& value) {
  kube::StringMap out;
  if (const json::object* object = value.if_object()) {
    for (const auto& item : *object)
      out[std::string(item.key())] = text_of(item.value());
  }
  return out;
}

}  // namespace

std::string write_extender_args(std::string_view pod_json,
                                std::span<const std::string> node_names) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().key("Pod").raw(pod_json).key("Nodes").null().key("NodeNames").begin_array();
  for (const std::string& name : node_names)
    writer.value(name);
  writer.end_array().end_object();
  return out;
}

Result<FilterAnswer> read_filter_answer(std::string_view text) {
  const auto value = parse(text);
  if (!value) return value.error();
  return FilterAnswer{texts_of(member(*value, "NodeNames")), map_of(member(*value, "FailedNodes")),
                      map_of(member(*value, "FailedAndUnresolvableNodes")),
                      text_of(member(*value, "Error"))};
}

Result<std::vector<std::pair<std::string, std::int64_t>>> read_host_priorities(
    std::string_view text) {
  const auto value = parse(text);
  if (!value) return value.error();
  const json::array* list = value->if_array();
  if (list == nullptr) return Error::invalid("must be an array of {Host, Score}");
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const json::value& item : *list) {
    const json::value& score = member(item, "Score");
    if (!score.is_int64()) return Error::invalid("must be an integer").at_field("Score");
    out.emplace_back(text_of(member(item, "Host")), score.get_int64());
  }
  return out;
}

std::string write_pod_review(std::string_view uid, std::string_view namespace_,
                             std::string_view pod_json) {
  std::string out;
  JsonWriter writer(out);
  const auto version_of = [&](std::string_view key, std::string_view last, std::string_view name) {
    writer.key(key).begin_object().member("group", "").member("version", "v1").member(last, name);
    writer.end_object();
  };
  writer.begin_object()
      .member("kind", "AdmissionReview")
      .member("apiVersion", "admission.k8s.io/v1")
      .key("request")
      .begin_object()
      .member("uid", uid);
  version_of("kind", "kind", "Pod");
  version_of("resource", "resource", "pods");
  writer.member("namespace", namespace_)
      .member("operation", "CREATE")
      .key("userInfo")
      .begin_object()
      .member("username", "system:serviceaccount:kube-system:job-controller")
      .end_object()
      .key("object")
      .raw(pod_json)
      .key("oldObject")
      .null()
      .member("dryRun", false)
      .end_object()
      .end_object();
  return out;
}

Result<ReviewVerdict> read_review_verdict(std::string_view text) {
  const auto value = parse(text);
  if (!value) return value.error();
  const json::value& response = member(*value, "response");
  const json::value& allowed = member(response, "allowed");
  if (!allowed.is_bool()) return Error::invalid("must be a boolean").at_field("response.allowed");
  return ReviewVerdict{text_of(member(response, "uid")), allowed.get_bool(),
                       text_of(member(member(response, "status"), "message")),
                       texts_of(member(response, "warnings"))};
}

}  // namespace rankward::formats
