// Our configuration inside a ConfigMap, for those who change it there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/formats/configuration.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

struct StoredConfiguration {
  std::string field;  // `data["rankward.yaml"]`, or of binaryData
  Result<Configuration> configuration;
};

// The values of a ConfigMap that are a RankwardConfiguration, data and binaryData alike, or that
// name one and cannot be read; other values are passed over. An error where the ConfigMap itself is
// none.
[[nodiscard]] Result<std::vector<StoredConfiguration>> read_stored_configurations(
    std::string_view config_map_json);

}  // namespace rankward::formats
