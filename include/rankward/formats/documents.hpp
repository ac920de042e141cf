// Manifest files, YAML or JSON, as kubectl reads them, with the line of every field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::formats {

// Bytes of one file. Over it: kTooLarge.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20;
// Values of one file after its aliases are written out, so that a few lines of YAML cannot ask for
// gigabytes. A list of 5,000 Nodes has about a million.
inline constexpr std::size_t kMaxDocumentValues = std::size_t{2} << 20;

// Where the fields of a document stand in their file.
class LineIndex {
 public:
  // The line, counted from 1, of the deepest part of `field_path` that the document has, such as
  // `spec.containers[0].env[1].value` or `metadata.labels["a/b"]`; nothing where it does not have
  // even the first part.
  [[nodiscard]] std::optional<std::size_t> line_of(std::string_view field_path) const;

  // Adds a field under an earlier one (`kRoot`: the document itself) and returns its number.
  // `key` is a map key, or the position in a sequence as decimal digits.
  static constexpr std::uint32_t kRoot = 0;
  std::uint32_t add(std::uint32_t parent, std::string_view key, std::size_t line);

 private:
  struct Entry {
    std::string key;
    std::uint32_t line = 0;
    std::uint32_t first_child = 0;  // 0: none
    std::uint32_t last_child = 0;
    std::uint32_t next = 0;  // 0: the last of its parent
  };
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::string_view key) const;

  std::vector<Entry> entries_{1};
};

struct Document {
  std::string api_version;
  std::string kind;
  std::string name;        // metadata.name, else metadata.generateName
  std::string namespace_;  // metadata.namespace, "" where absent
  std::size_t line = 1;    // where the document starts in its file
  std::string json;        // the document as JSON
  LineIndex lines;

  [[nodiscard]] std::optional<std::size_t> line_of(std::string_view field_path) const {
    return lines.line_of(field_path);
  }
};

// Every object of a file: YAML documents or JSON values one after the other, `*List` kinds replaced
// by their items, empty documents passed over. Plain scalars are resolved as sigs.k8s.io/yaml does
// (go-yaml v2, YAML 1.1): yes, no, on, off, y and n are booleans, 010 is eight, quoted is a string;
// `<<` merges. A key that stands twice in a mapping is an error, though kubectl takes the last: a
// checker must not guess which one the cluster will see. Errors carry `source_name` and the line; a
// Helm template that was not rendered is one of them.
[[nodiscard]] Result<std::vector<Document>> read_documents(std::string_view text,
                                                           std::string_view source_name);

}  // namespace rankward::formats
