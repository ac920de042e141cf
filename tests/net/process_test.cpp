#include "rankward/net/process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <thread>

namespace rankward::net {
namespace {

TEST(SignalWaiter, GivesSignalsAsValuesAndRestoresTheMask) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    SignalWaiter waiter;
    EXPECT_FALSE(waiter.wait_for(std::chrono::milliseconds(5)));
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      ::kill(::getpid(), number);
      EXPECT_EQ(waiter.wait_for(std::chrono::seconds(5)), number);
    }
    std::thread sender([] { ::kill(::getpid(), SIGTERM); });
    EXPECT_EQ(waiter.wait(), SIGTERM);
    sender.join();
  }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
}

}  // namespace
}  // namespace rankward::net
