#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <set>
#include <streambuf>

#include "document_tree.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::formats {
namespace {

std::size_t line_of(const YAML::Mark& mark) {
  return mark.is_null() ? 1 : static_cast<std::size_t>(mark.line) + 1;
}

// Thrown through yaml-cpp to end its work; caught in read_yaml().
struct Refused {
  Error error;
};

[[noreturn]] void refuse(std::string message, std::size_t line) {
  throw Refused{Error::invalid(std::move(message)).at_line(line)};
}

// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(DocumentTree& tree) : tree_(tree) {}

  // yaml-cpp reports an empty document again and again at a token that cannot begin one.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos <= document_start_) refuse("is not YAML: nothing can begin here", line_of(mark));
    document_start_ = mark.pos;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    TreeNode* node = add(TreeNode::Kind::kLiteral, mark, anchor);
    node->text = "null";
    attach(node, line_of(mark), node->text);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) refuse("is an alias to nothing", line_of(mark));
    if (!target->second->complete) refuse("is an alias to what it stands in", line_of(mark));
    attach(target->second, line_of(mark), {});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    TreeNode* node = add(TreeNode::Kind::kString, mark, anchor);
    resolve(*node, tag, value);
    const bool merge = tag == "?" && value == "<<" && wants_key();
    if (merge) {
      frames_.back().merging = true;
      frames_.back().has_key = true;
      return;
    }
    attach(node, line_of(mark), node->text);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(TreeNode::Kind::kSequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(TreeNode::Kind::kMapping, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A sequence or mapping whose end has not come.
  struct Frame {
    TreeNode* node;
    bool has_key = false;  // of a mapping: the next value belongs to `key`, or is to be merged
    bool merging = false;
    bool merged = false;
    std::string key;
    std::map<std::string, std::size_t, std::less<>> places;  // of a mapping's keys
  };

  TreeNode* add(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    TreeNode* node = tree_.add(kind, line_of(mark));
    if (node == nullptr) throw Refused{too_many_values().at_line(line_of(mark))};
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    return node;
  }

  [[nodiscard]] bool wants_key() const {
    return !frames_.empty() && frames_.back().node->kind == TreeNode::Kind::kMapping &&
           !frames_.back().has_key;
  }

  void open(TreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (wants_key()) {
      refuse("must have plain keys: a mapping or a sequence cannot be one", line_of(mark));
    }
    if (frames_.size() == kMaxJsonDepth) {
      refuse("must not be nested deeper than 64 levels", line_of(mark));
    }
    TreeNode* node = add(kind, mark, anchor);
    node->complete = false;
    frames_.push_back(Frame{.node = node});
  }

  void close() {
    TreeNode* node = frames_.back().node;
    node->complete = true;
    frames_.pop_back();
    attach(node, node->line, {});
  }

  // Gives a finished value its place: a key, a value under a key, an item, or a document.
  void attach(const TreeNode* node, std::size_t line, std::string_view key_text) {
    if (frames_.empty()) {
      tree_.documents.push_back(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node->kind == TreeNode::Kind::kSequence) {
      frame.node->children.push_back({{}, node});
    } else if (!frame.has_key) {
      if (node->kind != TreeNode::Kind::kString && node->kind != TreeNode::Kind::kLiteral) {
        refuse("must have plain keys: a mapping or a sequence cannot be one", line);
      }
      if (node->is_null()) refuse("must have a key that is not null", line);
      frame.key = key_text.empty() ? node->text : std::string(key_text);
      frame.has_key = true;
    } else if (frame.merging) {
      frame.has_key = false;
      merge(frame, *node, line);
      frame.merging = false;
    } else {
      frame.has_key = false;
      put(frame, node, line);
    }
  }

  void put(Frame& frame, const TreeNode* node, std::size_t line) {
    std::vector<TreeChild>& children = frame.node->children;
    const auto [place, fresh] = frame.places.try_emplace(frame.key, children.size());
    if (fresh) {
      children.push_back({std::move(frame.key), node});
      return;
    }
    TreeChild& earlier = children[place->second];
    if (!earlier.merged) refuse("must not have the key \"" + frame.key + "\" twice", line);
    earlier.node = node;
    earlier.merged = false;
  }

  // YAML lets a mapping's own key win wherever `<<` stands, go-yaml v2 lets the later one win.
  void merge(Frame& frame, const TreeNode& from, std::size_t line) {
    if (frame.merged) refuse("must not have the key \"<<\" twice", line);
    frame.merged = true;
    if (from.kind == TreeNode::Kind::kSequence) {
      for (const TreeChild& child : from.children)
        merge_mapping(frame, *child.node, line);
    } else {
      merge_mapping(frame, from, line);
    }
  }

  void merge_mapping(Frame& frame, const TreeNode& from, std::size_t line) {
    if (from.kind != TreeNode::Kind::kMapping) {
      refuse("must give \"<<\" a mapping or a sequence of mappings", line);
    }
    std::vector<TreeChild>& children = frame.node->children;
    for (const TreeChild& child : from.children) {
      const auto [place, fresh] = frame.places.try_emplace(child.key, children.size());
      if (fresh) {
        children.push_back({child.key, child.node, true});
        count_merged(line);
      } else if (!children[place->second].merged) {
        refuse("must have \"<<\" before the key \"" + child.key + "\", which replaces a merged one",
               line);
      }
    }
  }

  void count_merged(std::size_t line) {
    if (++merged_ > kMaxMerged) throw Refused{too_many_values().at_line(line)};
  }

  static void resolve(TreeNode& node, const std::string& tag, const std::string& value) {
    const bool text = tag == "!" || tag == "tag:yaml.org,2002:str" ||
                      (tag != "?" && tag.rfind("tag:yaml.org,2002:", 0) != 0);
    if (tag == "tag:yaml.org,2002:binary") {
      refuse("must be written as text: !!binary is not read", node.line);
    }
    if (text) {
      node.text = value;
      return;
    }
    PlainScalar scalar = value.empty() ? PlainScalar{} : resolve_plain_scalar(value);
    switch (scalar.kind) {
      case PlainScalar::Kind::kString:
        node.text = value;
        break;
      case PlainScalar::Kind::kNotANumber:
        refuse("must be finite: JSON has no infinity and no NaN", node.line);
      default:
        node.kind = TreeNode::Kind::kLiteral;
        node.text = std::move(scalar.json);
    }
  }

  static constexpr std::size_t kMaxMerged = 100'000;

  DocumentTree& tree_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, const TreeNode*> anchors_;
  std::size_t merged_ = 0;
  int document_start_ = -1;
};

// An istream over a text that is not copied.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    // streambuf wants char*, and never writes in the get area unless asked to put back.
    char* start = const_cast<char*>(text.data());
    setg(start, start, start + text.size());
  }
};

}  // namespace

Result<void> read_yaml(std::string_view text, DocumentTree& tree) {
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder builder(tree);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& exception) {
    return Error::invalid("is not YAML: " + exception.msg).at_line(line_of(exception.mark));
  } catch (const std::exception& exception) {
    return Error::invalid(std::string("is not YAML: ") + exception.what());
  }
  return {};
}

}  // namespace rankward::formats
