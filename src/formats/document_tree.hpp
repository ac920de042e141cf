// Manifests between their text and the JSON that is made of them: one tree for YAML and JSON, with
// the line of every value.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::formats {

struct TreeNode;

struct TreeChild {
  std::string key;  // "" in a sequence
  const TreeNode* node = nullptr;
  bool merged = false;  // came by `<<`: a key of the mapping itself may replace it
};

struct TreeNode {
  enum class Kind : std::uint8_t {
    kLiteral,  // `text` is JSON: null, true, 8
    kString,
    kSequence,
    kMapping,
  };
  Kind kind = Kind::kLiteral;
  bool complete = true;  // false while its end has not been read: an alias to it would be a circle
  std::uint32_t line = 0;
  std::string text;
  std::vector<TreeChild> children;

  [[nodiscard]] bool is_null() const { return kind == Kind::kLiteral && text == "null"; }
  [[nodiscard]] const TreeNode* find(std::string_view key) const;
  // The text of a string under `key`, else "".
  [[nodiscard]] std::string_view string_at(std::string_view key) const;
};

// The documents of one file. Nodes stay where they are; an alias is a second pointer to one.
struct DocumentTree {
  std::deque<TreeNode> nodes;
  std::vector<const TreeNode*> documents;

  // nullptr where the file has more values than kMaxDocumentValues.
  TreeNode* add(TreeNode::Kind kind, std::size_t line);
};

Error too_many_values();

// Errors carry the line.
Result<void> read_yaml(std::string_view text, DocumentTree& tree);
Result<void> read_json(std::string_view text, DocumentTree& tree);

// A plain scalar as sigs.k8s.io/yaml (go-yaml v2) understands it: the JSON literal, or nothing
// where it is a string. Infinity and NaN have no JSON and are an error.
struct PlainScalar {
  enum class Kind : std::uint8_t { kString, kNull, kBoolean, kNumber, kNotANumber };
  Kind kind = Kind::kString;
  std::string json;  // empty for kString and kNotANumber
};
[[nodiscard]] PlainScalar resolve_plain_scalar(std::string_view text);

}  // namespace rankward::formats
