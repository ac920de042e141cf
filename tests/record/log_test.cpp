#include "rankward/record/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/record/decision.hpp"

namespace rankward::record {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// What `write` puts on stderr, in this format.
template <class Write>
std::string logged(LogOptions options, const Write& write) {
  ::testing::internal::CaptureStderr();
  {
    Log log(options);
    write(log);
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, WritesOneJsonObjectALineWithKlogsKeys) {
  const std::string text = logged({.format = LogFormat::kJson}, [](Log& log) {
    log.info(0, "ready", {{"node", std::string_view("a\"b")}, {"count", std::int64_t{3}}});
  });
  EXPECT_THAT(
      text,
      MatchesRegex(
          "\\{\"ts\":[0-9.e+]+,\"v\":0,\"msg\":\"ready\",\"node\":\"a\\\\\"b\",\"count\":3\\}\n"));
}

TEST(Log, AnErrorHasErrAndNoVerbosity) {
  const std::string text = logged({.format = LogFormat::kJson},
                                  [](Log& log) { log.error("cannot start", "port in use"); });
  EXPECT_THAT(text, AllOf(HasSubstr("\"err\":\"port in use\""), Not(HasSubstr("\"v\""))));
}

TEST(Log, TextLooksLikeKlog) {
  const std::string text = logged({.format = LogFormat::kText}, [](Log& log) {
    log.warning("late", {{"pod", std::string_view("ns/p")}});
  });
  EXPECT_THAT(text, MatchesRegex("W[0-9]+ [0-9:.]+ rankward\\] \"late\" pod=\"ns/p\"\n"));
}

TEST(Log, LinesAboveTheVerbosityAreNotWritten) {
  const auto write = [](Log& log) { log.info(2, "detail"); };
  EXPECT_EQ(logged({.verbosity = 1, .format = LogFormat::kJson}, write), "");
  EXPECT_THAT(logged({.verbosity = 2, .format = LogFormat::kJson}, write), HasSubstr("detail"));
}

TEST(Decision, NamesThePodTheRejectsByCodeAndTheBestNodes) {
  Decision decision;
  decision.verb = "filter";
  decision.pod = "team-a/train-0";
  decision.candidates = 3;
  decision.fits = 1;
  decision.rejects[static_cast<std::size_t>(placement::ReasonCode::kMemoryTooSmall)] = 2;
  decision.best.push_back(
      {.name = "n-0", .score = 10, .seconds = 0.5, .bottleneck = "GPU0-GPU1 SYS"});
  const std::string text =
      logged({.format = LogFormat::kJson}, [&](Log& log) { write(log, decision); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("\"msg\":\"decision\""), HasSubstr("\"pod\":\"team-a/train-0\""),
                    HasSubstr("\"rejects\":{\"MemoryTooSmall\":2}"),
                    HasSubstr("\"node\":\"n-0\",\"score\":10"),
                    HasSubstr("\"bottleneck\":\"GPU0-GPU1 SYS\"")));
}

TEST(Decision, AnUnmanagedPodIsADetail) {
  Decision decision;
  decision.managed = false;
  EXPECT_EQ(logged({.format = LogFormat::kJson}, [&](Log& log) { write(log, decision); }), "");
}

}  // namespace
}  // namespace rankward::record
