#include "rankward/formats/stored_configuration.hpp"

#include <yaml-cpp/yaml.h>

#include "object_fields.hpp"
#include "rankward/formats/base64.hpp"

namespace rankward::formats {
namespace {

constexpr std::string_view kKind = "RankwardConfiguration";

// What a server that is given this text would take it for. Escapes in the YAML do not hide the
// kind; a text that is no YAML counts where it names it.
bool is_configuration(const std::string& text) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return false;
    const YAML::Node kind = root["kind"];
    return kind.IsDefined() && kind.IsScalar() && kind.Scalar() == kKind;
  } catch (const YAML::Exception&) {
    return text.find(kKind) != std::string::npos;
  }
}

std::string element(std::string_view map, const std::string& key) {
  return std::string(map) + "[\"" + key + "\"]";
}

void add(std::string field_name, const std::string& text, std::vector<StoredConfiguration>& out) {
  if (!is_configuration(text)) return;
  auto configuration = read_configuration(text, field_name);
  out.push_back({std::move(field_name), std::move(configuration)});
}

}  // namespace

Result<std::vector<StoredConfiguration>> read_stored_configurations(
    std::string_view config_map_json) {
  Cursor cursor(config_map_json);
  kube::StringMap data;
  kube::StringMap binary;
  if (!cursor.document(field("data", data), field("binaryData", binary)))
    return cursor.take_error();
  std::vector<StoredConfiguration> out;
  for (const auto& [key, text] : data)
    add(element("data", key), text, out);
  for (const auto& [key, encoded] : binary) {
    if (const auto text = base64_decode(encoded)) add(element("binaryData", key), *text, out);
  }
  return out;
}

}  // namespace rankward::formats
