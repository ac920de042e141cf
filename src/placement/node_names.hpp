// Which node a name is. A call brings thousands of names and the caches are cold by then, so each
// costs what memory it touches: here one slot and the letters, or only the letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankward::placement {

class NodeNames {
 public:
  // Numbers names from 0 in the order of the calls; each may come once.
  void add(std::string_view name);
  // After the last name.
  void close();

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  // The same, faster where it is the one guessed.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name, std::uint32_t guess) const;

 private:
  struct Slot {
    std::uint32_t hash = 0;    // its upper half
    std::uint32_t number = 0;  // + 1; 0: empty
  };
  [[nodiscard]] std::string_view name(std::uint32_t number) const {
    return std::string_view(letters_).substr(ends_[number], ends_[number + 1] - ends_[number]);
  }

  std::string letters_;
  std::vector<std::uint32_t> ends_{0};
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
};

}  // namespace rankward::placement
