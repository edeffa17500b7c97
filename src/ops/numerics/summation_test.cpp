#include "ops/numerics/summation.h"

#include <gtest/gtest.h>

namespace assay::summation_test {
namespace {

/// Rows of one addend and its negative: sums stay small row by row, and walk far column by column.
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

TEST(Summation, ABiasBehindTheRowsLeavesTheColumnsWhatTheyAre) {
  std::vector<double> terms = pairs_that_cancel(256);
  const double without = explained_of_sum({.terms = terms, .inner = 2});
  terms.push_back(0.01);
  EXPECT_GE(explained_of_sum({.terms = terms, .inner = 2}), 0.9 * without);
}

TEST(Summation, ExactSumsExplainNothing) {
  EXPECT_EQ(explained_of_sum({.terms = {1, 2, 3, 4, 5, 6}, .inner = 3}), 0);
}

}  // namespace
}  // namespace assay::summation_test
