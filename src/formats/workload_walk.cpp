#include "workload_walk.hpp"

#include <algorithm>
#include <utility>

namespace rankward::formats {
namespace {

// More pods than any cluster holds; a larger number says nothing.
constexpr std::int64_t kMostPods = 1'000'000;

std::string joined(const std::string& path, std::string_view key) {
  const std::string segment = path_segment(key);
  return path.empty() || segment.front() == '[' ? path + segment : path + "." + segment;
}

// The name that comes behind `at` in the pattern of a path.
std::string_view next_name(std::string_view pattern, std::size_t at) {
  std::string_view rest = pattern.substr(at);
  if (rest.substr(0, 1) == ".") rest.remove_prefix(1);
  return rest.substr(0, rest.find_first_of(".[{"));
}

std::size_t behind_name(std::string_view pattern, std::size_t at) {
  const std::string_view name = next_name(pattern, at);
  return static_cast<std::size_t>(name.data() - pattern.data()) + name.size();
}

// Whether `pattern` names the member `key` of the object at `at` in `row`'s path.
bool names_member(std::string_view pattern, std::string_view path, std::size_t at,
                  std::string_view key) {
  return pattern.size() > at && pattern.substr(0, at) == path.substr(0, at) &&
         next_name(pattern, at) == key && behind_name(pattern, at) == pattern.size();
}

}  // namespace

std::string FieldPath::below(std::string_view key) const {
  return joined(text_, key);
}

FieldPath::Step::Step(FieldPath& path, std::string_view key)
    : path_(path), size_(path.text_.size()) {
  path_.text_ = joined(path_.text_, key);
}

FieldPath::Step::Step(FieldPath& path, std::size_t index) : path_(path), size_(path.text_.size()) {
  path_.text_ += "[" + std::to_string(index) + "]";
}

TemplateAt* TemplateSink::add(Cursor& cursor, std::string path) {
  if (out_.size() == kMaxTemplates) {
    cursor.fail(Error(ErrorKind::kTooLarge,
                      "must have at most " + std::to_string(kMaxTemplates) + " pod templates")
                    .at_byte(cursor.offset()));
    return nullptr;
  }
  TemplateAt& added = out_.emplace_back();
  added.path = std::move(path);
  return &added;
}

// What an object says of the templates below it.
struct TemplateWalk::Note {
  enum class Kind : std::uint8_t { kRole, kCount, kAtMost, kGroupSize };
  const WorkloadKind* row;
  Kind kind;
  std::string role{};
  std::int64_t number = 0;
};

TemplateWalk::TemplateWalk(std::string_view api_version, std::string_view kind, FieldPath& path,
                           TemplateSink& out)
    : path_(path),
      out_(out),
      rows_(rows_of(api_version, kind)),
      searches_(!is_builtin_group(api_version)) {
  row_of_.resize(out.size());
}

bool TemplateWalk::walk(Cursor& cursor, kube::ObjectMeta& metadata) {
  const std::size_t first = out_.size();
  // Such an object is a pod in all but its kind.
  if (!rows_.empty() && rows_.front()->template_path.empty()) {
    if (cursor.peek() != '{') return cursor.expected("an object");
    if (!leaf(cursor, *rows_.front())) return false;
    metadata = out_[first].pod_template.metadata;
    return true;
  }
  metadata_ = &metadata;
  if (cursor.peek() != '{') return cursor.expected("an object");
  std::string_view pod_spec;
  if (!object(cursor, rows_, 0, pod_spec)) return false;
  if (!pod_spec.empty() && !add_bare(cursor, pod_spec)) return false;
  // Only the object's own says that it is on its way out; in a template anybody can write it.
  for (std::size_t i = first; i < out_.size(); ++i)
    out_[i].pod_template.metadata.deleting = false;
  return true;
}

bool TemplateWalk::value(Cursor& cursor, const Rows& rows, std::size_t at,
                         std::string_view& pod_spec) {
  if (cursor.null()) return true;
  const char first = cursor.peek();
  if (rows.empty()) {
    if (first == '{') return object(cursor, rows, at, pod_spec);
    return first == '[' ? items(cursor, rows, at) : cursor.skip();
  }
  const auto ends = [&](const WorkloadKind* row) { return row->template_path.size() == at; };
  if (std::any_of(rows.begin(), rows.end(), ends)) {
    return rows.size() == 1 ? leaf(cursor, *rows.front())
                            : leaf_and_rest(cursor, rows, at, pod_spec);
  }
  const char next = rows.front()->template_path[at];
  const char wanted = next == '[' ? '[' : '{';
  // Another version may keep something else here.
  if (first != wanted && searches_) return value(cursor, {}, at, pod_spec);
  if (next == '[') return items(cursor, rows, at);
  return next == '{' ? map(cursor, rows, at) : object(cursor, rows, at, pod_spec);
}

bool TemplateWalk::items(Cursor& cursor, const Rows& rows, std::size_t at) {
  return cursor.items([&](std::size_t i) {
    const FieldPath::Step step(path_, i);
    std::string_view pod_spec;
    if (!value(cursor, rows, rows.empty() ? 0 : at + 2, pod_spec)) return false;
    return pod_spec.empty() || add_bare(cursor, pod_spec);
  });
}

bool TemplateWalk::map(Cursor& cursor, const Rows& rows, std::size_t at) {
  std::vector<std::string> seen;
  return cursor.members([&](std::string_view key) {
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return cursor.fail("must not be given twice", cursor.offset());
    }
    seen.emplace_back(key);
    const FieldPath::Step step(path_, key);
    const std::size_t first = out_.size();
    std::string_view pod_spec;
    if (!value(cursor, rows, at + 2, pod_spec)) return false;
    if (!pod_spec.empty() && !add_bare(cursor, pod_spec)) return false;
    for (std::size_t i = first; i < out_.size(); ++i)
      out_[i].role = key;
    return true;
  });
}

bool TemplateWalk::object(Cursor& cursor, const Rows& rows, std::size_t at,
                          std::string_view& pod_spec) {
  const std::size_t start = cursor.offset();
  const std::size_t first = out_.size();
  kube::ObjectMeta* const own_metadata = std::exchange(metadata_, nullptr);
  std::vector<Note> notes;
  std::vector<std::string_view> walked;  // into the rows' paths
  std::string_view metadata;
  std::string_view spec;
  bool has_containers = false;

  const auto search = [&](std::string_view key) {
    const FieldPath::Step step(path_, key);
    const std::size_t from = cursor.offset();
    const bool list = (key == "containers" || key == "initContainers") && cursor.peek() == '[';
    std::string_view found;
    if (!value(cursor, {}, 0, found)) return false;
    if (list) has_containers = has_containers || is_container_list(cursor.taken_since(from));
    if (found.empty()) return true;
    if (key != "spec") return add_bare(cursor, found);
    spec = found;
    return true;
  };
  const auto member = [&](std::string_view key) {
    Rows below;
    for (const WorkloadKind* row : rows) {
      if (row->template_path.size() > at && next_name(row->template_path, at) == key) {
        below.push_back(row);
      }
    }
    if (!below.empty()) {
      if (std::find(walked.begin(), walked.end(), key) != walked.end()) {
        return cursor.fail("must not be given twice", cursor.offset());
      }
      walked.push_back(next_name(below.front()->template_path, at));
      const FieldPath::Step step(path_, key);
      std::string_view found;
      if (!value(cursor, below, behind_name(below.front()->template_path, at), found)) return false;
      if (found.empty()) return true;
      if (key != "spec") return add_bare(cursor, found);
      spec = found;
      return true;
    }
    if (own_metadata != nullptr && key == "metadata") return read(cursor, *own_metadata);
    if (take_note(cursor, rows, at, key, notes)) return cursor.ok();
    if (!searches_) return cursor.skip();
    // What is reported there makes no pods.
    if (own_metadata != nullptr && key == "status") return cursor.skip();
    if (key == "metadata" && cursor.peek() == '{') return cursor.raw(metadata);
    return search(key);
  };
  if (!cursor.members(member)) return false;
  apply(notes, first);
  const std::string_view text = cursor.taken_since(start);
  if (has_containers) pod_spec = text;
  if (spec.empty()) return true;
  TemplateAt found;
  found.path = path_.text();
  if (own_metadata != nullptr) found.pod_template.metadata = *own_metadata;
  if (!add_found(cursor, spec, metadata, std::move(found), out_)) return false;
  row_of_.resize(out_.size());
  return true;
}

bool TemplateWalk::add_bare(Cursor& cursor, std::string_view pod_spec) {
  TemplateAt found;
  found.path = path_.text();
  found.placed.push_back({"spec", path_.text()});
  if (!add_found(cursor, pod_spec, {}, std::move(found), out_)) return false;
  row_of_.resize(out_.size());
  return true;
}

bool TemplateWalk::leaf(Cursor& cursor, const WorkloadKind& row) {
  const std::size_t first = out_.size();
  const auto read_leaf = [&] {
    switch (row.shape) {
      case TemplateShape::kTemplate: {
        TemplateAt* const at = out_.add(cursor, path_.text());
        return at != nullptr && cursor.object(field("metadata", at->pod_template.metadata),
                                              field("spec", at->pod_template.spec));
      }
      case TemplateShape::kPodSpec:
        return read_pod_spec(cursor, path_, out_);
      case TemplateShape::kPatch:
        return read_patch(cursor, path_, out_);
      case TemplateShape::kSpecPatch:
        return read_spec_patch(cursor, path_, out_);
      case TemplateShape::kContainer:
        return read_lone_container(cursor, path_, out_);
      case TemplateShape::kTrainer:
        return read_trainer(cursor, path_, out_);
      case TemplateShape::kServing:
        return read_serving(cursor, path_, out_);
      case TemplateShape::kWorkflow:
        return read_workflow(cursor, path_, out_);
      case TemplateShape::kSpark:
        return read_spark(cursor, path_, out_);
      case TemplateShape::kObject:
        return embedded(cursor);
    }
    return cursor.skip();
  };
  if (!read_leaf()) return false;
  row_of_.resize(out_.size(), &row);
  if (row.role.empty()) return true;
  for (std::size_t i = first; i < out_.size(); ++i)
    out_[i].role = row.role;
  return true;
}

// A place whose object holds other places too: its text is read for each.
bool TemplateWalk::leaf_and_rest(Cursor& cursor, const Rows& rows, std::size_t at,
                                 std::string_view& pod_spec) {
  const std::size_t start = cursor.offset();
  std::string_view text;
  if (!cursor.raw(text)) return false;
  Rows rest;
  for (const WorkloadKind* row : rows) {
    if (row->template_path.size() != at) {
      rest.push_back(row);
      continue;
    }
    const auto read_it = [&](Cursor& inner) { return leaf(inner, *row); };
    if (!read_again(cursor, start, text, read_it)) return false;
  }
  // Its own containers are read.
  std::string_view read_already;
  const auto read_rest = [&](Cursor& inner) { return value(inner, rest, at, read_already); };
  pod_spec = {};
  return read_again(cursor, start, text, read_rest);
}

// Its kind may stand behind what it holds, so it is read twice.
bool TemplateWalk::embedded(Cursor& cursor) {
  const std::size_t start = cursor.offset();
  std::string_view text;
  if (!cursor.raw(text)) return false;
  std::string api_version;
  std::string kind;
  const auto head = [&](Cursor& inner) {
    return inner.object(field("apiVersion", api_version), field("kind", kind));
  };
  if (!read_again(cursor, start, text, head)) return false;
  TemplateWalk walk(api_version, kind, path_, out_);
  kube::ObjectMeta metadata;
  const auto whole = [&](Cursor& inner) { return walk.walk(inner, metadata); };
  return read_again(cursor, start, text, whole);
}

// Whether the key is a role or a number of pods; then its value has been read. What is neither a
// text nor a number there says nothing.
bool TemplateWalk::take_note(Cursor& cursor, const Rows& rows, std::size_t at, std::string_view key,
                             std::vector<Note>& notes) {
  std::vector<Note> taken;
  for (const WorkloadKind* row : rows) {
    const auto take = [&](std::string_view pattern, Note::Kind kind) {
      if (names_member(pattern, row->template_path, at, key)) taken.push_back({row, kind});
    };
    take(row->role_path, Note::Kind::kRole);
    for (const std::string_view count : row->counts)
      take(count, Note::Kind::kCount);
    take(row->at_most, Note::Kind::kAtMost);
    take(row->group_size, Note::Kind::kGroupSize);
  }
  if (taken.empty()) return false;
  std::string role;
  std::int64_t number = -1;
  const char next = cursor.peek();
  if (next == '"') {
    if (!read(cursor, role)) return true;
  } else {
    std::string_view literal;
    if (!cursor.raw(literal)) return true;
    Cursor inner(literal);
    if (!literal.empty()) (void)read_integer(inner, 0, kMostPods, number);
  }
  for (Note& note : taken) {
    if (note.kind == Note::Kind::kRole ? role.empty() : number < 0) continue;
    note.role = role;
    note.number = number;
    notes.push_back(std::move(note));
  }
  return true;
}

void TemplateWalk::apply(const std::vector<Note>& notes, std::size_t first) {
  // The order of the notes is the order of the fields, which says nothing.
  const auto each = [&](Note::Kind kind, auto&& set) {
    for (const Note& note : notes) {
      for (std::size_t i = first; note.kind == kind && i < out_.size(); ++i)
        if (row_of_[i] == note.row) set(note, out_[i]);
    }
  };
  const auto multiply = [](TemplateAt& at, std::int64_t by) {
    at.replicas = std::min(at.replicas.value_or(1) * by, kMostPods);
  };
  each(Note::Kind::kRole, [](const Note& note, TemplateAt& at) { at.role = note.role; });
  each(Note::Kind::kCount, [&](const Note& note, TemplateAt& at) { multiply(at, note.number); });
  each(Note::Kind::kAtMost, [](const Note& note, TemplateAt& at) {
    if (at.replicas) at.replicas = std::min(*at.replicas, note.number);
  });
  const bool alone = out_.size() - first < 2;
  each(Note::Kind::kGroupSize, [&](const Note& note, TemplateAt& at) {
    multiply(at, alone ? note.number : std::max(note.number - 1, std::int64_t{0}));
  });
}

Result<WalkedObject> walk_object(std::string_view api_version, std::string_view kind,
                                 std::string_view json) {
  WalkedObject out;
  Cursor cursor(json, UnreadableAmounts::kKeep);
  TemplateSink sink(out.templates);
  FieldPath path{std::string()};
  TemplateWalk walk(api_version, kind, path, sink);
  if (!walk.walk(cursor, out.metadata) || !cursor.end()) return cursor.take_error();
  return out;
}

Result<std::vector<TemplateAt>> pod_templates(std::string_view api_version, std::string_view kind,
                                              std::string_view json) {
  auto walked = walk_object(api_version, kind, json);
  if (!walked) return walked.error();
  return std::move(walked->templates);
}

}  // namespace rankward::formats
