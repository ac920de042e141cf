#include "rankward/formats/documents.hpp"

#include "document_tree.hpp"
#include "json_text.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::formats {

const TreeNode* TreeNode::find(std::string_view key) const {
  if (kind != Kind::kMapping) return nullptr;
  for (const TreeChild& child : children) {
    if (child.key == key) return child.node;
  }
  return nullptr;
}

std::string_view TreeNode::string_at(std::string_view key) const {
  const TreeNode* node = find(key);
  return node != nullptr && node->kind == Kind::kString ? std::string_view(node->text) : "";
}

TreeNode* DocumentTree::add(TreeNode::Kind kind, std::size_t line) {
  if (nodes.size() == kMaxDocumentValues) return nullptr;
  TreeNode& node = nodes.emplace_back();
  node.kind = kind;
  node.line = static_cast<std::uint32_t>(line);
  return &node;
}

Error too_many_values() {
  return {ErrorKind::kTooLarge, "must not hold more than " + std::to_string(kMaxDocumentValues) +
                                    " values, aliases written out"};
}

namespace {

// Writes trees out as JSON, with the line of each value. What all documents of a file write out
// together is bounded, since aliases multiply.
class DocumentWriter {
 public:
  Result<void> write(const TreeNode& root, Document& out) {
    JsonWriter writer(out.json);
    return value(root, LineIndex::kRoot, 0, writer, out.lines);
  }

 private:
  Result<void> value(const TreeNode& node, std::uint32_t place, std::size_t depth,
                     JsonWriter& writer, LineIndex& lines) {
    written_ += 1 + node.text.size() / kBytesOfOneValue;
    if (written_ > kMaxDocumentValues) return too_many_values().at_line(node.line);
    if (node.kind == TreeNode::Kind::kLiteral) {
      writer.raw(node.text);
      return {};
    }
    if (node.kind == TreeNode::Kind::kString) {
      writer.value(node.text);
      return {};
    }
    if (depth == kMaxJsonDepth) {
      return Error::invalid("must not be nested deeper than 64 levels").at_line(node.line);
    }
    const bool mapping = node.kind == TreeNode::Kind::kMapping;
    mapping ? writer.begin_object() : writer.begin_array();
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const TreeChild& child = node.children[i];
      if (mapping) writer.key(child.key);
      const std::uint32_t below =
          lines.add(place, mapping ? child.key : std::to_string(i), child.node->line);
      if (auto done = value(*child.node, below, depth + 1, writer, lines); !done) return done;
    }
    mapping ? writer.end_object() : writer.end_array();
    return {};
  }

  // A long text counts as more than one value.
  static constexpr std::size_t kBytesOfOneValue = 64;

  std::size_t written_ = 0;
};

// `List`, `PodList`: its items are the objects.
const TreeNode* items_of(const TreeNode& root) {
  constexpr std::string_view kSuffix = "List";
  const std::string_view kind = root.string_at("kind");
  if (kind.size() < kSuffix.size() || kind.substr(kind.size() - kSuffix.size()) != kSuffix) {
    return nullptr;
  }
  const TreeNode* items = root.find("items");
  const bool a_list =
      items != nullptr && (items->kind == TreeNode::Kind::kSequence || items->is_null());
  return a_list ? items : nullptr;
}

class DocumentReader {
 public:
  Result<std::vector<Document>> read(const DocumentTree& tree) {
    for (const TreeNode* root : tree.documents) {
      if (root->is_null()) continue;
      if (auto done = add(*root, {}, {}, 0); !done) return done.error();
    }
    return std::move(documents_);
  }

 private:
  // Kind and apiVersion stand in for what the items of a typed list leave out.
  Result<void> add(const TreeNode& root, std::string_view api_version, std::string_view kind,
                   std::size_t depth) {
    if (++visited_ > kMaxDocumentValues) return too_many_values().at_line(root.line);
    if (root.kind != TreeNode::Kind::kMapping) {
      return Error::invalid("must be an object: a mapping with apiVersion and kind")
          .at_line(root.line);
    }
    if (const TreeNode* items = items_of(root)) {
      if (depth == kMaxJsonDepth) {
        return Error::invalid("must not be nested deeper than 64 levels").at_line(root.line);
      }
      std::string_view item_kind = root.string_at("kind");
      item_kind.remove_suffix(4);
      for (const TreeChild& item : items->children) {
        auto done = add(*item.node, root.string_at("apiVersion"), item_kind, depth + 1);
        if (!done) return done;
      }
      return {};
    }
    Document document;
    document.api_version = first_of(root.string_at("apiVersion"), api_version);
    document.kind = first_of(root.string_at("kind"), kind);
    if (const TreeNode* metadata = root.find("metadata")) {
      document.name = first_of(metadata->string_at("name"), metadata->string_at("generateName"));
      document.namespace_ = metadata->string_at("namespace");
    }
    document.line = root.line;
    if (auto done = writer_.write(root, document); !done) return done;
    documents_.push_back(std::move(document));
    return {};
  }

  static std::string first_of(std::string_view a, std::string_view b) {
    return std::string(a.empty() ? b : a);
  }

  DocumentWriter writer_;
  std::size_t visited_ = 0;
  std::vector<Document> documents_;
};

std::optional<Error> not_utf8(std::string_view text) {
  std::size_t line = 1;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t plain = plain_prefix(rest);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const std::size_t length = utf8_sequence(rest);
    if (length == 0) {
      return Error::invalid("must be UTF-8").at_line(line).at_byte(text.size() - rest.size());
    }
    if (rest.front() == '\n') ++line;
    rest.remove_prefix(length);
  }
  return {};
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// YAML that begins with a brace is YAML all the same, as kubectl sees it.
Result<void> read_tree(std::string_view text, DocumentTree& tree) {
  if (!looks_like_json(text)) return read_yaml(text, tree);
  auto as_json = read_json(text, tree);
  if (as_json) return as_json;
  tree = {};
  return read_yaml(text, tree) ? Result<void>() : as_json;
}

Result<std::vector<Document>> read_all(std::string_view text) {
  if (text.size() > kMaxDocumentBytes) {
    return Error(ErrorKind::kTooLarge,
                 "must not be larger than " + std::to_string(kMaxDocumentBytes) + " bytes");
  }
  if (auto error = not_utf8(text)) return *std::move(error);
  DocumentTree tree;
  if (auto done = read_tree(text, tree); !done) return done.error();
  return DocumentReader().read(tree);
}

// Helm's and Go's templates are YAML only after they were rendered.
Error with_hint(const Error& error, std::string_view text) {
  if (text.find("{{") == std::string_view::npos) return error;
  Error hinted(error.kind(), error.message() +
                                 "; the file has {{ }} in it: a template must be rendered first, "
                                 "for example by helm template");
  // The at_ functions change in place and move nothing away.
  // NOLINTBEGIN(bugprone-use-after-move)
  if (error.line()) std::move(hinted).at_line(*error.line());
  if (error.offset()) std::move(hinted).at_byte(*error.offset());
  return std::move(hinted).at_field(error.field());
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace

Result<std::vector<Document>> read_documents(std::string_view text, std::string_view source_name) {
  auto documents = read_all(text);
  if (documents) return documents;
  return with_hint(documents.error(), text).in(std::string(source_name));
}

}  // namespace rankward::formats
