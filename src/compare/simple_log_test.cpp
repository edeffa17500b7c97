// The exact log of CompareFunc.simple, as Polygraphy prints it.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/simple.h"
#include "tensor/convert.h"

namespace assay::simple_log_test {
namespace {

/// The log of comparing the outputs "y" of runners A and B.
std::string compared(const Tensor& a, const Tensor& b, SimpleOptions options = {},
                     log::Severity threshold = log::Severity::kInfo) {
  const log::Capture capture({.threshold = threshold});
  print_comparison(std::make_shared<SimpleComparison>(std::move(options)), {{"y", a}}, {{"y", b}});
  return capture.out();
}

TEST(Simple, PassingHidesValuesAndHistograms) {
  EXPECT_EQ(
      compared(Tensor::vector<float>({1, 2, 3, 4}), Tensor::vector<float>({1, 2, 3, 5}),
               {.atol = Tolerance(2)}, log::Severity::kVerbose),
      R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]     Tolerance: [abs=2, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=0.2] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=0.25, std-dev=0.43301, var=0.1875, median=0, min=0 at (0,), max=1 at (3,), avg-magnitude=0.25, p90=0.7, p95=0.85, p99=0.97
[V]             ---- Values ----
                    [0. 0. 0. 1.]
[V]             ---- Histogram ----
                Bin Range  |  Num Elems | Visualization
                (0  , 0.1) |          3 | ########################################
                (0.1, 0.2) |          0 | 
                (0.2, 0.3) |          0 | 
                (0.3, 0.4) |          0 | 
                (0.4, 0.5) |          0 | 
                (0.5, 0.6) |          0 | 
                (0.6, 0.7) |          0 | 
                (0.7, 0.8) |          0 | 
                (0.8, 0.9) |          0 | 
                (0.9, 1  ) |          1 | #############
[I]         Relative Difference | Stats: mean=0.05, std-dev=0.086603, var=0.0075, median=0, min=0 at (0,), max=0.2 at (3,), avg-magnitude=0.05, p90=0.14, p95=0.17, p99=0.194
[V]             ---- Values ----
                    [0.  0.  0.  0.2]
[V]             ---- Histogram ----
                Bin Range    |  Num Elems | Visualization
                (0   , 0.02) |          3 | ########################################
                (0.02, 0.04) |          0 | 
                (0.04, 0.06) |          0 | 
                (0.06, 0.08) |          0 | 
                (0.08, 0.1 ) |          0 | 
                (0.1 , 0.12) |          0 | 
                (0.12, 0.14) |          0 | 
                (0.14, 0.16) |          0 | 
                (0.16, 0.18) |          0 | 
                (0.18, 0.2 ) |          1 | #############
[I]     PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=2)
[I] PASSED | simple | All outputs matched | Outputs: ['y']
[I] A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[V]     ---- Values ----
            [1. 2. 3. 4.]
[V]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.4) |          1 | ########################################
        (1.4, 1.8) |          0 | 
        (1.8, 2.2) |          1 | ########################################
        (2.2, 2.6) |          0 | 
        (2.6, 3  ) |          0 | 
        (3  , 3.4) |          1 | ########################################
        (3.4, 3.8) |          0 | 
        (3.8, 4.2) |          1 | ########################################
        (4.2, 4.6) |          0 | 
        (4.6, 5  ) |          0 | 
[I] B: y | Stats: mean=2.75, std-dev=1.479, var=2.1875, median=2.5, min=1 at (0,), max=5 at (3,), avg-magnitude=2.75, p90=4.4, p95=4.7, p99=4.94
[V]     ---- Values ----
            [1. 2. 3. 5.]
[V]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.4) |          1 | ########################################
        (1.4, 1.8) |          0 | 
        (1.8, 2.2) |          1 | ########################################
        (2.2, 2.6) |          0 | 
        (2.6, 3  ) |          0 | 
        (3  , 3.4) |          1 | ########################################
        (3.4, 3.8) |          0 | 
        (3.8, 4.2) |          0 | 
        (4.2, 4.6) |          0 | 
        (4.6, 5  ) |          1 | ########################################
)");
}

TEST(Simple, ExtraVerboseShowsMismatches) {
  EXPECT_EQ(
      compared(Tensor::from(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}),
               Tensor::from(Shape{2, 2}, std::vector<float>{1, 2, 4, 4}), {}, log::Severity::kSuperVerbose),
      R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=(2, 2)) with 'y' (dtype=float32, shape=(2, 2))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[X]     Note: Comparing A vs. B
[S]     A                                   | Output: y (dtype=float32, shape=(2, 2)):
            [[1. 2.]
             [3. 4.]]
[S]     B                                   | Output: y (dtype=float32, shape=(2, 2)):
            [[1. 2.]
             [4. 4.]]
[S]         Mismatched indices:
            [[1 0]]
[X]         A                                   | Mismatched values:
            [3.]
[X]         B                                   | Mismatched values:
            [4.]
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=0.25] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=0.25, std-dev=0.43301, var=0.1875, median=0, min=0 at (0, 0), max=1 at (1, 0), avg-magnitude=0.25, p90=0.7, p95=0.85, p99=0.97
[I]             ---- Values ----
                    [[0. 0.]
                     [1. 0.]]
[I]             ---- Histogram ----
                Bin Range  |  Num Elems | Visualization
                (0  , 0.1) |          3 | ########################################
                (0.1, 0.2) |          0 | 
                (0.2, 0.3) |          0 | 
                (0.3, 0.4) |          0 | 
                (0.4, 0.5) |          0 | 
                (0.5, 0.6) |          0 | 
                (0.6, 0.7) |          0 | 
                (0.7, 0.8) |          0 | 
                (0.8, 0.9) |          0 | 
                (0.9, 1  ) |          1 | #############
[I]         Relative Difference | Stats: mean=0.0625, std-dev=0.10825, var=0.011719, median=0, min=0 at (0, 0), max=0.25 at (1, 0), avg-magnitude=0.0625, p90=0.175, p95=0.2125, p99=0.2425
[I]             ---- Values ----
                    [[0.   0.  ]
                     [0.25 0.  ]]
[I]             ---- Histogram ----
                Bin Range      |  Num Elems | Visualization
                (0    , 0.025) |          3 | ########################################
                (0.025, 0.05 ) |          0 | 
                (0.05 , 0.075) |          0 | 
                (0.075, 0.1  ) |          0 | 
                (0.1  , 0.125) |          0 | 
                (0.125, 0.15 ) |          0 | 
                (0.15 , 0.175) |          0 | 
                (0.175, 0.2  ) |          0 | 
                (0.2  , 0.225) |          0 | 
                (0.225, 0.25 ) |          1 | #############
[X]     Finished comparing: 'y' (dtype=float32, shape=(2, 2)) [A] and 'y' (dtype=float32, shape=(2, 2)) [B]
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0, 0), max=4 at (1, 1), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]     ---- Values ----
            [[1. 2.]
             [3. 4.]]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.3) |          1 | ########################################
        (1.3, 1.6) |          0 | 
        (1.6, 1.9) |          0 | 
        (1.9, 2.2) |          1 | ########################################
        (2.2, 2.5) |          0 | 
        (2.5, 2.8) |          0 | 
        (2.8, 3.1) |          1 | ########################################
        (3.1, 3.4) |          0 | 
        (3.4, 3.7) |          0 | 
        (3.7, 4  ) |          1 | ########################################
[I] B: y | Stats: mean=2.75, std-dev=1.299, var=1.6875, median=3, min=1 at (0, 0), max=4 at (1, 0), avg-magnitude=2.75, p90=4, p95=4, p99=4
[I]     ---- Values ----
            [[1. 2.]
             [4. 4.]]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.3) |          1 | ####################
        (1.3, 1.6) |          0 | 
        (1.6, 1.9) |          0 | 
        (1.9, 2.2) |          1 | ####################
        (2.2, 2.5) |          0 | 
        (2.5, 2.8) |          0 | 
        (2.8, 3.1) |          0 | 
        (3.1, 3.4) |          0 | 
        (3.4, 3.7) |          0 | 
        (3.7, 4  ) |          2 | ########################################
)");
}

TEST(Simple, Bool) {
  EXPECT_EQ(compared(Tensor::vector<bool>({true, false}), Tensor::vector<bool>({true, true}), {}),
            R"([I] simple | Comparing Output: 'y' (dtype=bool, shape=(2,)) with 'y' (dtype=bool, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=1] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=0.5, std-dev=0.5, var=0.25, median=0.5, min=0 at (0,), max=1 at (1,), avg-magnitude=0.5
[I]             ---- Values ----
                    [False  True]
[I]             
[I]         Relative Difference | Stats: mean=0.5, std-dev=0.5, var=0.25, median=0.5, min=0 at (0,), max=1 at (1,), avg-magnitude=0.5, p90=0.9, p95=0.95, p99=0.99
[I]             ---- Values ----
                    [0. 1.]
[I]             ---- Histogram ----
                Bin Range  |  Num Elems | Visualization
                (0  , 0.1) |          1 | ########################################
                (0.1, 0.2) |          0 | 
                (0.2, 0.3) |          0 | 
                (0.3, 0.4) |          0 | 
                (0.4, 0.5) |          0 | 
                (0.5, 0.6) |          0 | 
                (0.6, 0.7) |          0 | 
                (0.7, 0.8) |          0 | 
                (0.8, 0.9) |          0 | 
                (0.9, 1  ) |          1 | ########################################
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=0.5, std-dev=0.5, var=0.25, median=0.5, min=0 at (1,), max=1 at (0,), avg-magnitude=0.5
[I]     ---- Values ----
            [ True False]
[I]     
[I] B: y | Stats: mean=1, std-dev=0, var=0, median=1, min=1 at (0,), max=1 at (0,), avg-magnitude=1
[I]     ---- Values ----
            [ True  True]
[I]     
)");
}

TEST(Simple, Integers) {
  EXPECT_EQ(compared(Tensor::vector<uint8_t>({1, 200}), Tensor::vector<uint8_t>({200, 1}), {}),
            R"([I] simple | Comparing Output: 'y' (dtype=uint8, shape=(2,)) with 'y' (dtype=uint8, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=199] OR [rel=199] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=199, std-dev=0, var=0, median=199, min=199 at (0,), max=199 at (0,), avg-magnitude=199, p90=199, p95=199, p99=199
[I]             ---- Values ----
                    [199 199]
[I]             ---- Histogram ----
                Bin Range  |  Num Elems | Visualization
                (198, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 199) |          2 | ########################################
                (199, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 199) |          0 | 
                (199, 200) |          0 | 
[I]         Relative Difference | Stats: mean=99.997, std-dev=99.002, var=9801.5, median=99.998, min=0.995 at (0,), max=199 at (1,), avg-magnitude=99.997, p90=179.2, p95=189.1, p99=197.02
[I]             ---- Values ----
                    [  0.995 199.   ]
[I]             ---- Histogram ----
                Bin Range     |  Num Elems | Visualization
                (0.995, 20.8) |          1 | ########################################
                (20.8 , 40.6) |          0 | 
                (40.6 , 60.4) |          0 | 
                (60.4 , 80.2) |          0 | 
                (80.2 , 100 ) |          0 | 
                (100  , 120 ) |          0 | 
                (120  , 140 ) |          0 | 
                (140  , 159 ) |          0 | 
                (159  , 179 ) |          0 | 
                (179  , 199 ) |          1 | ########################################
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=100.5, std-dev=99.5, var=9900.2, median=100.5, min=1 at (0,), max=200 at (1,), avg-magnitude=100.5, p90=180.1, p95=190.05, p99=198.01
[I]     ---- Values ----
            [  1 200]
[I]     ---- Histogram ----
        Bin Range    |  Num Elems | Visualization
        (1   , 20.9) |          1 | ########################################
        (20.9, 40.8) |          0 | 
        (40.8, 60.7) |          0 | 
        (60.7, 80.6) |          0 | 
        (80.6, 100 ) |          0 | 
        (100 , 120 ) |          0 | 
        (120 , 140 ) |          0 | 
        (140 , 160 ) |          0 | 
        (160 , 180 ) |          0 | 
        (180 , 200 ) |          1 | ########################################
[I] B: y | Stats: mean=100.5, std-dev=99.5, var=9900.2, median=100.5, min=1 at (1,), max=200 at (0,), avg-magnitude=100.5, p90=180.1, p95=190.05, p99=198.01
[I]     ---- Values ----
            [200   1]
[I]     ---- Histogram ----
        Bin Range    |  Num Elems | Visualization
        (1   , 20.9) |          1 | ########################################
        (20.9, 40.8) |          0 | 
        (40.8, 60.7) |          0 | 
        (60.7, 80.6) |          0 | 
        (80.6, 100 ) |          0 | 
        (100 , 120 ) |          0 | 
        (120 , 140 ) |          0 | 
        (140 , 160 ) |          0 | 
        (160 , 180 ) |          0 | 
        (180 , 200 ) |          1 | ########################################
)");
}

TEST(Simple, NanNeverMatches) {
  EXPECT_EQ(
      compared(Tensor::vector<float>({NAN, 1}), Tensor::vector<float>({NAN, 1}), {}),
      R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=(2,)) with 'y' (dtype=float32, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=nan] OR [rel=nan] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]             ---- Values ----
                    [nan  0.]
[I]             
[I]         Relative Difference | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]             ---- Values ----
                    [nan  0.]
[I]             
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]     ---- Values ----
            [nan  1.]
[I]     
[I] B: y | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]     ---- Values ----
            [nan  1.]
[I]     
)");
}

TEST(Simple, EqualInfinitiesFail) {
  EXPECT_EQ(
      compared(Tensor::vector<float>({INFINITY, 1}), Tensor::vector<float>({INFINITY, 1}), {}),
      R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=(2,)) with 'y' (dtype=float32, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=nan] OR [rel=nan] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]             ---- Values ----
                    [nan  0.]
[I]             
[I]         Relative Difference | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0,), max=nan at (0,), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]             ---- Values ----
                    [nan  0.]
[I]             
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=inf, std-dev=nan, var=nan, median=inf, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[I]     ---- Values ----
            [inf  1.]
[I]     
[I] B: y | Stats: mean=inf, std-dev=nan, var=nan, median=inf, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[I]     ---- Values ----
            [inf  1.]
[I]     
)");
}

TEST(Simple, EqualInfinitiesPassOnRequest) {
  EXPECT_EQ(
      compared(Tensor::vector<float>({INFINITY, 1}), Tensor::vector<float>({INFINITY, 1}),
               {.infinities_compare_equal = true}),
      R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=(2,)) with 'y' (dtype=float32, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]     PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I] PASSED | simple | All outputs matched | Outputs: ['y']
[I] A: y | Stats: mean=inf, std-dev=nan, var=nan, median=inf, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[I] B: y | Stats: mean=inf, std-dev=nan, var=nan, median=inf, min=1 at (1,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
)");
}

TEST(Simple, MixedTypes) {
  EXPECT_EQ(
      compared(Tensor::vector<double>({1, 2}), Tensor::vector<float>({1.1f, 2}), {}),
      R"([I] simple | Comparing Output: 'y' (dtype=float64, shape=(2,)) with 'y' (dtype=float32, shape=(2,))
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=0.1] OR [rel=0.090909] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=0.05, std-dev=0.05, var=0.0025, median=0.05, min=0 at (1,), max=0.1 at (0,), avg-magnitude=0.05, p90=0.09, p95=0.095, p99=0.099
[I]             ---- Values ----
                    [0.10000002 0.        ]
[I]             ---- Histogram ----
                Bin Range    |  Num Elems | Visualization
                (0   , 0.01) |          1 | ########################################
                (0.01, 0.02) |          0 | 
                (0.02, 0.03) |          0 | 
                (0.03, 0.04) |          0 | 
                (0.04, 0.05) |          0 | 
                (0.05, 0.06) |          0 | 
                (0.06, 0.07) |          0 | 
                (0.07, 0.08) |          0 | 
                (0.08, 0.09) |          0 | 
                (0.09, 0.1 ) |          1 | ########################################
[I]         Relative Difference | Stats: mean=0.045455, std-dev=0.045455, var=0.0020661, median=0.045455, min=0 at (1,), max=0.090909 at (0,), avg-magnitude=0.045455, p90=0.081818, p95=0.086364, p99=0.09
[I]             ---- Values ----
                    [0.09090911 0.        ]
[I]             ---- Histogram ----
                Bin Range          |  Num Elems | Visualization
                (0      , 0.00909) |          1 | ########################################
                (0.00909, 0.0182 ) |          0 | 
                (0.0182 , 0.0273 ) |          0 | 
                (0.0273 , 0.0364 ) |          0 | 
                (0.0364 , 0.0455 ) |          0 | 
                (0.0455 , 0.0545 ) |          0 | 
                (0.0545 , 0.0636 ) |          0 | 
                (0.0636 , 0.0727 ) |          0 | 
                (0.0727 , 0.0818 ) |          0 | 
                (0.0818 , 0.0909 ) |          1 | ########################################
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=1.5, std-dev=0.5, var=0.25, median=1.5, min=1 at (0,), max=2 at (1,), avg-magnitude=1.5, p90=1.9, p95=1.95, p99=1.99
[I]     ---- Values ----
            [1. 2.]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.1) |          1 | ########################################
        (1.1, 1.2) |          0 | 
        (1.2, 1.3) |          0 | 
        (1.3, 1.4) |          0 | 
        (1.4, 1.5) |          0 | 
        (1.5, 1.6) |          0 | 
        (1.6, 1.7) |          0 | 
        (1.7, 1.8) |          0 | 
        (1.8, 1.9) |          0 | 
        (1.9, 2  ) |          1 | ########################################
[I] B: y | Stats: mean=1.55, std-dev=0.45, var=0.2025, median=1.55, min=1.1 at (0,), max=2 at (1,), avg-magnitude=1.55, p90=1.91, p95=1.955, p99=1.991
[I]     ---- Values ----
            [1.1 2. ]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.1) |          0 | 
        (1.1, 1.2) |          1 | ########################################
        (1.2, 1.3) |          0 | 
        (1.3, 1.4) |          0 | 
        (1.4, 1.5) |          0 | 
        (1.5, 1.6) |          0 | 
        (1.6, 1.7) |          0 | 
        (1.7, 1.8) |          0 | 
        (1.8, 1.9) |          0 | 
        (1.9, 2  ) |          1 | ########################################
)");
}

TEST(Simple, Scalars) {
  EXPECT_EQ(compared(Tensor::scalar(1.0f), Tensor::scalar(2.0f), {}),
            R"([I] simple | Comparing Output: 'y' (dtype=float32, shape=()) with 'y' (dtype=float32, shape=())
[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]     Error Metrics: y
[I]         Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=0.5] (requirements may be lower if both abs/rel tolerances are set)
[I]         Absolute Difference | Stats: mean=1, std-dev=0, var=0, median=1, min=1 at (), max=1 at (), avg-magnitude=1, p90=1, p95=1, p99=1
[I]             ---- Values ----
                    1.0
[I]             ---- Histogram ----
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
[I]         Relative Difference | Stats: mean=0.5, std-dev=0, var=0, median=0.5, min=0.5 at (), max=0.5 at (), avg-magnitude=0.5, p90=0.5, p95=0.5, p99=0.5
[I]             ---- Values ----
                    0.5
[I]             ---- Histogram ----
                Bin Range  |  Num Elems | Visualization
                (0  , 0.1) |          0 | 
                (0.1, 0.2) |          0 | 
                (0.2, 0.3) |          0 | 
                (0.3, 0.4) |          0 | 
                (0.4, 0.5) |          0 | 
                (0.5, 0.6) |          1 | ########################################
                (0.6, 0.7) |          0 | 
                (0.7, 0.8) |          0 | 
                (0.8, 0.9) |          0 | 
                (0.9, 1  ) |          0 | 
[E]     FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] FAILED | simple | Mismatched outputs: ['y']
[I] A: y | Stats: mean=1, std-dev=0, var=0, median=1, min=1 at (), max=1 at (), avg-magnitude=1, p90=1, p95=1, p99=1
[I]     ---- Values ----
            1.0
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.1) |          1 | ########################################
        (1.1, 1.2) |          0 | 
        (1.2, 1.3) |          0 | 
        (1.3, 1.4) |          0 | 
        (1.4, 1.5) |          0 | 
        (1.5, 1.6) |          0 | 
        (1.6, 1.7) |          0 | 
        (1.7, 1.8) |          0 | 
        (1.8, 1.9) |          0 | 
        (1.9, 2  ) |          0 | 
[I] B: y | Stats: mean=2, std-dev=0, var=0, median=2, min=2 at (), max=2 at (), avg-magnitude=2, p90=2, p95=2, p99=2
[I]     ---- Values ----
            2.0
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (1  , 1.1) |          0 | 
        (1.1, 1.2) |          0 | 
        (1.2, 1.3) |          0 | 
        (1.3, 1.4) |          0 | 
        (1.4, 1.5) |          0 | 
        (1.5, 1.6) |          0 | 
        (1.6, 1.7) |          0 | 
        (1.7, 1.8) |          0 | 
        (1.8, 1.9) |          0 | 
        (1.9, 2  ) |          1 | ########################################
)");
}

}  // namespace
}  // namespace assay::simple_log_test
