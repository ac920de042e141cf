// A field path written out as the YAML that leads to the field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankward::commands {

// One step of a path such as `spec.containers[0].env[1]` or `metadata.annotations["a/b"]`.
struct PathStep {
  std::string key;  // of a mapping; the position in a sequence as digits where `index` is set
  bool index = false;
};

[[nodiscard]] std::vector<PathStep> split_path(std::string_view path);

// The lines of a YAML document that is begun at the root and goes down one path.
class YamlPath {
 public:
  // `key:`, and what follows stands below it.
  void enter(std::string_view key);
  // An entry of a sequence: `- name: NAME`, or a comment with its position where it has no name.
  void enter_entry(std::string_view name, std::string_view list, std::string_view position);
  // A whole line at the current depth.
  void line(std::string_view text);
  // Back to the depth at which it stood.
  [[nodiscard]] std::size_t depth() const { return indent_; }
  void leave_to(std::size_t depth) { indent_ = depth; }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
  std::size_t indent_ = 0;
};

// A scalar that YAML reads back as this very string: plain where that is safe, else in quotes.
[[nodiscard]] std::string yaml_string(std::string_view text);

}  // namespace rankward::commands
