#include "kernels/copy/transpose_block.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::transpose_block_test {
namespace {

template <typename T>
void check(int64_t rows, int64_t columns, int64_t from_step = 70, int64_t to_step = 81) {
  std::mt19937_64 random(3);
  std::vector<T> from(static_cast<size_t>(from_step * to_step)), to(from.size() + 1, T(7));
  for (T& x : from) x = static_cast<T>(random());
  transpose_block(from.data(), from_step, to.data(), to_step, rows, columns, sizeof(T));
  for (int64_t c = 0; c < from_step; ++c)
    for (int64_t r = 0; r < to_step; ++r)
      ASSERT_EQ(to[static_cast<size_t>(c * to_step + r)],
                r < rows && c < columns ? from[static_cast<size_t>(r * from_step + c)] : T(7))
          << rows << "x" << columns << " at " << r << ", " << c;
  EXPECT_EQ(to.back(), T(7));
}

void check_all(int64_t rows, int64_t columns, int64_t from_step, int64_t to_step) {
  check<uint8_t>(rows, columns, from_step, to_step);
  check<uint16_t>(rows, columns, from_step, to_step);
  check<uint32_t>(rows, columns, from_step, to_step);
  check<uint64_t>(rows, columns, from_step, to_step);
}

/// As between images with channels first and last: all of the one side is that of the few channels.
TEST(TransposeBlock, FewRowsOrColumnsThatLieTogether) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t few : {1, 2, 3, 4, 5})
      for (const int64_t many : {1, 7, 16, 63, 64, 65, 131, 200})
        for (const int64_t gap : {0, 3}) {
          check_all(few, many, many + gap, few);
          check_all(many, few, few, many + gap);
        }
  });
}

TEST(TransposeBlock, ExchangesRowsAndColumnsAndTouchesNothingElse) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t rows : {0, 1, 3, 4, 15, 16, 17, 33, 80})
      for (const int64_t columns : {0, 1, 2, 7, 8, 16, 19, 64}) {
        check<uint8_t>(rows, columns);
        check<uint16_t>(rows, columns);
        check<uint32_t>(rows, columns);
        check<uint64_t>(rows, columns);
      }
  });
}

}  // namespace
}  // namespace assay::kernels::transpose_block_test
