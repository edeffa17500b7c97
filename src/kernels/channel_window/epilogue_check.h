// For tests of windows: all epilogues of their sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/panel/row_epilogue.h"

namespace assay::kernels {

/// Compares with the sums by themselves. A case has run(finish, operands), which leaves its results, and 5
/// more numbers that are 77, in `y`, and channel_of(place among them); pixels of a result are `pixel` apart.
template <typename Case>
void check_operands(Case& c, int64_t pixel, int64_t channels, const EpilogueParameters& finish,
                    double (*function)(double)) {
  constexpr float kUnbounded = std::numeric_limits<float>::infinity();
  c.run({-kUnbounded, kUnbounded}, {});
  const std::vector<float> sums = c.y;
  std::vector<float> addend(sums.size()), factors(static_cast<size_t>(channels)), shifts = factors;
  for (size_t i = 0; i < addend.size(); ++i) addend[i] = static_cast<float>(i % 7) * 0.5F - 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    factors[i] = static_cast<float>(i % 5) * 0.5F - 1;
    shifts[i] = static_cast<float>(i % 3) - 1;
  }
  for (const bool adds_last : {false, true})
    for (const int which : {1, 2, 3, 4, 5, 6, 7}) {
      EpilogueParameters some = finish;
      some.adds_last = adds_last;
      const bool adds = (which & 1) != 0, multiplies = (which & 2) != 0, shifts_them = (which & 4) != 0;
      c.run(some, {adds ? addend.data() : nullptr, pixel, multiplies ? factors.data() : nullptr,
                   shifts_them ? shifts.data() : nullptr});
      for (size_t i = 0; i + 5 < sums.size(); ++i) {
        const int64_t channel = c.channel_of(static_cast<int64_t>(i));
        if (channel >= channels) {
          ASSERT_EQ(c.y[i], 0) << "fills up the last block";
          continue;
        }
        const auto k = static_cast<size_t>(channel);
        double wanted = function(double{sums[i]} + (adds && !adds_last ? addend[i] : 0));
        if (multiplies) wanted *= factors[k];
        if (shifts_them) wanted += shifts[k];
        if (adds && adds_last) wanted += addend[i];
        ASSERT_NEAR(c.y[i], wanted, 1e-6 * (std::abs(sums[i]) + 8)) << which << " " << adds_last;
      }
      for (size_t i = sums.size() - 5; i < sums.size(); ++i) ASSERT_EQ(c.y[i], 77) << "beyond the results";
    }
}

}  // namespace assay::kernels
