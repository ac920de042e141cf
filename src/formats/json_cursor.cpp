#include "json_cursor.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstring>

#include "json_text.hpp"

namespace rankward::formats {
namespace {

namespace bj = boost::json;

// Takes every event of Boost.JSON's parser and does nothing: what is left is validation.
struct NullHandler {
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  using Code = bj::error_code&;
  using Text = bj::string_view;
  bool on_document_begin(Code) { return true; }
  bool on_document_end(Code) { return true; }
  bool on_object_begin(Code) { return true; }
  bool on_object_end(std::size_t, Code) { return true; }
  bool on_array_begin(Code) { return true; }
  bool on_array_end(std::size_t, Code) { return true; }
  bool on_key_part(Text, std::size_t, Code) { return true; }
  bool on_key(Text, std::size_t, Code) { return true; }
  bool on_string_part(Text, std::size_t, Code) { return true; }
  bool on_string(Text, std::size_t, Code) { return true; }
  bool on_number_part(Text, Code) { return true; }
  bool on_int64(std::int64_t, Text, Code) { return true; }
  bool on_uint64(std::uint64_t, Text, Code) { return true; }
  bool on_double(double, Text, Code) { return true; }
  bool on_bool(bool, Code) { return true; }
  bool on_null(Code) { return true; }
  bool on_comment_part(Text, Code) { return true; }
  bool on_comment(Text, Code) { return true; }
};

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char kTooDeep[] = "must not be nested deeper than 64 levels";

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6U));
    put(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12U));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  } else {
    put(0xF0 | (code >> 18U));
    put(0x80 | ((code >> 12U) & 0x3FU));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  }
}

}  // namespace

std::string path_segment(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
  };
  if (!key.empty() && std::all_of(key.begin(), key.end(), plain)) return std::string(key);
  return "[\"" + std::string(key) + "\"]";
}

void Cursor::blanks() {
  while (at_ < text_.size() && is_blank(text_[at_]))
    ++at_;
}

std::size_t Cursor::offset() {
  blanks();
  return at_;
}

char Cursor::peek() {
  blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Cursor::fail(std::string message, std::size_t at) {
  return fail(Error::invalid(std::move(message)).at_byte(at));
}

bool Cursor::fail(Error error) {
  if (!error_) error_ = std::move(error);
  return false;
}

bool Cursor::expected(std::string_view what) {
  const char c = peek();
  std::string_view found;
  if (at_ >= text_.size()) {
    found = "the end of the text";
  } else if (c == '{') {
    found = "an object";
  } else if (c == '[') {
    found = "an array";
  } else if (c == '"') {
    found = "a string";
  } else if (c == '-' || is_digit(c)) {
    found = "a number";
  } else if (text_.substr(at_, 4) == "null") {
    found = "null";
  } else if (text_.substr(at_, 4) == "true" || text_.substr(at_, 5) == "false") {
    found = "a boolean";
  } else {
    return fail("is not JSON: " + std::string(what) + " must stand here", at_);
  }
  return fail("must be " + std::string(what) + ", not " + std::string(found), at_);
}

bool Cursor::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool Cursor::null() {
  if (!ok()) return false;
  return peek() == 'n' && literal("null");
}

bool Cursor::boolean(bool& out) {
  if (!ok()) return false;
  blanks();
  if (literal("true")) {
    out = true;
  } else if (literal("false")) {
    out = false;
  } else {
    return expected("true or false");
  }
  return true;
}

bool Cursor::number(std::string_view& out) {
  if (!ok()) return false;
  const char first = peek();
  if (first != '-' && !is_digit(first)) return expected("a number");
  const std::size_t start = at_;
  const auto next = [&] { return at_ < text_.size() ? text_[at_] : '\0'; };
  const auto digits = [&] {
    const std::size_t from = at_;
    while (is_digit(next()))
      ++at_;
    return at_ != from;
  };
  if (next() == '-') ++at_;
  if (next() == '0') {
    ++at_;
  } else if (!digits()) {
    return fail("is not JSON: a digit must stand here", at_);
  }
  if (next() == '.') {
    ++at_;
    if (!digits()) return fail("is not JSON: a digit must stand here", at_);
  }
  if (next() == 'e' || next() == 'E') {
    ++at_;
    if (next() == '+' || next() == '-') ++at_;
    if (!digits()) return fail("is not JSON: a digit must stand here", at_);
  }
  if (is_digit(next())) return fail("is not JSON: a number must not start with 0", start);
  out = text_.substr(start, at_ - start);
  return true;
}

bool Cursor::string(std::string_view& out, std::string& scratch) {
  if (!ok()) return false;
  if (peek() != '"') return expected("a string");
  const std::size_t start = ++at_;
  while (true) {
    at_ += plain_prefix(text_.substr(at_));
    if (at_ >= text_.size()) return fail("is not JSON: the text ends inside a string", at_);
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') {
      out = text_.substr(start, at_ - start);
      ++at_;
      return true;
    }
    if (c == '\\') break;
    if (c < 0x20) return fail("is not JSON: a control character in a string must be escaped", at_);
    const std::size_t length = utf8_sequence(text_.substr(at_));
    if (length == 0) return fail("must be UTF-8", at_);
    at_ += length;
  }
  scratch.assign(text_.substr(start, at_ - start));
  if (!decode(scratch)) return false;
  out = scratch;
  return true;
}

// From the first escape of a string to behind its closing quote.
bool Cursor::decode(std::string& scratch) {
  while (true) {
    const std::size_t plain = plain_prefix(text_.substr(at_));
    scratch.append(text_.substr(at_, plain));
    at_ += plain;
    if (at_ >= text_.size()) return fail("is not JSON: the text ends inside a string", at_);
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c < 0x20) return fail("is not JSON: a control character in a string must be escaped", at_);
    if (c != '\\') {
      const std::size_t length = utf8_sequence(text_.substr(at_));
      if (length == 0) return fail("must be UTF-8", at_);
      scratch.append(text_.substr(at_, length));
      at_ += length;
      continue;
    }
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (name == 'u') {
      if (!unicode_escape(scratch)) return false;
      continue;
    }
    const std::size_t which = name == '\0' ? std::string_view::npos : kNames.find(name);
    if (which == std::string_view::npos) return fail("is not JSON: no such escape", at_);
    scratch.push_back(kMeanings[which]);
    at_ += 2;
  }
}

bool Cursor::hex4(std::uint32_t& out) {
  if (text_.substr(at_, 2) != "\\u" || text_.size() - at_ < 6) return false;
  const char* first = text_.data() + at_ + 2;
  const auto [last, error] = std::from_chars(first, first + 4, out, 16);
  if (error != std::errc() || last != first + 4) return false;
  at_ += 6;
  return true;
}

bool Cursor::unicode_escape(std::string& scratch) {
  const std::size_t start = at_;
  std::uint32_t code = 0;
  if (!hex4(code)) return fail("is not JSON: \\u takes four hexadecimal digits", start);
  if (code >= 0xDC00 && code <= 0xDFFF) return fail("must be UTF-8: half a surrogate pair", start);
  if (code >= 0xD800 && code <= 0xDBFF) {
    std::uint32_t low = 0;
    if (!hex4(low) || low < 0xDC00 || low > 0xDFFF) {
      return fail("must be UTF-8: half a surrogate pair", start);
    }
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  append_utf8(scratch, code);
  return true;
}

bool Cursor::skip() {
  if (!ok()) return false;
  blanks();
  if (at_ >= text_.size()) return fail("is not JSON: the text ends where a value must stand", at_);
  bj::parse_options options;
  options.max_depth = kMaxJsonDepth - depth_;
  bj::basic_parser<NullHandler> parser(options);
  bj::error_code code;
  const std::size_t length = parser.write_some(false, text_.data() + at_, text_.size() - at_, code);
  if (!code) {
    at_ += length;
    return true;
  }
  const std::size_t where = at_ + length;
  if (code == bj::error::too_deep) return fail(kTooDeep, where);
  if (code == bj::error::incomplete) return fail("is not JSON: the text ends too early", where);
  if (where < text_.size() && static_cast<unsigned char>(text_[where]) >= 0x80) {
    return fail("must be UTF-8, and plain ASCII outside of strings", where);
  }
  return fail("is not JSON: " + code.message(), where);
}

bool Cursor::raw(std::string_view& out) {
  if (null()) {
    out = {};
    return true;
  }
  const std::size_t start = offset();
  if (!skip()) return false;
  std::size_t stop = at_;
  while (stop > start && is_blank(text_[stop - 1]))
    --stop;
  out = text_.substr(start, stop - start);
  return true;
}

bool Cursor::end() {
  if (!ok()) return false;
  blanks();
  return at_ == text_.size() || fail("is not JSON: nothing may follow the value", at_);
}

bool Cursor::enter(char open, std::string_view what) {
  if (!ok()) return false;
  if (peek() != open) return expected(what);
  if (depth_ == kMaxJsonDepth) return fail(kTooDeep, at_);
  ++depth_;
  ++at_;
  return true;
}

bool Cursor::leave(char close, bool first) {
  if (!ok()) return false;
  const char c = peek();
  if (c == close) {
    --depth_;
    ++at_;
    return true;
  }
  if (first) return false;
  if (c == ',') {
    ++at_;
    return false;
  }
  return fail(at_ >= text_.size() ? "is not JSON: the text ends too early"
              : close == '}'      ? "is not JSON: , or } must stand here"
                                  : "is not JSON: , or ] must stand here",
              at_);
}

bool Cursor::member_key(std::string_view& key, std::string& scratch) {
  key_at_ = offset();
  if (peek() != '"') {
    return fail(at_ >= text_.size() ? "is not JSON: the text ends too early"
                                    : "is not JSON: a key in quotes must stand here",
                at_);
  }
  if (!string(key, scratch)) return false;
  if (peek() != ':') return fail("is not JSON: : must stand here", at_);
  ++at_;
  return true;
}

bool Cursor::duplicate() {
  return fail("must not be given twice", key_at_);
}

bool Cursor::other_key(std::string_view key, std::vector<std::string>& others) {
  if (std::find(others.begin(), others.end(), key) != others.end()) return duplicate();
  if (others.size() == kMaxUnknownKeys) {
    return fail("is one of more than 64 unknown keys at the top level", key_at_);
  }
  others.emplace_back(key);
  return true;
}

bool Cursor::led_by_key(std::string_view key) {
  if (error_) std::move(*error_).under(path_segment(key));
  return false;
}

bool Cursor::led_by_index(std::size_t index) {
  if (error_) std::move(*error_).under("[" + std::to_string(index) + "]");
  return false;
}

bool Cursor::equal_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool read(Cursor& cursor, std::string& out) {
  if (cursor.null()) return true;
  std::string scratch;
  std::string_view text;
  if (!cursor.string(text, scratch)) return false;
  out.assign(text);
  return true;
}

bool read(Cursor& cursor, bool& out) {
  return cursor.null() || cursor.boolean(out);
}

bool read_integer(Cursor& cursor, std::int64_t low, std::int64_t high, std::int64_t& out) {
  if (cursor.null()) return true;
  const std::size_t at = cursor.offset();
  std::string_view literal;
  if (!cursor.number(literal)) return false;
  std::int64_t value = 0;
  const auto [last, error] =
      std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error != std::errc() || last != literal.data() + literal.size() || value < low ||
      value > high) {
    return cursor.fail("must be an integer from " + std::to_string(low) + " to " +
                           std::to_string(high) + ", not " + std::string(literal.substr(0, 40)),
                       at);
  }
  out = value;
  return true;
}

bool read(Cursor& cursor, std::int64_t& out) {
  return read_integer(cursor, std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max(), out);
}

bool read(Cursor& cursor, std::int32_t& out) {
  std::int64_t wide = out;
  if (!read_integer(cursor, std::numeric_limits<std::int32_t>::min(),
                    std::numeric_limits<std::int32_t>::max(), wide)) {
    return false;
  }
  out = static_cast<std::int32_t>(wide);
  return true;
}

}  // namespace rankward::formats
