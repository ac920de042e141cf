// Which template each object of `helm template` comes from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankward::commands {

// Helm writes `# Source: chart/templates/web.yaml` above every object that it renders.
class HelmTemplates {
 public:
  explicit HelmTemplates(std::string_view text);

  // "chart/templates/web.yaml" for the object that begins at that line; "" where no comment says.
  [[nodiscard]] std::string_view at(std::size_t line) const;

 private:
  struct Mark {
    std::size_t line;  // from here on
    std::string name;  // "" after a `---`
  };
  std::vector<Mark> marks_;
};

}  // namespace rankward::commands
