#include "tensor/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "tensor/convert.h"
#include "tensor/random.h"

namespace assay::print_test {
namespace {

// The expected texts are NumPy's.

template <typename T>
Tensor arange(Shape shape) {
  Tensor t = Tensor::allocate(dtype_of<T>(), std::move(shape));
  for (int64_t i = 0; T & v : t.mutable_span<T>()) v = static_cast<T>(i++);
  return t;
}

TEST(Print, AnExampleOfUpstream) {
  const Tensor t = convert(RandomState(1).doubles({1, 1, 2, 2}), DType::kFloat32);
  EXPECT_EQ(array_str(t), "[[[[4.17021990e-01 7.20324516e-01]\n   [1.14374816e-04 3.02332580e-01]]]]");
}

TEST(Print, ChoosesNotationAndDigitsForTheWholeArray) {
  EXPECT_EQ(array_str(arange<float>({2, 3})), "[[0. 1. 2.]\n [3. 4. 5.]]");
  EXPECT_EQ(array_str(Tensor::vector<double>({1, -2.5, 1 / 3.0, 100000})),
            "[ 1.00000000e+00 -2.50000000e+00  3.33333333e-01  1.00000000e+05]");
  EXPECT_EQ(array_str(Tensor::vector<double>({1e-5, 1, -123456.789})),
            "[ 1.00000000e-05  1.00000000e+00 -1.23456789e+05]");
  EXPECT_EQ(array_str(Tensor::vector<double>({1e100, 1})), "[1.e+100 1.e+000]");
  EXPECT_EQ(array_str(Tensor::vector<float>({999999, 1000})), "[999999.   1000.]");
  EXPECT_EQ(array_str(Tensor::vector<float>({1000000, 1000})), "[1.e+06 1.e+03]");
}

/// NumPy's format of ml_dtypes' types: each element by itself, six digits, no common width.
TEST(Print, TypesThatNumpyLacksArePrintedAsMlDtypesDoes) {
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({0.1, 3, 1e-7, 3e38, -0.0, 123456}), DType::kBFloat16)),
            "[0.100098 3 1.00117e-07 3.00406e+38 -0 123392]");
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({NAN, INFINITY, -INFINITY}), DType::kBFloat16)),
            "[nan inf -inf]");
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({1.5, -300, 0.1}), DType::kFloat8E5M2)),
            "[1.5 -320 0.09375]");
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({0.5, -6}), DType::kFloat4E2M1)), "[0.5 -6]");
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({7, -8, 1}), DType::kInt4)), "[7 -8 1]");
  EXPECT_EQ(array_str(convert(Tensor::scalar(3.5), DType::kBFloat16)), "3.5");
}

TEST(Print, Float16HasItsOwnDigits) {
  EXPECT_EQ(array_str(convert(Tensor::vector<double>({1000, 0.1, 0.015625}), DType::kFloat16)),
            "[1.000e+03 9.998e-02 1.563e-02]");
}

TEST(Print, NotANumberAndInfinity) {
  const float inf = INFINITY, nan = NAN;
  EXPECT_EQ(array_str(Tensor::vector<float>({nan, 1.5, -inf, inf})), "[ nan  1.5 -inf  inf]");
  EXPECT_EQ(array_str(Tensor::vector<float>({nan, -inf})), "[ nan -inf]");
  EXPECT_EQ(array_str(Tensor::vector<float>({4.207088e-06F, nan, 1})),
            "[4.207088e-06          nan 1.000000e+00]");
}

TEST(Print, WrapsLines) {
  EXPECT_EQ(array_str(arange<int64_t>({40})),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
  Tensor t = arange<double>({7});
  for (double& v : t.mutable_span<double>()) v /= 6;
  EXPECT_EQ(array_str(t, {.linewidth = 30}),
            "[0.         0.16666667\n 0.33333333 0.5\n 0.66666667 0.83333333\n 1.        ]");
  // A word that is wider than the line stands alone on it.
  EXPECT_EQ(array_str(arange<int64_t>({3}), {.linewidth = 0}), "[0\n 1\n 2]");
}

TEST(Print, ShortensLargeArrays) {
  EXPECT_EQ(array_str(arange<int64_t>({2, 1000})),
            "[[   0    1    2 ...  997  998  999]\n [1000 1001 1002 ... 1997 1998 1999]]");
  EXPECT_EQ(array_str(arange<double>({3, 10}), {.threshold = 5, .edgeitems = 1}),
            "[[ 0. ...  9.]\n ...\n [20. ... 29.]]");
  EXPECT_EQ(array_str(arange<int64_t>({3, 3, 3}), {.threshold = 5, .edgeitems = 1}),
            "[[[ 0 ...  2]\n  ...\n  [ 6 ...  8]]\n\n ...\n\n [[18 ... 20]\n  ...\n  [24 ... 26]]]");
  EXPECT_EQ(array_str(arange<int64_t>({20}), {.threshold = 5, .edgeitems = 0}), "[... 19]");
}

TEST(Print, WidthsComeFromWhatIsShown) {
  Tensor t = Tensor::zeros(DType::kFloat64, {2000});
  t.mutable_data<double>()[1000] = 1e300;
  EXPECT_EQ(array_str(t), "[0. 0. 0. ... 0. 0. 0.]");
}

TEST(Print, OtherTypes) {
  EXPECT_EQ(array_str(Tensor::from<bool>({2, 2}, std::span<const bool>(std::array{true, false, true, true}))),
            "[[ True False]\n [ True  True]]");
  EXPECT_EQ(array_str(Tensor::vector<bool>({true, true})), "[ True  True]");
  EXPECT_EQ(array_str(Tensor::vector<std::string>({"a", "it's", "日本"})), "['a' \"it's\" '日本']");
  EXPECT_EQ(array_str(Tensor::vector<uint64_t>({0, UINT64_MAX})),
            "[                   0 18446744073709551615]");
  const std::complex<double> c[] = {{1, 2.5}, {-3, -0.125}};
  EXPECT_EQ(array_str(Tensor::view(DType::kComplex128, {2}, c, nullptr)), "[ 1.+2.5j   -3.-0.125j]");
}

TEST(Print, Options) {
  const Tensor t = Tensor::vector<double>({1 / 3.0, 2 / 3.0, 1e-3});
  EXPECT_EQ(array_str(t, {.precision = 3}), "[0.333 0.667 0.001]");
  EXPECT_EQ(array_str(t, {.precision = 0}), "[0. 1. 0.]");
  EXPECT_EQ(array_str(Tensor::vector<double>({1e-10, 1, 12345.5}), {.suppress = true}),
            "[    0.      1.  12345.5]");
  EXPECT_EQ(array_str(Tensor::scalar(0.1), {.precision = INT_MAX}), "0.1");
  EXPECT_EQ(array_str(Tensor::vector<double>({0.1}), {.precision = INT_MAX}), "[0.1]");
}

TEST(Print, ScalarsAndEmptyArrays) {
  EXPECT_EQ(array_str(Tensor::scalar(1 / 3.0)), "0.3333333333333333");
  EXPECT_EQ(array_str(Tensor::scalar(1e6F)), "1e+06");
  EXPECT_EQ(array_str(Tensor::scalar<int64_t>(-5)), "-5");
  EXPECT_EQ(array_str(Tensor::scalar(false)), "False");
  EXPECT_EQ(array_str(Tensor::scalar<std::string>("it's")), "it's");
  const std::complex<float> c(0.5F, -2);
  EXPECT_EQ(array_str(Tensor::view(DType::kComplex64, {}, &c, nullptr)), "(0.5-2j)");
  EXPECT_EQ(array_str(Tensor::allocate(DType::kFloat32, {3, 0})), "[]");
}

}  // namespace
}  // namespace assay::print_test
