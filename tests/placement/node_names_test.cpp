#include "node_names.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace rankward::placement {
namespace {

TEST(NodeNames, FindsNothingAmongNone) {
  NodeNames names;
  EXPECT_FALSE(names.find("a"));
  EXPECT_FALSE(names.find("a", 0));
  names.close();
  EXPECT_FALSE(names.find(""));
  EXPECT_FALSE(names.find("a", 0));
}

// Against a map, over names of every length, many of which begin or end alike.
TEST(NodeNames, FindsEachNameWhateverIsGuessedAndNoOther) {
  std::mt19937 random(4);
  for (const int count : {1, 2, 3, 7, 64, 1000}) {
    std::map<std::string, std::uint32_t> expected;
    while (static_cast<int>(expected.size()) < count) {
      expected.emplace(std::string(random() % 40, 'n') + std::to_string(random() % 2000), 0);
    }
    NodeNames names;
    std::uint32_t next = 0;
    for (auto& [name, number] : expected) {
      number = next++;
      names.add(name);
    }
    names.close();
    for (const auto& [name, number] : expected) {
      EXPECT_EQ(names.find(name), number);
      for (const std::uint32_t guess : {number, number + 1, 0U, UINT32_MAX})
        EXPECT_EQ(names.find(name, guess), number) << name;
      for (const std::string& other : {name + "x", name.substr(1), "x" + name}) {
        const auto known = expected.find(other);
        const auto found = names.find(other, number);
        EXPECT_EQ(found.has_value(), known != expected.end()) << other;
      }
    }
  }
}

}  // namespace
}  // namespace rankward::placement
