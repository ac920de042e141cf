// Writes JSON into a caller's string: for log lines, results and `-o json`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankward::formats {

// Appends `text` in quotes. Control characters are escaped and bytes that are not UTF-8 become
// U+FFFD, so that what comes out is always JSON.
void append_json_string(std::string& out, std::string_view text);

// Commas and quotes are put by the writer; that keys stand in objects and every scope is closed is
// the caller's part. Takes no memory of its own.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(std::uint32_t number) { return value(static_cast<std::uint64_t>(number)); }
  // Infinite and NaN have no form in JSON and become null.
  JsonWriter& value(double number);
  JsonWriter& value(bool truth);
  JsonWriter& null();
  // A value that is JSON already.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }

 private:
  void separate();

  std::string& out_;
  bool first_ = true;  // nothing stands before the next value in its scope
};

}  // namespace rankward::formats
