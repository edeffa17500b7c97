#include "cli/interrupt_request.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace assay::cli {
namespace {

TEST(InterruptRequestDeath, TheFirstSignalAsksAndTheSecondEnds) {
  EXPECT_EXIT(
      {
        const InterruptRequest request;
        if (is_interrupted() || request.settle() != 0) std::exit(1);
        ::raise(SIGTERM);
        if (!is_interrupted() || request.settle() != SIGTERM) std::exit(2);
        ::raise(SIGTERM);
        std::exit(3);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptRequestDeath, EndsByTheSignalWhenAsked) {
  EXPECT_EXIT(
      {
        const InterruptRequest request;
        ::raise(SIGINT);
        request.end_by(request.settle());
        std::exit(1);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptRequestDeath, WorkWithoutANextStepIsEnded) {
  EXPECT_EXIT(
      {
        const InterruptRequest request;
        ::raise(SIGINT);
        for (;;) ::pause();
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptRequestDeath, WhatIsIgnoredStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        const InterruptRequest request;
        ::raise(SIGINT);
        std::exit(is_interrupted() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptRequestDeath, SignalsDoAsBeforeAfterwards) {
  EXPECT_EXIT(
      {
        { const InterruptRequest request; }
        ::raise(SIGTERM);
        std::exit(1);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace assay::cli
