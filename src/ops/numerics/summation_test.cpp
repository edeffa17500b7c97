#include "ops/numerics/summation.h"

#include <gtest/gtest.h>

namespace assay::summation_test {
namespace {

/// Rows of one addend and its negative: sums stay small row by row, and grow large column by column.
std::vector<double> pairs_that_cancel(int64_t rows) {
  std::vector<double> terms;
  for (int64_t i = 0; i < rows; ++i) {
    terms.push_back(0.1 + 0.001 * static_cast<double>(i % 7));
    terms.push_back(-terms.back());
  }
  return terms;
}

TEST(Summation, ColumnsAreAnOrderOfTheirOwn) {
  const std::vector<double> terms = pairs_that_cancel(256);
  EXPECT_GT(explained_of_sum({.terms = terms, .inner = 2}), 20 * explained_of_sum({.terms = terms}));
}

TEST(Summation, ABiasLeavesTheColumnsWhatTheyAre) {
  const std::vector<double> terms = pairs_that_cancel(256);
  EXPECT_GE(explained_of_sum({.terms = terms, .inner = 2, .bias = 0.01}),
            0.9 * explained_of_sum({.terms = terms, .inner = 2}));
}

TEST(Summation, SumsMayBeginWithALargeBias) {
  const std::vector<double> terms(64, 0.001);
  EXPECT_GT(explained_of_sum({.terms = terms, .bias = -30.1}), 100 * explained_of_sum({.terms = terms}));
}

TEST(Summation, ExactSumsExplainNothing) {
  EXPECT_EQ(explained_of_sum({.terms = {1, 2, 3, 4, 5, 6}, .inner = 3}), 0);
}

}  // namespace
}  // namespace assay::summation_test
