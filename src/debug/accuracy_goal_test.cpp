#include "debug/accuracy_goal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"

namespace assay::debug::accuracy_goal_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Accuracy of(const std::vector<float>& own, const std::vector<double>& exact) {
  Accuracy a;
  a.add(Tensor::vector(own), Tensor::vector(exact));
  return a;
}

TEST(Accuracy, IsThatOfTheWorstOutput) {
  Accuracy a = of({3, 4}, {3, 4});
  EXPECT_EQ(a.decibels, std::numeric_limits<double>::infinity());
  EXPECT_EQ(a.absolute, 0);
  a.add(Tensor::vector(std::vector<float>{10, 1}), Tensor::vector(std::vector<double>{10, 0}));
  EXPECT_NEAR(a.decibels, 20, 1e-9);
  EXPECT_EQ(a.absolute, 1);
  EXPECT_NEAR(a.relative, 0.1, 1e-12);
  a.add(Tensor::vector(std::vector<float>{1000}), Tensor::vector(std::vector<double>{998}));
  EXPECT_NEAR(a.decibels, 20, 1e-9);
  EXPECT_EQ(a.absolute, 2);
  const Accuracy again = Accuracy::from(a.measures());
  EXPECT_EQ(again.decibels, a.decibels);
  EXPECT_EQ(again.absolute, a.absolute);
  EXPECT_EQ(again.relative, a.relative);
}

TEST(Accuracy, NumbersThatAreNotFiniteAreErrorsUnlessTheyAreRight) {
  EXPECT_EQ(of({kInf, kNan, 1}, {kInf, kNan, 1}).absolute, 0);
  for (const float wrong : {kInf, -kInf, kNan}) {
    EXPECT_EQ(of({wrong, 1}, {5, 1}).absolute, kInf) << wrong;
    EXPECT_EQ(of({wrong, 1}, {5, 1}).decibels, -kInf) << wrong;
  }
  EXPECT_EQ(of({kInf}, {-static_cast<double>(kInf)}).absolute, kInf);
  EXPECT_EQ(of({1, 2, 3}, {1, 2}).decibels, -kInf) << "another shape";
}

TEST(AccuracyGoal, IsReadAndWritten) {
  for (const char* text : {"40dB", "abs:0.001", "rel:0.01"}) EXPECT_EQ(AccuracyGoal::parse(text).str(), text);
  EXPECT_EQ(AccuracyGoal::parse("37.5 db").str(), "37.5dB");
  for (const char* text : {"", "40", "dB", "-3dB", "abs:", "abs:0", "rel:x", "rel:1e999", "infdB", "nandB",
                           "4 0dB", "abs:1e-3dB", "max:1"})
    EXPECT_THROW(AccuracyGoal::parse(text), Error) << text;
}

TEST(AccuracyGoal, ExcessIsThatOfSquares) {
  const Accuracy a{.decibels = 40, .absolute = 0.02, .relative = 0.005};
  EXPECT_NEAR(AccuracyGoal::parse("40dB").excess(a), 1, 1e-12);
  EXPECT_NEAR(AccuracyGoal::parse("50dB").excess(a), 10, 1e-12);
  EXPECT_NEAR(AccuracyGoal::parse("abs:0.01").excess(a), 4, 1e-12);
  EXPECT_NEAR(AccuracyGoal::parse("rel:0.01").excess(a), 0.25, 1e-12);
  EXPECT_FALSE(AccuracyGoal::parse("40dB").is_met(Accuracy::from({}))) << "what has not been measured";
  EXPECT_TRUE(AccuracyGoal::parse("200dB").is_met(Accuracy()));
}

}  // namespace
}  // namespace assay::debug::accuracy_goal_test
