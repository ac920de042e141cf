// coordination.k8s.io/v1 Lease: who may write, and until when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankward/result.hpp"

namespace rankward::formats {

struct Lease {
  std::string resource_version;  // "" for one that is to be made
  std::string holder;            // spec.holderIdentity; "": given back
  std::int32_t duration_seconds = 0;
  // RFC 3339 with microseconds, as MicroTime is written. They are for people: who waits for a Lease
  // measures on its own clock how long the record has not changed (client-go does the same).
  std::string acquire_time;
  std::string renew_time;
  std::int32_t transitions = 0;

  friend bool operator==(const Lease&, const Lease&) = default;
};

// Absent fields are empty. kInvalid where the JSON is no Lease.
[[nodiscard]] Result<Lease> read_lease(std::string_view json);

// The whole object, for POST and PUT. An empty resource_version is left out; a given one makes the
// API server refuse the write (409) where the Lease has changed since.
[[nodiscard]] std::string write_lease(std::string_view name_space, std::string_view name,
                                      const Lease& lease);

}  // namespace rankward::formats
