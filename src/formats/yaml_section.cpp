#include "yaml_section.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace rankward::formats {
namespace {

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

}  // namespace

void YamlReader::fail(const YAML::Node& node, std::string field, std::string message) {
  if (error_) return;
  Error error = Error::invalid(std::move(message)).at_field(std::move(field)).in(source_);
  const YAML::Mark mark = node.Mark();
  if (!mark.is_null()) {
    // Changes in place and moves nothing away.
    static_cast<void>(std::move(error).at_line(static_cast<std::size_t>(mark.line) + 1));
  }
  error_ = std::move(error);  // NOLINT(bugprone-use-after-move)
}

YamlSection::YamlSection(YamlReader& reader, const YAML::Node& node, std::string path,
                         const std::vector<std::string_view>& keys)
    : reader_(reader), node_(node), path_(std::move(path)) {
  if (!node_.IsMap()) {
    reader_.fail(node_, path_, "must be a mapping with the keys " + joined(keys));
    return;
  }
  std::set<std::string> seen;
  for (const auto& item : node_) {
    const std::string key = item.first.IsScalar() ? item.first.Scalar() : std::string("?");
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      reader_.fail(item.first, path_of(key), "is not a known key; known here: " + joined(keys));
      return;
    }
    if (!seen.insert(key).second) {
      reader_.fail(item.first, path_of(key), "stands twice");
      return;
    }
  }
}

YAML::Node YamlSection::at(std::string_view key) const {
  if (!node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  const YAML::Node found = std::as_const(node_)[std::string(key)];
  if (!found.IsDefined() || found.IsNull()) return YAML::Node(YAML::NodeType::Undefined);
  return found;
}

std::string YamlSection::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

std::optional<std::string> YamlSection::scalar(std::string_view key, std::string_view form) {
  const YAML::Node value = at(key);
  if (!value.IsDefined() || reader_.failed()) return std::nullopt;
  if (!value.IsScalar()) {
    reader_.fail(value, path_of(key), "must be " + std::string(form));
    return std::nullopt;
  }
  return value.Scalar();
}

void YamlSection::read(std::string_view key, std::string& out) {
  if (auto text = scalar(key, "a string")) out = std::move(*text);
}

void YamlSection::read(std::string_view key, bool& out) {
  const auto text = scalar(key, "true or false");
  if (!text) return;
  if (*text != "true" && *text != "false") {
    return reader_.fail(at(key), path_of(key), "must be true or false, not \"" + *text + "\"");
  }
  out = *text == "true";
}

void YamlSection::read(std::string_view key, std::vector<std::string>& out) {
  const YAML::Node list = at(key);
  if (!list.IsDefined() || reader_.failed()) return;
  if (!list.IsSequence()) return reader_.fail(list, path_of(key), "must be a list of strings");
  out.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].IsScalar()) {
      return reader_.fail(list[i], path_of(key) + "[" + std::to_string(i) + "]",
                          "must be a string");
    }
    out.push_back(list[i].Scalar());
  }
}

void YamlSection::read_integer(std::string_view key, std::int64_t least, std::int64_t most,
                               std::int64_t& out) {
  const std::string form =
      "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  const auto text = scalar(key, form);
  if (!text) return;
  std::int64_t value = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc() || end != last || value < least || value > most) {
    return reader_.fail(at(key), path_of(key), "must be " + form + ", not \"" + *text + "\"");
  }
  out = value;
}

void YamlSection::read_choice(std::string_view key, const std::vector<std::string_view>& names,
                              std::size_t& out) {
  const auto text = scalar(key, "one of " + joined(names));
  if (!text) return;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found == names.end()) {
    return reader_.fail(at(key), path_of(key),
                        "must be one of " + joined(names) + ", not \"" + *text + "\"");
  }
  out = static_cast<std::size_t>(found - names.begin());
}

void YamlSection::section(std::string_view key, const std::vector<std::string_view>& keys,
                          const std::function<void(YamlSection&)>& read) {
  const YAML::Node value = at(key);
  if (!value.IsDefined() || reader_.failed()) return;
  YamlSection inner(reader_, value, path_of(key), keys);
  if (!reader_.failed()) read(inner);
}

void YamlSection::sections(std::string_view key, const std::vector<std::string_view>& keys,
                           const std::function<void(YamlSection&)>& read) {
  const YAML::Node list = at(key);
  if (!list.IsDefined() || reader_.failed()) return;
  if (!list.IsSequence()) return reader_.fail(list, path_of(key), "must be a list");
  for (std::size_t i = 0; i < list.size() && !reader_.failed(); ++i) {
    YamlSection inner(reader_, list[i], path_of(key) + "[" + std::to_string(i) + "]", keys);
    if (!reader_.failed()) read(inner);
  }
}

void YamlSection::read_map(
    std::string_view key,
    const std::function<void(const std::string&, const YAML::Node&, const std::string&)>& read) {
  const YAML::Node map = at(key);
  if (!map.IsDefined() || reader_.failed()) return;
  if (!map.IsMap()) return reader_.fail(map, path_of(key), "must be a mapping");
  for (const auto& item : map) {
    const std::string name = item.first.Scalar();
    const std::string path = path_of(key) + "[\"" + name + "\"]";
    read(name, item.second, path);
    if (reader_.failed()) return;
  }
}

}  // namespace rankward::formats
