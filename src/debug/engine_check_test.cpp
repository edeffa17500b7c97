#include "debug/engine_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "assay/builder.h"
#include "assay/error.h"
#include "debug/engine_search_test_util.h"

namespace assay::debug::engine_check_test {
namespace {

std::shared_ptr<Model> network(const std::string& op) {
  return ChainBuilder(Shape{2, 3}).node(op, "n").done();
}

std::shared_ptr<Engine> engine_of(const std::shared_ptr<Model>& model) {
  return Builder(Runtime({.threads = 1})).build_engine(model, {.optimization_level = 0});
}

/// What is said of an engine in the place of one for Sin.
Answer answer_to(const std::function<std::shared_ptr<Engine>()>& build, std::optional<AccuracyGoal> goal = {},
                 double timeout_seconds = 0) {
  EngineCheck check({.model = network("Sin"), .runs = 2, .timeout_seconds = timeout_seconds, .goal = goal},
                    LoaderCache(DataLoader(DataLoaderOptions{}, DataLoader::Report::kNo)));
  check.take(build);
  SearchObserver observer;
  return check.check("", observer);
}

TEST(EngineCheck, JudgesByTheVerdictOrByAnAccuracy) {
  const auto right = [] { return engine_of(network("Sin")); };
  const auto wrong = [] { return engine_of(network("Cos")); };
  EXPECT_TRUE(answer_to(right).passed());
  EXPECT_TRUE(answer_to(right).measures.empty());
  const Answer failed = answer_to(wrong);
  EXPECT_EQ(failed.kind, AnswerKind::kFailure);
  EXPECT_EQ(failed.failure, "the output 'n/y' is wrong");
  const AccuracyGoal goal = AccuracyGoal::parse("60dB");
  const Answer measured = answer_to(right, goal);
  EXPECT_TRUE(measured.passed());
  EXPECT_GT(measured.measures.at("decibels"), 100);
  EXPECT_GT(measured.measures.at("milliseconds"), 0);
  EXPECT_EQ(answer_to(wrong, goal).kind, AnswerKind::kFailure);
  EXPECT_LT(answer_to(wrong, goal).measures.at("decibels"), 20);
}

TEST(EngineCheck, AChildThatDiesIsAnAnswer) {
  const Answer crash = answer_to([]() -> std::shared_ptr<Engine> {
    std::raise(SIGSEGV);
    return nullptr;
  });
  EXPECT_EQ(crash.kind, AnswerKind::kFailure);
  EXPECT_NE(crash.failure.find("signal 11"), std::string::npos) << crash.failure;
  const auto hang = []() -> std::shared_ptr<Engine> {
    for (;;) ::pause();
  };
  EXPECT_EQ(answer_to(hang, {}, 0.2).kind, AnswerKind::kTimeOut);
  const Answer refused =
      answer_to([]() -> std::shared_ptr<Engine> { fail(ErrorCode::kUnsupported, "no such layer"); });
  EXPECT_EQ(refused.kind, AnswerKind::kDidNotRun);
  EXPECT_NE(refused.failure.find("no such layer"), std::string::npos);
}

TEST(EngineCheck, AnswersAreTheSameAsText) {
  const Answer answer{
      .kind = AnswerKind::kFlaky, .failure = "a \"b\"\n", .seconds = 0.5, .measures = {{"x", 1e-30}}};
  const Answer again = answer_from_text(answer_text(answer));
  EXPECT_EQ(again.kind, answer.kind);
  EXPECT_EQ(again.failure, answer.failure);
  EXPECT_EQ(again.seconds, answer.seconds);
  EXPECT_EQ(again.measures, answer.measures);
  EXPECT_THROW(answer_from_text("[1]"), Error);
  EXPECT_THROW(answer_from_text("{\"answer\": \"maybe\"}"), Error);
}

}  // namespace
}  // namespace assay::debug::engine_check_test
