// A mapping of a strict YAML file: every key must be known, stand once and have the right form.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::formats {

// Collects the first error, so that a reader is a plain list of keys. A key that is absent or null
// leaves what it would set as it is.
class YamlReader {
 public:
  explicit YamlReader(std::string source) : source_(std::move(source)) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  // Only where failed().
  [[nodiscard]] Error error() const { return *error_; }

  // The first call counts; `node` says the line.
  void fail(const YAML::Node& node, std::string field, std::string message);

 private:
  std::string source_;
  std::optional<Error> error_;
};

class YamlSection {
 public:
  // Fails where `node` is no mapping, or has a key that is not in `keys` or stands twice.
  YamlSection(YamlReader& reader, const YAML::Node& node, std::string path,
              const std::vector<std::string_view>& keys);

  void read(std::string_view key, std::string& out);
  void read(std::string_view key, bool& out);
  void read(std::string_view key, std::vector<std::string>& out);
  // Between `least` and `most`, both allowed.
  void read_integer(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out);
  // One of the names; `out` is its position.
  void read_choice(std::string_view key, const std::vector<std::string_view>& names,
                   std::size_t& out);
  // A nested mapping or sequence, where it is there.
  void section(std::string_view key, const std::vector<std::string_view>& keys,
               const std::function<void(YamlSection&)>& read);
  void sections(std::string_view key, const std::vector<std::string_view>& keys,
                const std::function<void(YamlSection&)>& read);
  // Mapping of free names to scalars.
  void read_map(std::string_view key,
                const std::function<void(const std::string& name, const YAML::Node& value,
                                         const std::string& path)>& read);

  // The value, undefined where absent or null.
  [[nodiscard]] YAML::Node at(std::string_view key) const;
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] YamlReader& reader() { return reader_; }

 private:
  std::optional<std::string> scalar(std::string_view key, std::string_view form);

  YamlReader& reader_;
  YAML::Node node_;
  std::string path_;
};

}  // namespace rankward::formats
