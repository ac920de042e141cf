#include "rankward/formats/lease.hpp"

#include "json_cursor.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {

Result<Lease> read_lease(std::string_view json) {
  Cursor cursor(json);
  Lease out;
  const auto metadata = [&] {
    return cursor.object(field("resourceVersion", out.resource_version));
  };
  const auto spec = [&] {
    return cursor.object(field("holderIdentity", out.holder),
                         field("leaseDurationSeconds", out.duration_seconds),
                         field("acquireTime", out.acquire_time), field("renewTime", out.renew_time),
                         field("leaseTransitions", out.transitions));
  };
  if (!cursor.document(field("metadata", metadata), field("spec", spec))) {
    return cursor.take_error();
  }
  return out;
}

std::string write_lease(std::string_view name_space, std::string_view name, const Lease& lease) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("apiVersion", "coordination.k8s.io/v1")
      .member("kind", "Lease")
      .key("metadata")
      .begin_object()
      .member("namespace", name_space)
      .member("name", name);
  if (!lease.resource_version.empty()) json.member("resourceVersion", lease.resource_version);
  json.end_object()
      .key("spec")
      .begin_object()
      .member("holderIdentity", lease.holder)
      .member("leaseDurationSeconds", lease.duration_seconds);
  // An empty time is no time to the API server.
  if (!lease.acquire_time.empty()) json.member("acquireTime", lease.acquire_time);
  if (!lease.renew_time.empty()) json.member("renewTime", lease.renew_time);
  json.member("leaseTransitions", lease.transitions).end_object().end_object();
  return out;
}

}  // namespace rankward::formats
