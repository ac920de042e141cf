#include "rankward/formats/json_writer.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "json_text.hpp"

namespace rankward::formats {
namespace {

template <class T>
void append_number(std::string& out, T number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  if (error == std::errc()) out.append(buffer, end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  // Nearly every text needs no escape and is put in one step.
  if (plain_prefix(text) == text.size()) {
    const std::size_t start = out.size();
    out.resize(start + text.size() + 2);
    out[start] = '"';
    text.copy(out.data() + start + 1, text.size());
    out.back() = '"';
    return;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  while (true) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    if (c >= 0x80) {
      const std::size_t length = utf8_sequence(text);
      out.append(length == 0 ? kReplacement : text.substr(0, length));
      text.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out.push_back(kHex[c >> 4U]);
        out.push_back(kHex[c & 0xFU]);
    }
    text.remove_prefix(1);
  }
  out.push_back('"');
}

void JsonWriter::separate() {
  if (!first_) out_.push_back(',');
  first_ = false;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  out_.push_back('{');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  out_.push_back('}');
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  out_.push_back('[');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  out_.push_back(']');
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_.push_back(':');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  separate();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  separate();
  out_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace rankward::formats
