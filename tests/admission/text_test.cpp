#include "text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rankward::admission {
namespace {

TEST(Quoted, EscapesWhatATerminalWouldAct) {
  EXPECT_EQ(in_quotes("all"), "\"all\"");
  EXPECT_EQ(in_quotes("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(in_quotes("\x1b[2J\n"), "\"\\x1b[2J\\x0a\"");
  EXPECT_EQ(in_quotes("\xc3\xa4"), "\"\\xc3\\xa4\"");
  EXPECT_EQ(in_quotes(std::string("a\0b", 3)), "\"a\\x00b\"");
}

TEST(Quoted, CutsLongValues) {
  EXPECT_EQ(in_quotes(std::string(64, 'x')), "\"" + std::string(64, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(65, 'x')), "\"" + std::string(64, 'x') + "...\"");
}

TEST(Glob, StarStandsForAnyCharacters) {
  EXPECT_TRUE(matches_glob("nvidia*", "nvidia"));
  EXPECT_TRUE(matches_glob("nvidia*", "nvidia-uvm-tools"));
  EXPECT_FALSE(matches_glob("nvidia*", "anvidia"));
  EXPECT_TRUE(matches_glob("kata-*-gpu*", "kata-qemu-nvidia-gpu-snp"));
  EXPECT_FALSE(matches_glob("kata-*-gpu*", "kata-qemu"));
  EXPECT_TRUE(matches_glob("*.noderesource.dev", "cdi-devices.noderesource.dev"));
  EXPECT_FALSE(matches_glob("*.noderesource.dev", "noderesource.dev"));
  EXPECT_TRUE(matches_glob("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches_glob("a*b*c", "a-c-b"));
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_FALSE(matches_glob("", "x"));
}

}  // namespace
}  // namespace rankward::admission
