// docs/rules.md against the catalogue.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "pods.hpp"
#include "rankward/admission/rules.hpp"

namespace rankward::admission {
namespace {

std::string page() {
  std::ifstream file(RANKWARD_SOURCE_DIR "/docs/rules.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The section of a rule: from its heading to the next one; "" where there is none.
std::string section(const std::string& text, const RuleInfo& info) {
  const std::string heading = "\n## " + std::string(info.id) + "\n";
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find("\n## ", begin + 1);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

// Line breaks of the page do not matter.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

TEST(RulesPage, ExplainsEveryRule) {
  const std::string text = page();
  ASSERT_FALSE(text.empty());
  for (const RuleInfo& info : catalogue()) {
    const std::string found = on_one_line(section(text, info));
    ASSERT_FALSE(found.empty()) << info.id;
    EXPECT_NE(found.find(info.title), std::string::npos) << info.id << ": " << info.title;
    EXPECT_NE(found.find(info.why), std::string::npos) << info.id << ": " << info.why;
    EXPECT_NE(found.find(info.fix), std::string::npos) << info.id << ": " << info.fix;
    EXPECT_NE(found.find("Turn it off"), std::string::npos) << info.id;
  }
}

TEST(RulesPage, HasALineInTheTableForEveryRule) {
  const std::string text = page();
  for (const RuleInfo& info : catalogue()) {
    std::string mode(to_string(info.default_mode));
    if (info.milder_mode != info.default_mode)
      mode.append(" or ").append(to_string(info.milder_mode));
    if (info.id == "EPH-01") mode = "as the rule";  // it only caps the others
    const std::string line = "| [" + std::string(info.id) + "](#" + info.anchor() + ") | " +
                             std::string(info.title) + " | " + mode + " |";
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(RulesPage, ExplainsNoRuleThatIsNotThere) {
  std::istringstream lines(page());
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("## ", 0) != 0) continue;
    const std::string id = line.substr(3);
    const bool looks_like_a_rule =
        id.size() >= 5 && id.find('-') != std::string::npos && id.find(' ') == std::string::npos;
    if (looks_like_a_rule) {
      EXPECT_NE(find_rule(id), nullptr) << id;
    }
  }
}

TEST(Catalogue, IsFitToBeRead) {
  std::set<std::string_view> ids;
  for (const RuleInfo& info : catalogue()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_GE(info.default_mode, info.milder_mode) << info.id;
    EXPECT_EQ(info.why.back(), '.') << info.id;
    EXPECT_EQ(info.fix.back(), '.') << info.id;
    EXPECT_LE(info.why.size() + info.fix.size(), 400u) << info.id;
  }
}

}  // namespace
}  // namespace rankward::admission
