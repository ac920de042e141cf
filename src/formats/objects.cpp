#include "rankward/formats/objects.hpp"

#include "object_fields.hpp"

namespace rankward::formats {

// Static, since look-up by argument does not see into unnamed namespaces.
static bool read(Cursor& cursor, kube::Taint& out) {
  return cursor.object(field("key", out.key), field("value", out.value),
                       field("effect", out.effect));
}

namespace {

bool read_condition(Cursor& cursor, kube::Node& out) {
  std::string type;
  std::string status;
  if (!cursor.object(field("type", type), field("status", status))) return false;
  if (type == "Ready") {
    // "Unknown": its kubelet has gone silent, and Kubernetes counts that as not ready.
    out.ready = status == "True" ? kube::Readiness::kReady : kube::Readiness::kNotReady;
  }
  return true;
}

template <class T, class Read>
Result<T> finished(Cursor& cursor, Read&& read_it) {
  T out;
  if (!read_it(out)) return cursor.take_error();
  return out;
}

}  // namespace

Result<kube::Pod> read_pod(std::string_view json) {
  Cursor cursor(json);
  return finished<kube::Pod>(cursor, [&](kube::Pod& out) {
    return cursor.document(field("metadata", out.metadata), field("spec", out.spec),
                           field("status", out.status));
  });
}

Result<kube::Node> read_node(std::string_view json) {
  Cursor cursor(json);
  return finished<kube::Node>(cursor, [&](kube::Node& out) {
    const auto condition = [&](std::size_t) { return read_condition(cursor, out); };
    const auto spec = [&] {
      return cursor.object(field("unschedulable", out.unschedulable), field("taints", out.taints));
    };
    const auto status = [&] {
      return cursor.object(field("capacity", out.capacity), field("allocatable", out.allocatable),
                           field("conditions", [&] { return cursor.items(condition); }));
    };
    return cursor.document(field("metadata", out.metadata), field("spec", spec),
                           field("status", status));
  });
}

Result<kube::PodTemplate> read_pod_template(std::string_view json) {
  Cursor cursor(json, UnreadableAmounts::kKeep);
  return finished<kube::PodTemplate>(cursor, [&](kube::PodTemplate& out) {
    return cursor.document(field("metadata", out.metadata), field("spec", out.spec));
  });
}

Result<ObjectHead> read_object_head(std::string_view json) {
  Cursor cursor(json);
  return finished<ObjectHead>(cursor, [&](ObjectHead& out) {
    return cursor.document(field("apiVersion", out.api_version), field("kind", out.kind),
                           field("metadata", out.metadata));
  });
}

Result<ListMeta> read_list(std::string_view json,
                           const std::function<Result<void>(std::string_view)>& item) {
  Cursor cursor(json);
  return finished<ListMeta>(cursor, [&](ListMeta& out) {
    const auto metadata = [&] {
      return cursor.object(field("resourceVersion", out.resource_version),
                           field("continue", out.continue_token));
    };
    const auto one = [&](std::size_t) {
      const std::size_t at = cursor.offset();
      std::string_view item_json;
      if (!cursor.raw(item_json)) return false;
      Result<void> taken = item(item_json);
      if (taken) return true;
      Error error = taken.error();
      const std::size_t inner = error.offset().value_or(0);
      return cursor.fail(std::move(error).at_byte(at + inner));
    };
    return cursor.document(field("metadata", metadata),
                           field("items", [&] { return cursor.items(one); }));
  });
}

Result<WatchEvent> read_watch_event(std::string_view line) {
  Cursor cursor(line);
  auto event = finished<WatchEvent>(cursor, [&](WatchEvent& out) {
    if (!cursor.document(field("type", out.type),
                         field("object", [&] { return cursor.raw(out.object_json); }))) {
      return false;
    }
    if (out.type.empty()) return cursor.fail(Error::invalid("must be given").at_field("type"));
    if (out.object_json.empty()) {
      return cursor.fail(Error::invalid("must be an object").at_field("object"));
    }
    return true;
  });
  if (!event) return event;
  const std::size_t start = static_cast<std::size_t>(event->object_json.data() - line.data());
  Cursor object(event->object_json);
  const auto metadata = [&] {
    return object.object(field("resourceVersion", event->resource_version));
  };
  const bool good = event->type == "ERROR" ? object.document(field("code", event->code),
                                                             field("message", event->message))
                                           : object.document(field("metadata", metadata));
  if (good) return event;
  Error error = object.take_error();
  const std::size_t inner = error.offset().value_or(0);
  return std::move(error).at_byte(start + inner).under("object");
}

}  // namespace rankward::formats
