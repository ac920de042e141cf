#include "json_cursor.hpp"

#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

struct StringCase {
  std::string_view json;
  std::string_view text;
};

TEST(Cursor, decodes_strings) {
  const StringCase cases[] = {
      {R"("")", ""},
      {R"("plain")", "plain"},
      {R"("a\"b\\c\/d\b\f\n\r\t")", "a\"b\\c/d\b\f\n\r\t"},
      {R"("\u0041\u00e9\u20ac\ud83d\ude00")", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"\"\xC3\xA9 and \\u00e9\"", "\xC3\xA9 and \xC3\xA9"},
      {"  \"a name of more than eight bytes\\n\"  ", "a name of more than eight bytes\n"},
  };
  for (const StringCase& c : cases) {
    Cursor cursor(c.json);
    std::string out;
    EXPECT_TRUE(read(cursor, out)) << c.json;
    EXPECT_EQ(out, c.text) << c.json;
    EXPECT_TRUE(cursor.end()) << c.json;
  }
}

TEST(Cursor, gives_views_of_strings_without_escapes) {
  const std::string_view json = R"("node-a")";
  Cursor cursor(json);
  std::string scratch;
  std::string_view out;
  ASSERT_TRUE(cursor.string(out, scratch));
  EXPECT_EQ(out.data(), json.data() + 1);
}

// What is refused when it is read and when it is passed over, with the offset of the fault.
struct BrokenCase {
  std::string_view name;
  std::string json;
  std::size_t offset;
};

const BrokenCase kBrokenStrings[] = {
    {"no end", "\"abc", 4},
    {"control character", "\"ab\ncd\"", 3},
    {"no such escape", "\"ab\\x41\"", 3},
    {"short hex", "\"\\u12\"", 1},
    {"no hex", "\"\\u12g4\"", 1},
    {"low surrogate alone", "\"\\udc00\"", 1},
    {"high surrogate alone", "\"\\ud800x\"", 1},
    {"high surrogate twice", "\"\\ud800\\ud800\"", 1},
    {"continuation byte alone", "\"a\x80\"", 2},
    {"overlong", "\"\xC0\xAF\"", 1},
    {"surrogate in UTF-8", "\"\xED\xA0\x80\"", 1},
    {"above U+10FFFF", "\"\xF4\x90\x80\x80\"", 1},
    {"cut sequence", "\"\xE2\x82\"", 1},
};

TEST(Cursor, refuses_broken_strings_where_the_fault_is) {
  for (const BrokenCase& c : kBrokenStrings) {
    Cursor cursor(c.json);
    std::string out;
    EXPECT_FALSE(read(cursor, out)) << c.name;
    EXPECT_EQ(cursor.take_error().offset(), c.offset) << c.name;
  }
}

TEST(Cursor, refuses_broken_strings_that_it_passes_over) {
  for (const BrokenCase& c : kBrokenStrings) {
    Cursor cursor(c.json);
    EXPECT_FALSE(cursor.skip()) << c.name;
    EXPECT_TRUE(cursor.take_error().offset().has_value()) << c.name;
  }
}

TEST(Cursor, reads_and_passes_over_the_same_numbers) {
  struct Case {
    std::string_view json;
    bool good;
  };
  const Case cases[] = {{"0", true},        {"-0", true},    {"12", true},     {"1.5", true},
                        {"1e3", true},      {"1E+3", true},  {"1.5e-3", true}, {"-", false},
                        {"01", false},      {"1.", false},   {".5", false},    {"1e", false},
                        {"+1", false},      {"0x10", false}, {"1_0", false},   {"NaN", false},
                        {"Infinity", false}};
  for (const Case& c : cases) {
    Cursor reading(c.json);
    std::string_view literal;
    EXPECT_EQ(reading.number(literal) && reading.end(), c.good) << c.json;
    Cursor skipping(c.json);
    EXPECT_EQ(skipping.skip() && skipping.end(), c.good) << c.json;
  }
}

TEST(Cursor, checks_the_range_of_integers) {
  struct Case {
    std::string_view json;
    std::optional<std::int32_t> value;
  };
  const Case cases[] = {{"2147483647", 2147483647},
                        {"-2147483648", -2147483648},
                        {"2147483648", {}},
                        {"9223372036854775808", {}},
                        {"1.0", {}},
                        {"1e3", {}},
                        {"\"1\"", {}}};
  for (const Case& c : cases) {
    Cursor cursor(c.json);
    std::int32_t value = 0;
    EXPECT_EQ(read(cursor, value), c.value.has_value()) << c.json;
    if (c.value) {
      EXPECT_EQ(value, *c.value) << c.json;
    }
  }
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Cursor, passes_over_64_levels_and_no_more) {
  const std::string deepest = nested(64);
  Cursor at_limit(deepest);
  EXPECT_TRUE(at_limit.skip());

  const std::string too_deep = nested(65);
  Cursor over(too_deep);
  EXPECT_FALSE(over.skip());
  EXPECT_EQ(over.take_error().offset(), 64U);
}

TEST(Cursor, counts_levels_that_it_walks_and_levels_that_it_passes_over_together) {
  for (const std::size_t inner : {63U, 64U}) {
    const std::string json = "{\"x\":" + nested(inner) + "}";
    Cursor cursor(json);
    EXPECT_EQ(cursor.object(), inner == 63) << inner;
  }
}

TEST(Cursor, says_where_in_the_tree_the_fault_is) {
  const std::string_view json = R"({"a": {"x/y": [{"n": 1}, {"n": "one"}]}})";
  Cursor cursor(json);
  std::int32_t n = 0;
  const bool good = cursor.object(field("a", [&] {
    return cursor.object(field("x/y", [&] {
      return cursor.items([&](std::size_t) { return cursor.object(field("n", n)); });
    }));
  }));
  ASSERT_FALSE(good);
  const Error error = cursor.take_error();
  EXPECT_EQ(error.field(), "a[\"x/y\"][1].n");
  EXPECT_EQ(error.offset(), json.find("\"one\""));
  EXPECT_EQ(error.message(), "must be a number, not a string");
}

TEST(Cursor, takes_null_as_absent) {
  Cursor cursor(R"({"a": null, "b": null, "c": null})");
  std::string a = "kept";
  std::optional<bool> b;
  std::vector<std::string> c;
  EXPECT_TRUE(cursor.document(field("a", a), field("b", b), field("c", c)));
  EXPECT_EQ(a, "kept");
  EXPECT_FALSE(b.has_value());
  EXPECT_TRUE(c.empty());
}

TEST(Cursor, refuses_a_known_key_twice_and_an_unknown_one_at_the_top_only) {
  std::string a;
  const auto accepts = [&](std::string_view json) {
    Cursor cursor(json);
    return cursor.document(field("a", a), field("o", [&] { return cursor.object(field("a", a)); }));
  };
  EXPECT_TRUE(accepts(R"({"a": "1", "x": 1, "o": {"a": "2", "x": 1, "x": 2}})"));
  EXPECT_FALSE(accepts(R"({"a": "1", "a": "2"})"));
  EXPECT_FALSE(accepts(R"({"a": "1", "\u0061": "2"})"));
  EXPECT_FALSE(accepts(R"({"x": 1, "x": 2})"));
  EXPECT_FALSE(accepts(R"({"o": {"a": "1", "a": "2"}})"));
}

TEST(Cursor, bounds_the_unknown_keys_of_the_top_level) {
  const auto with_keys = [](std::size_t count) {
    std::string json = "{";
    for (std::size_t i = 0; i < count; ++i) {
      json += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
    }
    return json + "}";
  };
  const std::string most = with_keys(kMaxUnknownKeys);
  Cursor good(most);
  EXPECT_TRUE(good.document());
  const std::string more = with_keys(kMaxUnknownKeys + 1);
  Cursor bad(more);
  EXPECT_FALSE(bad.document());
}

TEST(Cursor, keeps_the_first_error) {
  Cursor cursor("[1, 2]");
  std::string out;
  EXPECT_FALSE(read(cursor, out));
  EXPECT_FALSE(cursor.skip());
  EXPECT_FALSE(cursor.end());
  EXPECT_EQ(cursor.take_error().message(), "must be a string, not an array");
}

TEST(PathSegment, quotes_what_is_no_plain_name) {
  EXPECT_EQ(path_segment("containers"), "containers");
  EXPECT_EQ(path_segment("nvidia.com/gpu"), "[\"nvidia.com/gpu\"]");
  EXPECT_EQ(path_segment(""), "[\"\"]");
}

}  // namespace
}  // namespace rankward::formats
