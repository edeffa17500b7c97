// NaN and infinity in outputs.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/validate.h"

namespace assay::validate_test {
namespace {

std::vector<RunnerOutputs> results() {
  return {one_iteration(
              "A", {{"y", Tensor::vector<float>({NAN, INFINITY, 1})}, {"ok", Tensor::vector<int32_t>({1})}}),
          one_iteration("B", {{"y", Tensor::vector<float>({INFINITY, 1, 2})}})};
}

TEST(Validate, NanAndInf) {
  const log::Capture capture;
  EXPECT_FALSE(print_validations(results(), {.check_inf = true}));
  EXPECT_EQ(capture.out(),
            R"([I] A                                   | Validating output: y (check_inf=True, check_nan=True)
[I]     mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[E]     NaN Detected | One or more NaNs were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs
[E]     Inf Detected | One or more non-finite values were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values
[E]     FAILED | Errors detected in output: y
[I] A                                   | Validating output: ok (check_inf=True, check_nan=True)
[I]     mean=1, std-dev=0, var=0, median=1, min=1 at (0,), max=1 at (0,), avg-magnitude=1, p90=1, p95=1, p99=1
[I]     PASSED | Output: ok is valid
[I] B                                   | Validating output: y (check_inf=True, check_nan=True)
[I]     mean=inf, std-dev=nan, var=nan, median=2, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[E]     Inf Detected | One or more non-finite values were encountered in this output
[E]     FAILED | Errors detected in output: y
)");
}

TEST(Validate, NanOnly) {
  const log::Capture capture;
  EXPECT_FALSE(print_validations(results(), {}));
  EXPECT_EQ(
      capture.out(),
      R"([I] A                                   | Validating output: y (check_inf=False, check_nan=True)
[I]     mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[E]     NaN Detected | One or more NaNs were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs
[E]     FAILED | Errors detected in output: y
[I] A                                   | Validating output: ok (check_inf=False, check_nan=True)
[I]     mean=1, std-dev=0, var=0, median=1, min=1 at (0,), max=1 at (0,), avg-magnitude=1, p90=1, p95=1, p99=1
[I]     PASSED | Output: ok is valid
[I] B                                   | Validating output: y (check_inf=False, check_nan=True)
[I]     mean=inf, std-dev=nan, var=nan, median=2, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[I]     PASSED | Output: y is valid
)");
}

TEST(Validate, ExtraVerboseShowsWhere) {
  const log::Capture capture({.threshold = log::Severity::kExtraVerbose});
  EXPECT_FALSE(print_validations(results(), {.check_inf = true}));
  EXPECT_EQ(capture.out(),
            R"([I] A                                   | Validating output: y (check_inf=True, check_nan=True)
[I]     mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[V]         ---- Values ----
                [nan inf  1.]
[V]         Could not generate histogram. Note: Error was: autodetected range of [nan, nan] is not finite
[V]         
[E]     NaN Detected | One or more NaNs were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs
[X]     Note: NaNs at:
        [ True False False]
[E]     Inf Detected | One or more non-finite values were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values
[X]     Note: non-finite values at:
        [ True  True False]
[X]     Note: non-finite values:
        [nan inf]
[E]     FAILED | Errors detected in output: y
[I] A                                   | Validating output: ok (check_inf=True, check_nan=True)
[I]     mean=1, std-dev=0, var=0, median=1, min=1 at (0,), max=1 at (0,), avg-magnitude=1, p90=1, p95=1, p99=1
[V]         ---- Values ----
                [1]
[V]         ---- Histogram ----
            Bin Range  |  Num Elems | Visualization
            (0.5, 0.6) |          0 | 
            (0.6, 0.7) |          0 | 
            (0.7, 0.8) |          0 | 
            (0.8, 0.9) |          0 | 
            (0.9, 1  ) |          0 | 
            (1  , 1.1) |          1 | ########################################
            (1.1, 1.2) |          0 | 
            (1.2, 1.3) |          0 | 
            (1.3, 1.4) |          0 | 
            (1.4, 1.5) |          0 | 
[I]     PASSED | Output: ok is valid
[I] B                                   | Validating output: y (check_inf=True, check_nan=True)
[I]     mean=inf, std-dev=nan, var=nan, median=2, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[V]         ---- Values ----
                [inf  1.  2.]
[V]         Could not generate histogram. Note: Error was: autodetected range of [1.0, inf] is not finite
[V]         
[E]     Inf Detected | One or more non-finite values were encountered in this output
[X]     Note: non-finite values at:
        [ True False False]
[X]     Note: non-finite values:
        [inf]
[E]     FAILED | Errors detected in output: y
)");
}

TEST(Validate, WhatIsNoNumberIsValid) {
  const log::Capture capture;
  const std::vector<RunnerOutputs> strings = {
      one_iteration("A", {{"s", Tensor::vector<std::string>({"x"})}})};
  EXPECT_TRUE(print_validations(strings, {.check_inf = true}));
  EXPECT_EQ(
      capture.out(),
      "[I] A                                   | Validating output: s (check_inf=True, check_nan=True)\n"
      "[I]     PASSED | Output: s is valid\n");
}

}  // namespace
}  // namespace assay::validate_test
