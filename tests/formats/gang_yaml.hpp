// Objects that make gangs, and pods, out of YAML as people write it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "rankward/formats/documents.hpp"
#include "rankward/formats/gang_objects.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::formats {

inline GangOwner owner_of(std::string_view yaml) {
  const auto documents = read_documents(yaml, "owner.yaml").value();
  const Document& document = documents.at(0);
  const GangResource* resource = find_gang_resource(document.api_version, document.kind);
  EXPECT_NE(resource, nullptr) << document.api_version << " " << document.kind;
  return read_gang_owner(*resource, document.json).value();
}

inline kube::Pod pod_of(std::string_view yaml) {
  return read_pod(read_documents(yaml, "pod.yaml").value().at(0).json).value();
}

}  // namespace rankward::formats
