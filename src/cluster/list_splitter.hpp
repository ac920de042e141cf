// Items out of a list that comes in pieces: the whole list, hundreds of megabytes, is never in
// memory at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace rankward::cluster {

// Takes the objects out of the array `items` of the outermost object. Finds where they begin and
// end, and validates nothing: each item and what is left of the list have readers of their own.
class ListSplitter {
 public:
  // Bounds one item, and what is left of the list.
  explicit ListSplitter(std::size_t max_item_bytes) : max_item_bytes_(max_item_bytes) {}

  // Calls `on_item` for each item that is complete, with a view that is valid during the call.
  // False: an item or the rest is too long, and the splitter is of no more use.
  [[nodiscard]] bool feed(std::string_view piece,
                          const std::function<void(std::string_view)>& on_item);
  // The list with `items` emptied of objects, once all of it has come.
  [[nodiscard]] const std::string& rest() const { return rest_; }

 private:
  static constexpr std::size_t kListDepth = 1;   // inside the outermost object
  static constexpr std::size_t kArrayDepth = 2;  // inside `items`

  // Whether the byte is part of a string, quotes included.
  bool take_string(char c);
  // From inside an item; returns where it ends, or the end of the piece.
  std::size_t run_over_item(std::string_view piece, std::size_t at);
  bool end_item(std::string_view part, const std::function<void(std::string_view)>& on_item);
  bool keep(std::string& into, std::string_view part) const;

  const std::size_t max_item_bytes_;
  std::size_t depth_ = 0;
  bool in_items_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string last_string_;  // at kListDepth: the last one there, as far as it matters
  std::string item_;         // what earlier pieces had of it
  std::string rest_;
};

}  // namespace rankward::cluster
