// Pod specs in objects of which nobody told us where they keep them.
#include <utility>

#include "workload_walk.hpp"

namespace rankward::formats {

// Lists of init containers count as well: an operator that is only told to run one more of them
// gives it all that a pod has.
bool is_container_list(std::string_view json) {
  Cursor cursor(json, UnreadableAmounts::kKeep);
  bool objects = true;
  bool container = false;
  const auto text = [&] {
    container = container || cursor.peek() == '"';
    return cursor.skip();
  };
  const auto item = [&](std::size_t) {
    if (cursor.peek() == '{') return cursor.object(field("name", text), field("image", text));
    objects = false;
    return cursor.skip();
  };
  return cursor.items(item) && objects && container;
}

bool add_found(Cursor& cursor, std::string_view spec, std::string_view metadata, TemplateAt found,
               TemplateSink& out) {
  Cursor spec_cursor(spec, UnreadableAmounts::kKeep);
  if (!read(spec_cursor, found.pod_template.spec)) return true;
  if (!metadata.empty()) {
    kube::ObjectMeta read_metadata;
    Cursor metadata_cursor(metadata);
    if (read(metadata_cursor, read_metadata)) {
      found.pod_template.metadata = std::move(read_metadata);
    }
  }
  TemplateAt* const added = out.add(cursor, std::string());
  if (added == nullptr) return false;
  *added = std::move(found);
  return true;
}

}  // namespace rankward::formats
