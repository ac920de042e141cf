#include <algorithm>
#include <set>

#include "document_tree.hpp"
#include "json_cursor.hpp"

namespace rankward::formats {
namespace {

// Builds the tree of JSON values that stand one after the other.
class JsonTreeReader {
 public:
  JsonTreeReader(std::string_view text, DocumentTree& tree)
      : text_(text), cursor_(text), tree_(tree) {}

  Result<void> read() {
    while (cursor_.offset() < text_.size()) {
      const TreeNode* node = nullptr;
      if (!value(node)) {
        const Error error = cursor_.take_error();
        return Error(error).at_line(line_at(error.offset().value_or(0)));
      }
      tree_.documents.push_back(node);
    }
    return {};
  }

 private:
  bool value(const TreeNode*& out) {
    const char first = cursor_.peek();
    const std::size_t line = line_at(cursor_.offset());
    TreeNode* node = tree_.add(TreeNode::Kind::kLiteral, line);
    if (node == nullptr) return cursor_.fail(too_many_values().at_byte(cursor_.offset()));
    out = node;
    switch (first) {
      case '{':
        return mapping(*node);
      case '[':
        node->kind = TreeNode::Kind::kSequence;
        return cursor_.items([&](std::size_t) {
          const TreeNode* item = nullptr;
          const bool good = value(item);
          node->children.push_back({{}, item});
          return good;
        });
      case '"':
        node->kind = TreeNode::Kind::kString;
        return formats::read(cursor_, node->text);
      default:
        break;
    }
    std::string_view literal;
    if (cursor_.null()) {
      literal = "null";
    } else if (!cursor_.raw(literal)) {
      return false;
    }
    node->text = literal;
    return true;
  }

  bool mapping(TreeNode& node) {
    node.kind = TreeNode::Kind::kMapping;
    std::set<std::string, std::less<>> keys;
    return cursor_.members([&](std::string_view key) {
      if (!keys.emplace(key).second) {
        return cursor_.fail("must not be given twice", cursor_.offset());
      }
      const TreeNode* child = nullptr;
      std::string its_key(key);
      if (!value(child)) return false;
      node.children.push_back({std::move(its_key), child});
      return true;
    });
  }

  // Offsets mostly grow: lines are counted on from the last one.
  std::size_t line_at(std::size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      line_ = 1;
    }
    const auto* text = text_.data();
    line_ += static_cast<std::size_t>(std::count(text + counted_, text + offset, '\n'));
    counted_ = offset;
    return line_;
  }

  std::string_view text_;
  Cursor cursor_;
  DocumentTree& tree_;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<void> read_json(std::string_view text, DocumentTree& tree) {
  return JsonTreeReader(text, tree).read();
}

}  // namespace rankward::formats
