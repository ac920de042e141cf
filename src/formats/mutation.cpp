#include "rankward/formats/mutation.hpp"

#include "rankward/formats/base64.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {
namespace {

std::string env_pointer(const admission::VoidAddition& addition) {
  std::string out = "/spec/";
  append_pointer_token(out, addition.list);
  return out + "/" + std::to_string(addition.index) + "/env";
}

void append_variable(JsonWriter& json) {
  json.begin_object();
  json.member("name", admission::kVoidVariable).member("value", admission::kVoidValue);
  json.end_object();
}

}  // namespace

void append_pointer_token(std::string& out, std::string_view token) {
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
}

std::string void_patch(std::span<const admission::VoidAddition> additions) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  for (const admission::VoidAddition& addition : additions) {
    const std::string env = env_pointer(addition);
    json.begin_object().member("op", "add");
    if (addition.first_in_env) {
      json.member("path", env).key("value").begin_array();
      append_variable(json);
      json.end_array();
    } else {
      json.member("path", env + "/-").key("value");
      append_variable(json);
    }
    json.end_object();
  }
  json.end_array();
  return out;
}

void write_mutation_response(std::string_view uid, std::string_view json_patch, std::string& out) {
  JsonWriter json(out);
  json.begin_object().member("apiVersion", "admission.k8s.io/v1");
  json.member("kind", "AdmissionReview").key("response").begin_object();
  json.member("uid", uid).member("allowed", true);
  if (!json_patch.empty()) {
    json.member("patchType", "JSONPatch").member("patch", base64_encode(json_patch));
  }
  json.end_object().end_object();
}

}  // namespace rankward::formats
