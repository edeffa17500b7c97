#include "debug/repeated_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/error.h"

namespace assay::debug::repeated_check_test {
namespace {

constexpr auto kPass = AnswerKind::kPass, kFailure = AnswerKind::kFailure, kOther = AnswerKind::kOtherFailure;

/// Gives these answers one after the other, then the last one for ever.
class Scripted final : public Check {
 public:
  explicit Scripted(std::vector<AnswerKind> kinds, size_t& made) : kinds_(std::move(kinds)), made_(made) {}
  Answer check(const std::string&, SearchObserver&) override {
    const AnswerKind kind = kinds_[std::min(made_++, kinds_.size() - 1)];
    return {.kind = kind, .failure = kind == kPass ? "" : kind == kFailure ? "it" : "another"};
  }

 private:
  std::vector<AnswerKind> kinds_;
  size_t& made_;
};

Answer answer(const std::vector<AnswerKind>& kinds, int runs, std::optional<int> sought = {}) {
  size_t made = 0;
  RepeatedCheck check(std::make_unique<Scripted>(kinds, made), runs);
  if (sought) check.look_for_rate(*sought, runs);
  SearchObserver observer;
  const Answer a = check.check("", observer);
  EXPECT_EQ(static_cast<size_t>(a.runs), made);
  return a;
}

TEST(RepeatedCheck, ACheckThatFlipsIsFlaky) {
  EXPECT_EQ(answer({kPass}, 4).kind, kPass);
  EXPECT_EQ(answer({kFailure}, 4).kind, kFailure);
  EXPECT_EQ(answer({kFailure}, 4).failed_runs, 4);
  const Answer flips = answer({kPass, kOther, kFailure, kPass}, 4);
  EXPECT_EQ(flips.kind, AnswerKind::kFlaky);
  EXPECT_EQ(flips.failed_runs, 2);
  EXPECT_EQ(flips.failure, "it") << "the sought failure, not the first";
  EXPECT_EQ(answer({kOther, kFailure}, 2).kind, AnswerKind::kFlaky);
}

TEST(RepeatedCheck, WhatIsRareIsLookedForLonger) {
  // One of four fails: 1 % of candidates that fail as often pass 17 times.
  EXPECT_EQ(answer({kPass}, 4, 1).runs, 17);
  EXPECT_EQ(answer({kPass, kPass, kPass, kPass, kPass, kFailure, kPass}, 4, 1).runs, 6);
  EXPECT_EQ(answer({kPass, kPass, kPass, kPass, kPass, kFailure, kPass}, 4, 1).kind, AnswerKind::kFlaky);
  EXPECT_EQ(answer({kFailure}, 4, 1).runs, 1);
  EXPECT_EQ(answer({kPass}, 4, 4).runs, 4) << "what fails always is not rare";
}

TEST(RepeatedCheck, OfAFlakyFailureOneThatIsAlwaysThereIsTheSame) {
  const Answer flaky = answer({kFailure, kPass}, 3), always = answer({kFailure}, 3),
               never = answer({kPass}, 3);
  EXPECT_TRUE(shows_failure(flaky, flaky));
  EXPECT_TRUE(shows_failure(always, flaky));
  EXPECT_FALSE(shows_failure(never, flaky));
  EXPECT_FALSE(shows_failure(flaky, always)) << "it would be another one";
  EXPECT_FALSE(shows_failure(never, never));
  // Of results that differ from run to run, wrong ones that do not are something else.
  EXPECT_FALSE(shows_failure({.kind = kFailure}, {.kind = AnswerKind::kFlaky}));
}

TEST(RepeatedCheck, ItsRateIsKept) {
  const Answer flips = answer({kFailure, kPass}, 3);
  const Answer read = answer_from_text(answer_text(flips));
  EXPECT_EQ(read.kind, AnswerKind::kFlaky);
  EXPECT_EQ(read.runs, 3);
  EXPECT_EQ(read.failed_runs, 1);
}

}  // namespace
}  // namespace assay::debug::repeated_check_test
