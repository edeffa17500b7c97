#include "tensor/random.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::random_test {
namespace {

// The numbers below were drawn by NumPy's RandomState.

std::vector<double> list(const Tensor& t) { return {t.span<double>().begin(), t.span<double>().end()}; }

TEST(RandomState, WordsAreThoseOfMt19937) {
  for (const uint32_t seed : {0U, 1U, 12345U, 0xffffffffU}) {
    RandomState ours(seed);
    std::mt19937 theirs(seed);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(ours.next(), theirs()) << seed << " " << i;
  }
}

TEST(RandomState, Doubles) {
  EXPECT_EQ(list(RandomState(1).doubles({4})), (std::vector{0x1.ab07d0ffa3c06p-2, 0x1.70ce5f3baf051p-1,
                                                            0x1.dfb906661c000p-14, 0x1.3596ab7fe08f4p-2}));
  RandomState r(123456789);
  r.doubles({10, 100});
  EXPECT_EQ(list(r.doubles({2})), (std::vector{0x1.c9fe8cd75b270p-1, 0x1.e11a7d647cdf2p-2}));
}

TEST(RandomState, DoublesAfterAnOddNumberOfWordsStraddleTheRefill) {
  RandomState r(7);
  r.integers(DType::kInt32, {1}, 0, 9);
  const std::vector<double> d = list(r.doubles({700}));
  EXPECT_EQ((std::vector{d[0], d[310], d[311], d[312], d[699]}),
            (std::vector{0x1.8f5184146a0a7p-1, 0x1.ab40cb7005123p-1, 0x1.bcf53886fea97p-1,
                         0x1.be6a51ec8bbbep-1, 0x1.e4f92bd098c90p-5}));
}

TEST(RandomState, NormalAndUniform) {
  EXPECT_EQ(list(RandomState(5).standard_normal({5})),
            (std::vector{0x1.c3d1236911f14p-2, -0x1.52cfa0066e3e2p-2, 0x1.372382a020f64p+1,
                         -0x1.02247070e5970p-2, 0x1.c0f63fce5e5b1p-4}));
  EXPECT_EQ(list(RandomState(9).normal(3.5, 0.25, {3})),
            (std::vector{0x1.c00914cec7834p+1, 0x1.b6bc0e137a3a7p+1, 0x1.9c492f5205768p+1}));
  EXPECT_EQ(list(RandomState(9).uniform(-2.5, 7, {3})),
            (std::vector{-0x1.336291409a17cp+1, 0x1.22478d93de290p+1, 0x1.1adc3e3925844p+1}));
}

TEST(RandomState, TheSecondNormalWaits) {
  RandomState r(5);
  r.next_normal();
  EXPECT_EQ(r.next_double(), 0x1.a75c5f5d1ddc4p-3);
  EXPECT_EQ(r.next_normal(), -0x1.52cfa0066e3e2p-2);
  EXPECT_EQ(r.next_normal(), -0x1.7dceff3817057p-6);
}

struct IntegerCase {
  DType dtype;
  int64_t low, high;
  std::vector<int64_t> digits, full, odd;
};

TEST(RandomState, IntegersOfEveryType) {
  const std::vector<int64_t> byte_digits{5, 4, 1, 0, 7, 7, 8, 8}, byte_odd{28, 6, 18, 29, 11, 32, 23, 49};
  const std::vector<int64_t> short_digits{5, 1, 7, 7, 8, 7, 9, 5}, short_odd{6, 29, 32, 78, 8, 11, 61, 77};
  const std::vector<int64_t> word_digits{5, 8, 9, 5, 0, 0, 1, 7}, word_odd{29, 8, 61, 77, 5, 26, 24, 79};
  const IntegerCase cases[] = {
      {DType::kInt8, INT8_MIN, INT8_MAX, byte_digits, {40, -36, 29, -17}, byte_odd},
      {DType::kUInt8, 0, UINT8_MAX, byte_digits, {168, 92, 157, 111}, byte_odd},
      {DType::kInt16, INT16_MIN, INT16_MAX, short_digits, {-9048, -4195, 2575, -20639}, short_odd},
      {DType::kUInt16, 0, UINT16_MAX, short_digits, {23720, 28573, 35343, 12129}, short_odd},
      {DType::kInt32,
       INT32_MIN,
       INT32_MAX,
       word_digits,
       {-274899800, -1352562161, -2036131347, 1853453896},
       word_odd},
      {DType::kUInt32, 0, UINT32_MAX, word_digits, {1872583848, 794921487, 111352301, 4000937544}, word_odd},
      {DType::kInt64,
       INT64_MIN,
       INT64_MAX,
       word_digits,
       {-1180685649882019313, -8745117541724490168, 916110987799460139, -1193091257902529461},
       word_odd},
  };
  for (const IntegerCase& c : cases) {
    SCOPED_TRACE(dtype_name(c.dtype));
    EXPECT_EQ(RandomState(1).integers(c.dtype, {2, 4}, 0, 9).to_int64(), c.digits);
    EXPECT_EQ(RandomState(2).integers(c.dtype, {4}, c.low, c.high).to_int64(), c.full);
    EXPECT_EQ(RandomState(3).integers(c.dtype, {8}, 5, 105).to_int64(), c.odd);
  }
  EXPECT_EQ(RandomState(1).integers(DType::kUInt64, {8}, 0, 9).to_int64(), word_digits);
  EXPECT_EQ(
      RandomState(4).integers(DType::kInt64, {4}, -(int64_t{1} << 40), (int64_t{1} << 40) - 1).to_int64(),
      (std::vector<int64_t>{-571657477970, 786720735941, 557725645160, -723233685048}));
  const Tensor large = RandomState(4).integers_u64({3}, uint64_t{1} << 63, UINT64_MAX);
  EXPECT_EQ(large.data<uint64_t>()[0], 17838551943682662574U);
  EXPECT_EQ(large.data<uint64_t>()[2], 17942859343146383720U);
}

TEST(RandomState, BoolsTakeOneBitEachAndBuffersRestart) {
  EXPECT_EQ(RandomState(1).integers(DType::kBool, {40}, 0, 1).to_int64(),
            (std::vector<int64_t>{1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0,
                                  0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1}));
  RandomState r(1);
  EXPECT_EQ(r.integers(DType::kUInt8, {3}, 0, 1).to_int64(), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(r.integers(DType::kUInt8, {3}, 0, 1).to_int64(), (std::vector<int64_t>{1, 0, 1}));
}

TEST(RandomState, AnEmptyRangeOrShapeDrawsNothing) {
  RandomState r(1);
  EXPECT_EQ(r.integers(DType::kInt32, {3}, 7, 7).to_int64(), (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(r.doubles({0, 5}).numel(), 0);
  EXPECT_EQ(r.next_double(), 0x1.ab07d0ffa3c06p-2);
}

TEST(RandomState, RefusesRangesThatCannotBe) {
  RandomState r(1);
  EXPECT_THROW(r.integers(DType::kInt8, {1}, 0, 128), Error);
  EXPECT_THROW(r.integers(DType::kUInt32, {1}, -1, 5), Error);
  EXPECT_THROW(r.integers(DType::kUInt64, {1}, -1, 5), Error);
  EXPECT_THROW(r.integers(DType::kBool, {1}, 0, 2), Error);
  EXPECT_THROW(r.integers(DType::kInt32, {1}, 5, 4), Error);
  EXPECT_THROW(r.integers(DType::kFloat32, {1}, 0, 1), Error);
  EXPECT_THROW(r.uniform(-1e308, 1e308, {1}), Error);
  EXPECT_THROW(r.normal(0, -1, {1}), Error);
}

}  // namespace
}  // namespace assay::random_test
