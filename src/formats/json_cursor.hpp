// A forward reader of JSON that keeps no tree. The caller walks the objects and arrays that it
// knows; everything else is passed over, validated by Boost.JSON's parser. So every byte is checked
// once, whoever reads it.
//
// The first error stays: every call after it returns false, and take_error() gives it with its byte
// offset and with the path of keys and positions that led there.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_text.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// Keys of one object that nobody reads but that must be told apart: those of the top level.
inline constexpr std::size_t kMaxUnknownKeys = 64;

// One field of an object: its key and where it goes, a variable or a function without arguments
// that reads the value and returns whether that went well.
template <class Target>
struct Field {
  std::string_view key;
  Target& target;
};
template <class Target>
[[nodiscard]] Field<Target> field(std::string_view key, Target& target) {
  return {key, target};
}
template <class Target>
[[nodiscard]] Field<const Target> field(std::string_view key, const Target& target) {
  return {key, target};
}

enum class KeyCase : std::uint8_t { kExact, kAny };

// What to do with a resource amount that Kubernetes could not read.
enum class UnreadableAmounts : std::uint8_t { kRefuse, kKeep };

class Cursor {
 public:
  // `text` must outlive the cursor and every view that it gave.
  explicit Cursor(std::string_view text,
                  UnreadableAmounts unreadable_amounts = UnreadableAmounts::kRefuse)
      : text_(text), unreadable_amounts_(unreadable_amounts) {}

  [[nodiscard]] bool ok() const { return !error_; }
  [[nodiscard]] Error take_error() { return std::move(*error_); }
  [[nodiscard]] UnreadableAmounts unreadable_amounts() const { return unreadable_amounts_; }
  // Offset of the next value, blanks passed over.
  [[nodiscard]] std::size_t offset();
  // First character of the next value; 0 at the end.
  [[nodiscard]] char peek();

  // Each returns false. `at` is an offset in the text.
  bool fail(std::string message, std::size_t at);
  bool fail(Error error);
  // "must be <what>, not ...", at the next value.
  bool expected(std::string_view what);

  // Takes a null, if one is next.
  bool null();
  bool boolean(bool& out);
  // The literal as written.
  bool number(std::string_view& out);
  // Takes a string of printable ASCII without escapes, if that is what comes next without a blank
  // before it. Long lists of names are nothing else.
  bool plain_string(std::string_view& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    const std::string_view rest = text_.substr(at_ + 1);
    const std::size_t length = plain_prefix(rest);
    if (length == rest.size() || rest[length] != '"') return false;
    out = rest.substr(0, length);
    at_ += length + 2;
    return true;
  }
  // A view into the text, or into `scratch` where the string has escapes.
  bool string(std::string_view& out, std::string& scratch);
  // Passes over one value of any kind.
  bool skip();
  // The bytes of one value; empty for null.
  bool raw(std::string_view& out);
  // The bytes from an offset to behind the value that was taken last.
  [[nodiscard]] std::string_view taken_since(std::size_t start) const {
    return text_.substr(start, at_ - start);
  }
  // Nothing but blanks may follow.
  bool end();

  // Calls `on_key(key)` for each key, with the cursor before its value. null has no keys.
  template <class OnKey>
  bool members(OnKey&& on_key) {
    if (null()) return true;
    if (!enter('{', "an object")) return false;
    for (bool first = true; !leave('}', first); first = false) {
      std::string scratch;
      std::string_view key;
      if (!ok() || !member_key(key, scratch)) return false;
      if (!on_key(key)) return led_by_key(key);
    }
    return ok();
  }

  // Calls `on_item(index)` for each item, with the cursor before it. null has none.
  template <class OnItem>
  bool items(OnItem&& on_item) {
    if (null()) return true;
    if (!enter('[', "an array")) return false;
    std::size_t index = 0;
    for (bool first = true; !leave(']', first); first = false) {
      if (!ok()) return false;
      if (!on_item(index)) return led_by_index(index);
      ++index;
    }
    return ok();
  }

  // Reads the fields of an object; a field that comes twice is an error, other keys are passed
  // over.
  template <class... Fields>
  bool object(const Fields&... fields) {
    return known_members<KeyCase::kExact>(fields...);
  }

  // The same with keys in any case, as Go reads the types that have no JSON tags.
  template <class... Fields>
  bool object_any_case(const Fields&... fields) {
    return known_members<KeyCase::kAny>(fields...);
  }

  // The same for the outermost object, in which no key at all may come twice.
  template <KeyCase Case = KeyCase::kExact, class... Fields>
  bool document(const Fields&... fields) {
    std::array<bool, sizeof...(Fields)> seen{};
    std::vector<std::string> others;
    if (peek() != '{') return expected("an object");
    return members([&](std::string_view key) {
             bool good = false;
             if (match<Case>(key, seen, good, fields...)) return good;
             return other_key(key, others) && skip();
           }) &&
           end();
  }

 private:
  bool enter(char open, std::string_view what);
  bool leave(char close, bool first);
  bool member_key(std::string_view& key, std::string& scratch);
  bool duplicate();
  bool other_key(std::string_view key, std::vector<std::string>& others);
  bool led_by_key(std::string_view key);
  bool led_by_index(std::size_t index);
  bool decode(std::string& scratch);
  bool unicode_escape(std::string& scratch);
  bool hex4(std::uint32_t& out);
  bool literal(std::string_view word);
  void blanks();

  template <KeyCase Case, class... Fields>
  bool known_members(const Fields&... fields) {
    std::array<bool, sizeof...(Fields)> seen{};
    return members([&](std::string_view key) {
      bool good = false;
      return match<Case>(key, seen, good, fields...) ? good : skip();
    });
  }

  template <KeyCase Case, class... Fields>
  bool match([[maybe_unused]] std::string_view key, std::array<bool, sizeof...(Fields)>& seen,
             bool& good, const Fields&... fields) {
    std::size_t i = 0;
    return (match_one<Case>(key, seen[i++], good, fields) || ...);
  }

  template <KeyCase Case, class Target>
  bool match_one(std::string_view key, bool& seen, bool& good, const Field<Target>& field) {
    if constexpr (Case == KeyCase::kExact) {
      if (key != field.key) return false;
    } else {
      if (!equal_any_case(key, field.key)) return false;
    }
    if (seen) {
      good = duplicate();
      return true;
    }
    seen = true;
    if constexpr (std::is_invocable_v<Target&>) {
      good = field.target();
    } else {
      good = read(*this, field.target);
    }
    return true;
  }

  static bool equal_any_case(std::string_view a, std::string_view b);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t key_at_ = 0;  // offset of the last key
  UnreadableAmounts unreadable_amounts_;
  std::optional<Error> error_;
};

// How values of C++ types are read. null leaves the target as it was.
bool read(Cursor& cursor, std::string& out);
bool read(Cursor& cursor, bool& out);
bool read(Cursor& cursor, std::int32_t& out);
bool read(Cursor& cursor, std::int64_t& out);
// An integer from `low` to `high`; the message names both.
bool read_integer(Cursor& cursor, std::int64_t low, std::int64_t high, std::int64_t& out);

template <class T>
bool read(Cursor& cursor, std::optional<T>& out) {
  if (cursor.null()) return true;
  return read(cursor, out.emplace());
}

template <class T>
bool read(Cursor& cursor, std::vector<T>& out) {
  return cursor.items([&](std::size_t) { return read(cursor, out.emplace_back()); });
}

// `containers`, or `["nvidia.com/gpu"]` for a key that is no plain name.
[[nodiscard]] std::string path_segment(std::string_view key);

}  // namespace rankward::formats
