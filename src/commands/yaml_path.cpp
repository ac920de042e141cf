#include "yaml_path.hpp"

#include <algorithm>

#include "rankward/formats/json_writer.hpp"

namespace rankward::commands {
namespace {

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./").find(c) != std::string_view::npos;
}

// Words that YAML 1.1 takes for something else than a string.
bool is_reserved(std::string_view text) {
  std::string lower;
  for (const char c : text)
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::string_view kWords[] = {"y",   "n",    "yes",   "no",   "on",
                                         "off", "true", "false", "null", "~"};
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

}  // namespace

std::vector<PathStep> split_path(std::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (path.front() == '.') path.remove_prefix(1);
    std::size_t end = 0;
    if (path.substr(0, 2) == "[\"") {
      end = path.find("\"]", 2);
      if (end == std::string_view::npos) break;
      steps.push_back({std::string(path.substr(2, end - 2)), false});
      end += 2;
    } else if (!path.empty() && path.front() == '[') {
      end = path.find(']');
      if (end == std::string_view::npos) break;
      steps.push_back({std::string(path.substr(1, end - 1)), true});
      ++end;
    } else {
      end = std::min(path.find_first_of(".["), path.size());
      if (end == 0) break;
      steps.push_back({std::string(path.substr(0, end)), false});
    }
    path.remove_prefix(end);
  }
  return steps;
}

void YamlPath::enter(std::string_view key) {
  line(yaml_string(key) + ":");
  indent_ += 2;
}

void YamlPath::enter_entry(std::string_view name, std::string_view list,
                           std::string_view position) {
  if (name.empty()) {
    line("- # " + std::string(list) + "[" + std::string(position) + "]");
  } else {
    line("- name: " + yaml_string(name));
  }
  indent_ += 2;
}

void YamlPath::line(std::string_view text) {
  text_.append(indent_, ' ').append(text).append("\n");
}

std::string yaml_string(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), is_plain_character) &&
                     ((text.front() >= 'a' && text.front() <= 'z') ||
                      (text.front() >= 'A' && text.front() <= 'Z') || text.front() == '/') &&
                     !is_reserved(text);
  if (plain) return std::string(text);
  std::string quoted;
  formats::append_json_string(quoted, text);
  return quoted;
}

}  // namespace rankward::commands
