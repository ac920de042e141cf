#include "rankward/formats/volume.hpp"

#include "object_fields.hpp"

namespace rankward::formats {
namespace {

bool read_local(Cursor& cursor, kube::PersistentVolume& out) {
  if (cursor.null()) return true;
  return cursor.object(field("path", out.local_path.emplace()));
}

bool read_spec(Cursor& cursor, kube::PersistentVolume& out) {
  std::string mode;
  const auto claim = [&] {
    return cursor.object(field("namespace", out.claim_namespace), field("name", out.claim_name));
  };
  if (!cursor.object(field("hostPath", out.host_path),
                     field("local", [&] { return read_local(cursor, out); }),
                     field("volumeMode", mode), field("claimRef", claim))) {
    return false;
  }
  out.block = mode == "Block";
  return true;
}

}  // namespace

Result<kube::PersistentVolume> read_persistent_volume(std::string_view json) {
  kube::PersistentVolume out;
  Cursor cursor(json);
  if (!cursor.document(field("metadata", out.metadata),
                       field("spec", [&] { return read_spec(cursor, out); }))) {
    return cursor.take_error();
  }
  return out;
}

}  // namespace rankward::formats
