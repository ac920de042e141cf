// How a cursor reads Kubernetes' objects into their values.
#pragma once

#include "json_cursor.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::formats {

bool read(Cursor& cursor, kube::StringMap& out);
bool read(Cursor& cursor, kube::ObjectMeta& out);
// Amounts are strings or numbers. What Kubernetes cannot read is an error, or left out where the
// cursor keeps such amounts: this list has no place for them.
bool read(Cursor& cursor, kube::ResourceList& out);
bool read(Cursor& cursor, kube::EnvVar& out);
bool read(Cursor& cursor, kube::EnvFromSource& out);
bool read(Cursor& cursor, kube::VolumeMount& out);
bool read(Cursor& cursor, kube::Container& out);
bool read(Cursor& cursor, kube::HostPathVolume& out);
bool read(Cursor& cursor, kube::Volume& out);
bool read(Cursor& cursor, kube::Toleration& out);
// affinity: of it the node terms that are required.
bool read_affinity(Cursor& cursor, kube::PodSpec& out);
// securityContext of a container.
bool read_security_context(Cursor& cursor, kube::Container& out);
bool read(Cursor& cursor, kube::PodSpec& out);
bool read(Cursor& cursor, kube::PodStatus& out);
bool read(Cursor& cursor, kube::Pod& out);
// As the list, but what the cursor keeps goes into `unreadable`.
bool read(Cursor& cursor, kube::ResourceRequirements& out);

}  // namespace rankward::formats
