#include "rankward/formats/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document_tree.hpp"

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Document> documents_of(std::string_view text) {
  auto documents = read_documents(text, "test.yaml");
  EXPECT_TRUE(documents) << text << (documents ? "" : documents.error().to_string());
  return documents ? *std::move(documents) : std::vector<Document>();
}

std::string json_of(std::string_view text) {
  const auto documents = documents_of(text);
  EXPECT_EQ(documents.size(), 1U) << text;
  return documents.empty() ? "" : documents.front().json;
}

Error error_of(std::string_view text) {
  const auto documents = read_documents(text, "test.yaml");
  EXPECT_FALSE(documents) << text;
  return documents ? Error::invalid("") : documents.error();
}

TEST(Documents, reads_many_documents) {
  const auto documents = documents_of(
      "# a comment\n"
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: team-a\n"
      "---\n---\n# nothing\n---\n"
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {generateName: b-}\n...\n");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].api_version, "v1");
  EXPECT_EQ(documents[0].kind, "Pod");
  EXPECT_EQ(documents[0].name, "a");
  EXPECT_EQ(documents[0].namespace_, "team-a");
  EXPECT_EQ(documents[0].line, 2U);
  EXPECT_EQ(documents[0].json,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"team-a"}})");
  EXPECT_EQ(documents[1].kind, "Deployment");
  EXPECT_EQ(documents[1].name, "b-");
  EXPECT_EQ(documents[1].line, 11U);
}

TEST(Documents, an_empty_file_has_none) {
  for (const std::string_view text : {"", "\n", "# only this\n", "---\n", "null\n"}) {
    EXPECT_THAT(documents_of(text), IsEmpty()) << text;
  }
}

TEST(Documents, replaces_lists_by_their_items) {
  const auto documents = documents_of(
      "apiVersion: v1\nkind: List\nitems:\n"
      "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n"
      "- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Node}\n"
      "---\napiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: c}\n"
      "---\napiVersion: v1\nkind: PodList\nitems: null\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].name, "a");
  EXPECT_EQ(documents[0].line, 4U);
  EXPECT_EQ(documents[0].line_of("metadata.name"), 6U);
  EXPECT_EQ(documents[1].kind, "Node");
  EXPECT_EQ(documents[2].kind, "Node");
  EXPECT_EQ(documents[2].api_version, "v1");
  EXPECT_EQ(documents[2].name, "c");
}

TEST(Documents, reads_json_values_one_after_the_other) {
  const auto documents = documents_of(
      "{\"kind\": \"Pod\",\n \"x\": [1.50, true,\n null, \"\\u00e9\"]}\n{\"kind\":\"Node\"}");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].json, "{\"kind\":\"Pod\",\"x\":[1.50,true,null,\"\xC3\xA9\"]}");
  EXPECT_EQ(documents[0].line_of("x[2]"), 3U);
  EXPECT_EQ(documents[1].line, 4U);
}

TEST(Documents, reads_yaml_that_begins_with_a_brace) {
  EXPECT_EQ(json_of("{kind: Pod, x: yes}"), R"({"kind":"Pod","x":true})");
}

TEST(Documents, finds_the_lines_of_fields) {
  const auto documents = documents_of(
      "kind: Pod\n"                                   // 1
      "metadata:\n"                                   // 2
      "  annotations:\n"                              // 3
      "    example.com/a.b: c\n"                      // 4
      "spec:\n"                                       // 5
      "  containers:\n"                               // 6
      "  - name: a\n"                                 // 7
      "  - name: b\n"                                 // 8
      "    env:\n"                                    // 9
      "    - {name: X, value: all}\n"                 // 10
      "    - name: Y\n"                               // 11
      "      value: |\n        two\n        lines\n"  // 12
      "  hostPID: true\n");                           // 15
  ASSERT_EQ(documents.size(), 1U);
  struct Case {
    std::string_view path;
    std::optional<std::size_t> line;
  };
  const Case cases[] = {{"kind", 1},
                        {"metadata.annotations[\"example.com/a.b\"]", 4},
                        {"spec.containers[0]", 7},
                        {"spec.containers[1].name", 8},
                        {"spec.containers[1].env[0].value", 10},
                        {"spec.containers[1].env[1].value", 12},
                        {"spec.hostPID", 15},
                        // Deepest part that is there.
                        {"spec.containers[1].env[7].value", 10},
                        {"spec.containers[1].securityContext.privileged", 8},
                        {"status.phase", {}},
                        {"", {}},
                        {"[", {}},
                        {"[\"", {}},
                        {"..", {}}};
  for (const Case& c : cases)
    EXPECT_EQ(documents[0].line_of(c.path), c.line) << c.path;
}

TEST(Documents, writes_aliases_out_and_merges) {
  EXPECT_EQ(json_of("a: &x {k: 1}\nb: *x\nc: [*x, *x]\n"),
            R"({"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}]})");
  EXPECT_EQ(json_of("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n  m: 4\n"),
            R"({"a":{"k":1,"l":2},"b":{"k":1,"l":3,"m":4}})");
  EXPECT_EQ(json_of("a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc:\n  <<: [*x, *y]\n"),
            R"({"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2}})");
  EXPECT_EQ(json_of("a: {\"<<\": 1}\n"), R"({"a":{"<<":1}})");
}

TEST(Documents, anchors_end_with_their_document) {
  EXPECT_EQ(error_of("a: &x 1\n---\nb: *x\n").line(), 3U);
}

struct BrokenCase {
  std::string_view text;
  std::size_t line;
  std::string_view message;
};

TEST(Documents, says_in_which_line_a_file_is_broken) {
  const BrokenCase cases[] = {
      {"a: 1\nb: [1\n", 3, "is not YAML"},
      {"a: 1\n b: 2\n", 2, "is not YAML"},
      {"a: 1\n\tb: 2\n", 2, "is not YAML"},
      {"a: 1\na: 2\n", 2, "must not have the key \"a\" twice"},
      {"a:\n  1: x\n  \"1\": y\n", 3, "must not have the key \"1\" twice"},
      {",k", 1, "is not YAML"},
      {"a: 1\n---\n]\n", 3, "is not YAML"},
      {"just text\n", 1, "must be an object"},
      {"- kind: Pod\n", 1, "must be an object"},
      {"kind: List\nitems:\n- text\n", 3, "must be an object"},
      {"a: 1\n? [b]\n: c\n", 2, "must have plain keys"},
      {"a: 1\n? {b: 1}\n: c\n", 2, "must have plain keys"},
      {"a: 1\n~: c\n", 2, "must have a key that is not null"},
      {"a: *x\n", 1, "is not YAML"},
      {"a: &x [1,\n *x]\n", 2, "is an alias to what it stands in"},
      {"a: .inf\n", 1, "must be finite"},
      {"a: !!binary aGk=\n", 1, "must be written as text"},
      {"a: &x {k: 1}\nb:\n  k: 2\n  <<: *x\n", 4, "must have \"<<\" before the key \"k\""},
      {"a: 1\nb:\n  <<: 7\n", 3, "must give \"<<\" a mapping"},
      {"a: 1\nb: \"\xFF\"\n", 2, "must be UTF-8"},
      {"{\"a\": 1,\n\"a\": 2}", 2, "must not be given twice"},
      {"{\"a\": 1,\n\"b\": tru]}", 2, "is not JSON"},
  };
  for (const BrokenCase& c : cases) {
    const Error error = error_of(c.text);
    EXPECT_EQ(error.line(), c.line) << c.text << error.to_string();
    EXPECT_THAT(error.message(), HasSubstr(c.message)) << c.text;
    EXPECT_EQ(error.source(), "test.yaml") << c.text;
  }
}

TEST(Documents, a_template_that_was_not_rendered_is_told_so) {
  const BrokenCase cases[] = {
      {"apiVersion: v1\n{{- if .Values.gpu }}\nkind: Pod\n{{- end }}\n", 2, "rendered"},
      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", 4, "rendered"},
      {"{{ include \"x\" . }}\n", 1, "rendered"},
  };
  for (const BrokenCase& c : cases) {
    const Error error = error_of(c.text);
    EXPECT_EQ(error.line(), c.line) << c.text << error.to_string();
    EXPECT_THAT(error.message(), HasSubstr(c.message)) << c.text;
  }
}

TEST(Documents, nested_64_levels_and_no_more) {
  const auto nested = [](std::size_t depth) {
    return "a: " + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "\n";
  };
  EXPECT_TRUE(read_documents(nested(64), "f"));
  EXPECT_THAT(error_of(nested(65)).message(), HasSubstr("64 levels"));
  EXPECT_THAT(error_of(nested(10'000)).message(), HasSubstr("64 levels"));
  // By aliases: each level holds the one before it.
  std::string by_alias = "a0: &a0 [1]\n";
  for (int i = 1; i < 70; ++i) {
    const std::string n = std::to_string(i);
    by_alias += "a" + n + ": &a" + n + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(error_of(by_alias).message(), HasSubstr("64 levels"));
}

TEST(Documents, a_billion_laughs_are_refused) {
  std::string laughs = "a0: &a0 [ha,ha,ha,ha,ha,ha,ha,ha,ha,ha]\n";
  std::string lists = "kind: List\nitems:\n- &a0 {kind: List, items: []}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string n = std::to_string(i);
    const std::string alias = "*a" + std::to_string(i - 1);
    std::string ten = alias;
    for (int j = 1; j < 10; ++j)
      ten += "," + alias;
    laughs += "a" + n + ": &a" + n + " [" + ten + "]\n";
    lists += "- &a" + n + " {kind: List, items: [" + ten + "]}\n";
  }
  for (const std::string& text : {laughs, lists}) {
    EXPECT_EQ(error_of(text).kind(), ErrorKind::kTooLarge) << text.substr(0, 20);
  }
}

// The verdicts of go-yaml v2 in sigs.k8s.io/yaml, read off goyaml.v2/resolve.go.
TEST(PlainScalar, resolves_as_kubernetes_yaml_does) {
  struct Case {
    std::string_view yaml;
    std::string_view json;
  };
  const Case cases[] = {
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"Y", "true"},
      {"false", "false"},
      {"no", "false"},
      {"OFF", "false"},
      {"n", "false"},
      {"tRUE", "\"tRUE\""},
      {"yEs", "\"yEs\""},
      {"~", "null"},
      {"null", "null"},
      {"NULL", "null"},
      {"nULL", "\"nULL\""},
      {"8", "8"},
      {"+8", "8"},
      {"-8", "-8"},
      {"-0", "0"},
      {"1_000", "1000"},
      {"010", "8"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"-0x1F", "-31"},
      {"0b11", "3"},
      {"08", "8"},
      {"8.0", "8"},
      {"8e0", "8"},
      {"1e3", "1000"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"5.", "5"},
      {"+.5", "0.5"},
      {"-1.5e-3", "-0.0015"},
      {"1e400", "\"1e400\""},
      {"1e-400", "0"},
      {"8Gi", "\"8Gi\""},
      {"500m", "\"500m\""},
      {"1.2.3", "\"1.2.3\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"12:30", "\"12:30\""},
      {"0x", "\"0x\""},
      {".", "\".\""},
      {"+", "\"+\""},
      {"0x8_0", "128"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709551616"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"all", "\"all\""},
      {"void", "\"void\""},
      {"none", "\"none\""},
      {"=", "\"=\""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(json_of("k: " + std::string(c.yaml) + "\n"), "{\"k\":" + std::string(c.json) + "}");
  }
}

TEST(PlainScalar, quotes_and_tags_make_strings) {
  EXPECT_EQ(json_of("a: \"8\"\nb: 'yes'\nc: !!str 8\nd: |\n  8\ne: >-\n  true\nf: ''\ng:\n"),
            R"({"a":"8","b":"yes","c":"8","d":"8\n","e":"true","f":"","g":null})");
}

TEST(PlainScalar, keys_are_strings_whatever_they_look_like) {
  EXPECT_EQ(json_of("8: a\nyes: b\n1.50: c\n"), R"({"8":"a","true":"b","1.5":"c"})");
}

}  // namespace
}  // namespace rankward::formats
