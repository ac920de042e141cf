#include "generate_yaml.hpp"

#include <algorithm>

#include "rankward/formats/json_writer.hpp"

namespace rankward::commands {
namespace {

constexpr std::size_t kWidth = 100;

bool is_plain(std::string_view text) {
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '/' || c == '_';
  };
  // A letter first, so that no number, date or `-` is meant; and none of YAML's own words.
  constexpr std::string_view kWords[] = {"true", "false", "null", "yes", "no",
                                         "on",   "off",   "y",    "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return !text.empty() &&
         ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z')) &&
         std::all_of(text.begin(), text.end(), harmless) &&
         std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords);
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (printable && text.find('"') != std::string_view::npos) {
    std::string quoted = "'";
    for (const char c : text)
      quoted.append(c == '\'' ? 2 : 1, c);
    return quoted + "'";
  }
  // A JSON string is one of YAML's.
  std::string out;
  formats::JsonWriter(out).value(text);
  return out;
}

std::string yaml_list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts)
    out.append(out.size() > 1 ? ", " : "").append(yaml_scalar(text));
  return out + "]";
}

std::string yaml_field(std::string_view first, std::string_view key, std::string_view text) {
  std::string out(first);
  out.append(key).append(":");
  if (text.find('\n') == std::string_view::npos)
    return out.append(" ").append(yaml_scalar(text)).append("\n");
  out += " |-\n";
  const std::string indent(first.size() + 2, ' ');
  while (true) {
    const std::size_t end = text.find('\n');
    out.append(indent).append(text.substr(0, end)).append("\n");
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string yaml_comment(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    std::size_t cut = text.find('\n');
    const std::size_t room = kWidth - 2 - indent.size();
    if (cut == std::string_view::npos) cut = text.size();
    if (cut > room) {
      cut = text.rfind(' ', room);
      if (cut == std::string_view::npos) cut = text.find(' ');
      if (cut == std::string_view::npos) cut = text.size();
    }
    out.append(indent).append(cut == 0 ? "#" : "# ").append(text.substr(0, cut)).append("\n");
    text.remove_prefix(std::min(text.size(), cut + 1));
  }
  return out;
}

}  // namespace rankward::commands
