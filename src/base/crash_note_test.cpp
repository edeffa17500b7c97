#include "base/crash_note.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace assay {
namespace {

TEST(CrashNote, SaysWhoCrashedOnAnyThread) {
  EXPECT_EXIT(
      {
        const CrashNote note("While a library ran 'x'", "Leave it out.");
        std::thread([] { std::raise(SIGSEGV); }).join();
      },
      testing::ExitedWithCode(1),
      "\\[!\\] While a library ran 'x': it crashed \\(segmentation fault\\)\\. Leave it out\\.");
}

TEST(CrashNote, TheInnerOneSpeaksAndTheOuterOneAfterIt) {
  const auto crash = [](bool inside) {
    const CrashNote outer("outer", "");
    {
      const CrashNote inner("inner", "");
      if (inside) std::abort();
    }
    std::abort();
  };
  EXPECT_EXIT(crash(true), testing::ExitedWithCode(1), "inner: it crashed \\(abort\\)");
  EXPECT_EXIT(crash(false), testing::ExitedWithCode(1), "outer: it crashed");
}

TEST(CrashNote, WithoutOneSignalsMeanWhatTheyDid) {
  EXPECT_EXIT(
      {
        { const CrashNote note("gone", ""); }
        std::raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace assay
