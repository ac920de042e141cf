// Wherever a list is cut, its items and what is left of it are the same.
#include "list_splitter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rankward/formats/objects.hpp"

namespace rankward::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Split {
  bool fits = true;
  std::vector<std::string> items;
  std::string rest;
};

Split split(const std::vector<std::string_view>& pieces, std::size_t longest = 4096) {
  ListSplitter splitter(longest);
  Split out;
  for (const auto piece : pieces) {
    out.fits = out.fits &&
               splitter.feed(piece, [&](std::string_view item) { out.items.emplace_back(item); });
  }
  out.rest = splitter.rest();
  return out;
}

constexpr std::string_view kOne =
    R"({"metadata":{"name":"a\"}]","labels":{"items":"[{"}},"items":[{"x":1},[]],"e":"\\"})";
constexpr std::string_view kTwo = R"({"spec":{"n":"Grüße","deep":[[{}]]}})";

std::string list_of(const std::string& separator) {
  return R"({"kind":"items","metadata":{"resourceVersion":"7","items":[{"no":"item"}]},"items":[)" +
         std::string(kOne) + separator + std::string(kTwo) + R"( ],"tail":["items",{"a":"]"}]})";
}

TEST(ListSplitter, gives_the_same_wherever_the_list_is_cut) {
  const std::string list = list_of(" ,\n");
  const Split whole = split({list});
  EXPECT_THAT(whole.items, ElementsAre(kOne, kTwo));
  EXPECT_EQ(whole.rest,
            R"({"kind":"items","metadata":{"resourceVersion":"7","items":[{"no":"item"}]},)"
            R"("items":[],"tail":["items",{"a":"]"}]})");
  const std::string_view view = list;
  for (std::size_t first = 0; first <= list.size(); ++first) {
    for (const std::size_t length : {0U, 1U, 2U, 17U}) {
      const Split cut = split({view.substr(0, first), view.substr(first, length),
                               view.substr(std::min(first + length, list.size()))});
      ASSERT_EQ(cut.items, whole.items) << first;
      ASSERT_EQ(cut.rest, whole.rest) << first;
    }
  }
}

TEST(ListSplitter, leaves_what_is_no_item_to_the_reader_of_the_rest) {
  for (const std::string_view list :
       {R"({"items":[{"a":1},"text",{"b":2}]})", R"({"items":[{"a":1},7]})",
        R"({"items":[{"a":1},[{}]]})", R"({"items":[{"a":1})", R"(not json)",
        R"({"items":[{}]}})"}) {
    const auto meta = formats::read_list(split({list}).rest, [](std::string_view) -> Result<void> {
      return Error::invalid("must be an object");
    });
    EXPECT_FALSE(meta) << list;
  }
}

TEST(ListSplitter, takes_lists_without_items) {
  EXPECT_THAT(split({R"({"items":null,"metadata":{}})"}).items, IsEmpty());
  EXPECT_EQ(split({R"({"items": [ ]})"}).rest, R"({"items": []})");
  EXPECT_EQ(split({R"({"kind":"Status"})"}).rest, R"({"kind":"Status"})");
}

TEST(ListSplitter, bounds_an_item_and_the_rest) {
  const std::string list = list_of(",");
  EXPECT_TRUE(split({list}, 150).fits);
  EXPECT_FALSE(split({list}, kOne.size() - 1).fits);
  const std::string_view view = list;
  const std::size_t middle = list.find("labels");
  EXPECT_FALSE(split({view.substr(0, middle), view.substr(middle)}, kOne.size() - 1).fits);
  EXPECT_FALSE(split({R"({"items":[],"rest":"0123456789"})"}, 20).fits);
}

}  // namespace
}  // namespace rankward::cluster
