#include "cli/thresholds.h"

#include <gtest/gtest.h>

#include <limits>

#include "assay/error.h"

namespace assay::cli::thresholds_test {
namespace {

constexpr std::string_view kNames[] = {"error", "median", "memory"};

std::vector<std::string> reached(const std::string& word, const Measured& measured) {
  const std::string words[] = {word};
  return Thresholds("--fail-if", words, kNames).reached(measured);
}

TEST(Thresholds, FailBeyondTheNumber) {
  EXPECT_EQ(reached("error>1e-3", {{"error", 2e-3}}),
            std::vector<std::string>{"error is 0.002, and error>1e-3 fails"});
  EXPECT_TRUE(reached("error>1e-3", {{"error", 1e-3}}).empty());
  EXPECT_FALSE(reached("error>=1e-3", {{"error", 1e-3}}).empty());
  EXPECT_FALSE(reached("error<1e-3", {{"error", 1e-4}}).empty());
  EXPECT_TRUE(reached("error>1e-3", {{"median", 7}}).empty());
}

TEST(Thresholds, HaveUnits) {
  EXPECT_FALSE(reached("median>5ms", {{"median", 5.1}}).empty());
  EXPECT_TRUE(reached("median>5s", {{"median", 4999}}).empty());
  EXPECT_FALSE(reached("median>5us", {{"median", 0.006}}).empty());
  EXPECT_FALSE(reached("memory>1G", {{"memory", 1025}}).empty());
}

/// A value that could not be measured passes no condition.
TEST(Thresholds, FailOnNaN) {
  EXPECT_FALSE(reached("error>1e9", {{"error", std::numeric_limits<double>::quiet_NaN()}}).empty());
}

TEST(Thresholds, RefuseWhatIsNoCondition) {
  const auto message = [](const std::string& word) {
    try {
      reached(word, {});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message("error").find("is no condition"), std::string::npos);
  EXPECT_NE(message(">1").find("is no condition"), std::string::npos);
  EXPECT_NE(message("medain>1").find("did you mean 'median'?"), std::string::npos);
  EXPECT_NE(message("error>fast").find("'fast' is no number"), std::string::npos);
  EXPECT_NE(message("error>1parsec").find("is no number"), std::string::npos);
}

}  // namespace
}  // namespace assay::cli::thresholds_test
