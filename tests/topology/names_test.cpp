#include <gtest/gtest.h>

#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {
namespace {

TEST(PathTypes, ReadWhatTheyPrint) {
  for (int i = 0; i <= static_cast<int>(PathType::kUnknown); ++i) {
    const auto path = static_cast<PathType>(i);
    EXPECT_EQ(path_type(to_string(path)), path) << to_string(path);
  }
}

TEST(PathTypes, RefuseOtherWords) {
  for (const char* text : {"", "NV18", "pix", "PIX ", "CNS", "OK", "N/A"}) {
    EXPECT_EQ(path_type(text), std::nullopt) << text;
  }
}

TEST(PathTypes, AreOrderedByDistance) {
  EXPECT_LT(PathType::kNvLink, PathType::kPix);
  EXPECT_LT(PathType::kPix, PathType::kPxb);
  EXPECT_LT(PathType::kPxb, PathType::kPhb);
  EXPECT_LT(PathType::kPhb, PathType::kNode);
  EXPECT_LT(PathType::kNode, PathType::kSys);
  EXPECT_LT(PathType::kSys, PathType::kUnknown);
}

TEST(Transports, HaveDistinctNames) {
  EXPECT_EQ(to_string(Transport::kInfiniBand), "InfiniBand");
  EXPECT_EQ(to_string(Transport::kRoce), "RoCE");
  EXPECT_EQ(to_string(Transport::kEfa), "EFA");
  EXPECT_EQ(to_string(Transport::kTcpx), "TCPX");
  EXPECT_EQ(to_string(Transport::kSocket), "Socket");
  EXPECT_EQ(to_string(Transport::kUnknown), "unknown");
}

}  // namespace
}  // namespace rankward::topology
