#include "kernels/rates/machine_rates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels::machine_rates_test {
namespace {

TEST(MachineRates, AreWhatAnyProcessorExceedsAndNoneReaches) {
  const double operations = measure_multiply_adds(0.01);
  EXPECT_GT(operations, 1e7);
  EXPECT_LT(operations, 1e15);
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{4097}, int64_t{1} << 22}) {
    const double rate = measure_reading(bytes, 0.01);
    EXPECT_GT(rate, 1e6) << bytes;
    EXPECT_TRUE(std::isfinite(rate)) << bytes;
  }
}

TEST(MachineRates, OfNarrowTypes) {
  const double int8 = measure_int8_multiply_adds(0.01), bfloat16 = measure_bfloat16_multiply_adds(0.01);
  EXPECT_GT(int8, 1e7);
  EXPECT_LT(int8, 1e15);
  if (multiplies_bfloat16())
    EXPECT_GT(bfloat16, 1e7);
  else
    EXPECT_EQ(bfloat16, 0);
}

TEST(MachineRates, AreThoseOfThePoolOfThisThread) {
  const PoolScope scope(std::make_shared<ThreadPool>(3));
  EXPECT_GT(measure_multiply_adds(0.01), 1e7);
  EXPECT_GT(measure_reading(1 << 16, 0.01), 1e6);
}

}  // namespace
}  // namespace assay::kernels::machine_rates_test
