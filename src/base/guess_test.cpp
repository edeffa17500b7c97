#include "base/guess.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"

namespace assay::guess_test {
namespace {

struct Refusing {
  Refusing() { diag::refuse_guesses(true); }
  ~Refusing() { diag::refuse_guesses(false); }
};

TEST(Guess, IsAWarning) {
  const log::Capture capture;
  diag::guess("the shape of '{}' is taken to be {}", "x", 1);
  diag::guess_once("once");
  diag::guess_once("once");
  EXPECT_EQ(capture.out(), "[W] the shape of 'x' is taken to be 1\n[W] once\n");
}

TEST(Guess, IsAnErrorWhereGuessesAreRefused) {
  const log::Capture capture;
  const Refusing refusing;
  EXPECT_TRUE(diag::guesses_are_refused());
  try {
    diag::guess("the shape of '{}' is not known.\nIt is taken to be 1. ", "x");
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(e.what(), "A guess is refused: the shape of 'x' is not known. It is taken to be 1.");
  }
  EXPECT_EQ(capture.out(), "");
}

}  // namespace
}  // namespace assay::guess_test
