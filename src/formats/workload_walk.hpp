// The walk through one object to its pod templates, in one pass over its text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "object_fields.hpp"
#include "rankward/formats/workload.hpp"

namespace rankward::formats {

// The rows of the table for one kind, whatever its version.
[[nodiscard]] std::vector<const WorkloadKind*> rows_of(std::string_view api_version,
                                                       std::string_view kind);

// Whether the API server itself defines the group's kinds. Those of them that make pods are in the
// table, so nothing is searched for in the others.
[[nodiscard]] bool is_builtin_group(std::string_view api_version);

// Where a part of an object stands, as findings name it.
class FieldPath {
 public:
  explicit FieldPath(std::string start) : text_(std::move(start)) {}
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string below(std::string_view key) const;

  // Leads to a member or an item as long as it lives.
  class Step {
   public:
    Step(FieldPath& path, std::string_view key);
    Step(FieldPath& path, std::size_t index);
    ~Step() { path_.text_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    FieldPath& path_;
    std::size_t size_;
  };

 private:
  std::string text_;
};

// The templates found so far.
class TemplateSink {
 public:
  explicit TemplateSink(std::vector<TemplateAt>& out) : out_(out) {}
  // nullptr, and the cursor has failed, where there are too many.
  TemplateAt* add(Cursor& cursor, std::string path);
  [[nodiscard]] std::size_t size() const { return out_.size(); }
  [[nodiscard]] TemplateAt& operator[](std::size_t i) { return out_[i]; }

 private:
  std::vector<TemplateAt>& out_;
};

// Reads a part of a cursor's text once more; `text` starts at `at`.
template <class Read>
bool read_again(Cursor& cursor, std::size_t at, std::string_view text, Read&& read) {
  Cursor inner(text, cursor.unreadable_amounts());
  if (read(inner) && inner.end()) return true;
  Error error = inner.take_error();
  const std::size_t offset = error.offset().value_or(0);
  return cursor.fail(std::move(error).at_byte(at + offset));
}

// How the shapes are read that are more than a template; `path` is where the value stands.
bool read_pod_spec(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_patch(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_spec_patch(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_lone_container(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_trainer(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_serving(Cursor& cursor, const FieldPath& path, TemplateSink& out);
bool read_workflow(Cursor& cursor, FieldPath& path, TemplateSink& out);
bool read_spark(Cursor& cursor, FieldPath& path, TemplateSink& out);

// Whether the text is a list of containers: objects, one of which at least has a name or an image.
// The property `containers` of a CRD's schema is an object, a list of names has no objects.
[[nodiscard]] bool is_container_list(std::string_view json);
// Adds a pod spec that was found in an object of no known shape, with its metadata's text where it
// has some. What does not read as one is none, and nobody makes pods of it: Go's reader of the same
// types refuses it too.
bool add_found(Cursor& cursor, std::string_view spec, std::string_view metadata, TemplateAt found,
               TemplateSink& out);

class TemplateWalk {
 public:
  TemplateWalk(std::string_view api_version, std::string_view kind, FieldPath& path,
               TemplateSink& out);
  // The object itself, with its own metadata.
  bool walk(Cursor& cursor, kube::ObjectMeta& metadata);

 private:
  using Rows = std::vector<const WorkloadKind*>;
  struct Note;

  bool value(Cursor& cursor, const Rows& rows, std::size_t at, std::string_view& pod_spec);
  bool object(Cursor& cursor, const Rows& rows, std::size_t at, std::string_view& pod_spec);
  bool items(Cursor& cursor, const Rows& rows, std::size_t at);
  bool map(Cursor& cursor, const Rows& rows, std::size_t at);
  bool leaf(Cursor& cursor, const WorkloadKind& row);
  bool leaf_and_rest(Cursor& cursor, const Rows& rows, std::size_t at, std::string_view& pod_spec);
  bool embedded(Cursor& cursor);
  bool take_note(Cursor& cursor, const Rows& rows, std::size_t at, std::string_view key,
                 std::vector<Note>& notes);
  void apply(const std::vector<Note>& notes, std::size_t first);
  bool add_bare(Cursor& cursor, std::string_view pod_spec);

  FieldPath& path_;
  TemplateSink& out_;
  Rows rows_;
  bool searches_;
  kube::ObjectMeta* metadata_ = nullptr;
  std::vector<const WorkloadKind*> row_of_;  // of each template, nullptr where it was searched for
};

// An object with its own metadata and its templates.
struct WalkedObject {
  kube::ObjectMeta metadata;
  std::vector<TemplateAt> templates;
};
[[nodiscard]] Result<WalkedObject> walk_object(std::string_view api_version, std::string_view kind,
                                               std::string_view json);

}  // namespace rankward::formats
