#include "rankward/net/percent_encoding.hpp"

#include <gtest/gtest.h>

namespace rankward::net {
namespace {

TEST(PercentEncoding, KeepsWhatRfc3986CallsUnreservedAndNothingElse) {
  EXPECT_EQ(percent_encoded("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encoded("spec.nodeName!=,a=b c%/?#"),
            "spec.nodeName%21%3D%2Ca%3Db%20c%25%2F%3F%23");
  EXPECT_EQ(percent_encoded(std::string_view("\0\x7f\xc3\xa4", 4)), "%00%7F%C3%A4");
}

TEST(PercentEncoding, KeepsWhatTheCallerSaysIsPlain) {
  EXPECT_EQ(percent_encoded("a/b c", [](char c) { return c == '/' || is_unreserved(c); }),
            "a/b%20c");
}

}  // namespace
}  // namespace rankward::net
