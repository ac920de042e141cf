#include "list_splitter.hpp"

namespace rankward::cluster {
namespace {

constexpr std::string_view kItems = "items";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

bool ListSplitter::take_string(char c) {
  if (!in_string_) {
    in_string_ = c == '"';
    if (in_string_ && depth_ == kListDepth) last_string_.clear();
    return in_string_;
  }
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    return true;
  }
  if (depth_ == kListDepth && last_string_.size() <= kItems.size()) last_string_ += c;
  return true;
}

bool ListSplitter::keep(std::string& into, std::string_view part) const {
  if (part.size() > max_item_bytes_ || into.size() > max_item_bytes_ - part.size()) return false;
  into.append(part);
  return true;
}

bool ListSplitter::feed(std::string_view piece,
                        const std::function<void(std::string_view)>& on_item) {
  std::size_t start = 0;  // of what belongs to the current item, or to the rest
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const char c = piece[i];
    const bool between_items = in_items_ && depth_ == kArrayDepth;
    const bool text = take_string(c);
    if (between_items && (text || (c != '{' && c != ']'))) {
      // No object: for the reader of the rest to refuse.
      if ((text || (c != ',' && !is_blank(c))) && !keep(rest_, piece.substr(i, 1))) return false;
      continue;
    }
    if (text) continue;
    if (between_items) start = i;
    if (c == '{' || c == '[') {
      const bool opens = c == '[' && depth_ == kListDepth && last_string_ == kItems;
      ++depth_;
      if (!opens) continue;
      if (!keep(rest_, piece.substr(start, i + 1 - start))) return false;
      in_items_ = true;
    } else if (c == '}' || c == ']') {
      if (depth_ > 0) --depth_;
      if (!in_items_) continue;
      if (depth_ < kArrayDepth) {
        in_items_ = false;
      } else if (depth_ == kArrayDepth) {
        const std::string_view part = piece.substr(start, i + 1 - start);
        if (item_.empty() && part.size() <= max_item_bytes_) {
          on_item(part);  // whole in one piece: not copied
          continue;
        }
        if (!keep(item_, part)) return false;
        on_item(item_);
        item_.clear();
      }
    }
  }
  if (!in_items_) return keep(rest_, piece.substr(start));
  return depth_ == kArrayDepth || keep(item_, piece.substr(start));
}

}  // namespace rankward::cluster
