#include "kernels/panel/finish_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels::finish_rows_test {
namespace {

TEST(FinishRows, AddsAndBoundsAndKeepsNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t columns : {1, 7, 8, 19})
    for (const bool adds : {false, true})
      for (const auto& [low, high] : {std::pair(0.0F, inf), std::pair(-1.0F, 2.0F), std::pair(-inf, inf)}) {
        std::vector<float> x(static_cast<size_t>(3 * 20)), addend(static_cast<size_t>(3 * 21)), y(3 * 22, 99);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 9) - 4;
        for (size_t i = 0; i < addend.size(); ++i) addend[i] = static_cast<float>(i % 5) * 0.5F;
        x[0] = NAN;
        x[20] = inf;
        x[40] = -inf;
        finish_rows({low, high}, 3, columns, x.data(), 20, adds ? addend.data() : nullptr, 21, y.data(), 22);
        for (int64_t r = 0; r < 3; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const float sum = x[r * 20 + c] + (adds ? addend[r * 21 + c] : 0);
            if (std::isnan(sum))
              EXPECT_TRUE(std::isnan(y[r * 22 + c]));
            else
              EXPECT_EQ(y[r * 22 + c], std::min(std::max(sum, low), high));
          }
          EXPECT_EQ(y[r * 22 + columns], 99);
        }
      }
}

}  // namespace
}  // namespace assay::kernels::finish_rows_test
