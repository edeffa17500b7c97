#include "assay/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace assay {
namespace {

TEST(InterruptHooks, NobodyAsksWithoutOne) {
  EXPECT_FALSE(has_interrupt_hook());
  EXPECT_FALSE(is_interrupted());
  EXPECT_NO_THROW(stop_if_interrupted());
}

TEST(InterruptHooks, TheInnermostOfTheThreadCounts) {
  bool ends = false;
  const InterruptHook outer([] { return true; });
  EXPECT_THROW(stop_if_interrupted(), Interrupted);
  {
    const InterruptHook inner([&] { return ends; });
    EXPECT_NO_THROW(stop_if_interrupted());
    ends = true;
    EXPECT_THROW(stop_if_interrupted(), Interrupted);
    std::thread([] { EXPECT_FALSE(has_interrupt_hook()); }).join();
  }
  EXPECT_TRUE(is_interrupted());
  {
    const InterruptShield shield;
    EXPECT_FALSE(has_interrupt_hook());
    EXPECT_NO_THROW(stop_if_interrupted());
  }
  EXPECT_TRUE(is_interrupted());
}

}  // namespace
}  // namespace assay
