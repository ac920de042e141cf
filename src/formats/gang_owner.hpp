// An owner of gangs, read but not yet understood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json_cursor.hpp"
#include "rankward/kube/meta.hpp"

namespace rankward::formats {

// Pods made from one template.
struct GangPart {
  std::string name;            // replica type, task, replicated job, worker group; "" for one only
  kube::ObjectMeta metadata;   // the template's
  std::string_view text;       // the template
  std::string_view spec;       // and its spec, in the text that is read
  std::string pod_group_name;  // the template's spec.schedulingGroup
  bool indexed = false;        // its Jobs number their pods
  std::int64_t pods = 1;
  std::int64_t least = 0;  // as RoleSize
};

struct GangObject {
  kube::ObjectMeta metadata;
  std::vector<GangPart> parts;
  std::string required_topology;
  bool elastic = false;
  bool in_steps = false;  // some of its pods are made only once others have ended
  bool ended = false;
};

// Each reads the `spec` of its kind.
bool read_job(Cursor& cursor, GangObject& out);
bool read_job_set(Cursor& cursor, GangObject& out);
bool read_stateful_set(Cursor& cursor, GangObject& out);
bool read_training_job(Cursor& cursor, GangObject& out);  // of kubeflow.org, any kind
bool read_ray_cluster(Cursor& cursor, GangObject& out);
bool read_volcano_job(Cursor& cursor, GangObject& out);
bool read_native_pod_group(Cursor& cursor, GangObject& out);  // scheduling.k8s.io
bool read_pod_group(Cursor& cursor, GangObject& out);         // with minMember
bool read_pod_gang(Cursor& cursor, GangObject& out);          // Grove's

}  // namespace rankward::formats
