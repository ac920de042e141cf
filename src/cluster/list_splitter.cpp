#include "list_splitter.hpp"

#include <algorithm>
#include <array>

namespace rankward::cluster {
namespace {

constexpr std::string_view kItems = "items";

// What decides where an item ends; the rest, nearly all of it, is run over.
constexpr std::array<bool, 256> kDecides = [] {
  std::array<bool, 256> decides{};
  for (const char c : std::string_view("\"\\{}[]"))
    decides[static_cast<unsigned char>(c)] = true;
  return decides;
}();

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

std::size_t ListSplitter::run_over_item(std::string_view piece, std::size_t at) {
  std::size_t depth = depth_;
  bool in_string = in_string_;
  if (escaped_ && at < piece.size()) {
    escaped_ = false;
    ++at;
  }
  while (at < piece.size() && depth > kArrayDepth) {
    const char c = piece[at++];
    if (!kDecides[static_cast<unsigned char>(c)]) continue;
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\' && at++ == piece.size()) escaped_ = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  depth_ = depth;
  in_string_ = in_string;
  return std::min(at, piece.size());
}

bool ListSplitter::end_item(std::string_view part,
                            const std::function<void(std::string_view)>& on_item) {
  if (item_.empty() && part.size() <= max_item_bytes_) {
    on_item(part);  // whole in one piece: not copied
    return true;
  }
  if (!keep(item_, part)) return false;
  on_item(item_);
  item_.clear();
  return true;
}

bool ListSplitter::feed(std::string_view piece,
                        const std::function<void(std::string_view)>& on_item) {
  std::size_t start = 0;  // of what belongs to the current item, or to the rest
  std::size_t at = 0;
  while (at < piece.size()) {
    if (in_items_ && depth_ > kArrayDepth) {
      at = run_over_item(piece, at);
      if (depth_ == kArrayDepth && !end_item(piece.substr(start, at - start), on_item)) {
        return false;
      }
      continue;
    }
    const char c = piece[at++];
    const bool between_items = in_items_ && depth_ == kArrayDepth;
    const bool text = take_string(c);
    if (between_items && (text || (c != '{' && c != ']'))) {
      // No object: for the reader of the rest to refuse.
      if ((text || (c != ',' && !is_blank(c))) && !keep(rest_, {&c, 1})) return false;
      continue;
    }
    if (text) continue;
    if (between_items) start = at - 1;
    if (c == '{' || c == '[') {
      const bool opens = c == '[' && depth_ == kListDepth && last_string_ == kItems;
      ++depth_;
      if (!opens) continue;
      if (!keep(rest_, piece.substr(start, at - start))) return false;
      in_items_ = true;
    } else if (c == '}' || c == ']') {
      if (depth_ > 0) --depth_;
      if (depth_ < kArrayDepth) in_items_ = false;
    }
  }
  if (!in_items_) return keep(rest_, piece.substr(start));
  return depth_ == kArrayDepth || keep(item_, piece.substr(start));
}

}  // namespace rankward::cluster
