#include "base/signal_stack.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

namespace assay {
namespace {

stack_t current_stack() {
  stack_t now = {};
  ::sigaltstack(nullptr, &now);
  return now;
}

const void* handler_ran_at = nullptr;

TEST(SignalStack, EachThreadGetsOne) {
  std::thread([] {
    ASSERT_NE(current_stack().ss_flags & SS_DISABLE, 0);
    use_signal_stack();
    const stack_t ours = current_stack();
    ASSERT_EQ(ours.ss_flags & SS_DISABLE, 0);
    struct sigaction action = {}, before = {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) {
      const char here = 0;
      handler_ran_at = &here;
    };
    ::sigaction(SIGUSR1, &action, &before);
    ::pthread_kill(::pthread_self(), SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
    const auto* start = static_cast<const char*>(ours.ss_sp);
    EXPECT_GE(handler_ran_at, start);
    EXPECT_LT(handler_ran_at, start + ours.ss_size);
  }).join();
}

TEST(SignalStack, AThreadKeepsItsOwn) {
  std::thread([] {
    static char own[64 << 10];
    const stack_t set = {.ss_sp = own, .ss_flags = 0, .ss_size = sizeof own};
    ::sigaltstack(&set, nullptr);
    use_signal_stack();
    EXPECT_EQ(current_stack().ss_sp, own);
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&none, nullptr);
  }).join();
}

}  // namespace
}  // namespace assay
