#include "rankward/admission/host_path.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace rankward::admission {
namespace {

struct PathCase {
  const char* written;
  const char* canonical;
};

class CanonicalHostPath : public ::testing::TestWithParam<PathCase> {};

TEST_P(CanonicalHostPath, NamesThePlaceThatTheKernelWouldReach) {
  EXPECT_EQ(canonical_host_path(GetParam().written), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, CanonicalHostPath,
    ::testing::Values(
        PathCase{"/dev/nvidia0", "/dev/nvidia0"}, PathCase{"//dev//nvidia0", "/dev/nvidia0"},
        PathCase{"/dev/./nvidia0", "/dev/nvidia0"}, PathCase{"/dev/nvidia0/", "/dev/nvidia0"},
        PathCase{"dev/nvidia0", "/dev/nvidia0"}, PathCase{"", "/"}, PathCase{"/", "/"},
        PathCase{".", "/"}, PathCase{"/dev/shm/../nvidia1", "/dev/nvidia1"},
        PathCase{"/../../dev", "/dev"}, PathCase{"/var/run/nvidia", "/run/nvidia"},
        PathCase{"/var/run", "/run"}, PathCase{"/var/running", "/var/running"},
        PathCase{"/proc/1/root/dev", "/dev"}, PathCase{"/proc/self/root", "/"},
        PathCase{"/proc/4711/root/var/run/cdi", "/run/cdi"},
        PathCase{"/proc/1/root/proc/self/root/dev/kfd", "/dev/kfd"},
        PathCase{"/proc/thread-self/root/dev", "/dev"},
        PathCase{"/proc/self/task/7/root/dev", "/dev"}, PathCase{"/proc/1/cwd/dev", "/dev"},
        // The kernel's own answer: the parent of the root is the root, that of /run is the root.
        PathCase{"/proc/1/root/../dev/nvidia0", "/dev/nvidia0"},
        PathCase{"/var/run/../dev/nvidia0", "/dev/nvidia0"},
        PathCase{"/proc/1/rootfs", "/proc/1/rootfs"},
        PathCase{"/proc/a/root/dev", "/proc/a/root/dev"}, PathCase{"/DEV/nvidia0", "/DEV/nvidia0"},
        PathCase{"/dev/nvidia0 ", "/dev/nvidia0 "}, PathCase{"/dev/char/195:0", "/dev/char/195:0"},
        PathCase{"/...", "/..."}));

TEST(HostPath, IsLexicallyCleanWithoutResolvingAliases) {
  EXPECT_EQ(lexically_clean("/var/run//cdi/"), "/var/run/cdi");
  EXPECT_EQ(lexically_clean("/proc/1/root/dev"), "/proc/1/root/dev");
  EXPECT_EQ(lexically_clean("a/../../b"), "/b");
}

TEST(HostPath, JoinsSubPaths) {
  EXPECT_EQ(join_sub_path("/dev", "nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(join_sub_path("/", "dev/nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(join_sub_path("/var", "run/cdi"), "/run/cdi");
  EXPECT_EQ(join_sub_path("/proc/1", "root/dev"), "/dev");
  EXPECT_EQ(join_sub_path("/data", "../dev"), "/dev");
}

TEST(HostPath, ComparesWholeSegments) {
  EXPECT_TRUE(is_within("/dev", "/dev"));
  EXPECT_TRUE(is_within("/dev/nvidia0", "/dev"));
  EXPECT_TRUE(is_within("/dev", "/"));
  EXPECT_FALSE(is_within("/devices-data", "/dev"));
  EXPECT_FALSE(is_within("/dev", "/dev/nvidia0"));
}

TEST(HostPath, CleaningTwiceChangesNothing) {
  constexpr const char* kParts[] = {"/",   "//", "dev", "proc", "self", "1",       "root", "var",
                                    "run", "..", ".",   "task", "cwd",  "nvidia0", "\xff", " "};
  std::mt19937 random(20);
  for (int round = 0; round < 20000; ++round) {
    std::string path;
    const auto length = random() % 14;
    for (std::size_t i = 0; i < length; ++i) {
      path += kParts[random() % std::size(kParts)];
      if (random() % 2 == 0) path += '/';
    }
    const std::string once = canonical_host_path(path);
    ASSERT_EQ(canonical_host_path(once), once) << path;
    ASSERT_EQ(lexically_clean(once), once) << path;
    ASSERT_EQ(lexically_clean(lexically_clean(path)), lexically_clean(path)) << path;
    ASSERT_EQ(once.front(), '/') << path;
  }
}

TEST(HostPath, CleansHugePathsInOneWalk) {
  std::string path;
  while (path.size() < 3'000'000)
    path += "/proc/1/root";
  EXPECT_EQ(canonical_host_path(path), "/");
}

}  // namespace
}  // namespace rankward::admission
