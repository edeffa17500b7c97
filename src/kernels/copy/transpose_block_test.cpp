#include "kernels/copy/transpose_block.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::transpose_block_test {
namespace {

template <typename T>
void check(int64_t rows, int64_t columns) {
  constexpr int64_t kFromStep = 70, kToStep = 81;
  std::mt19937_64 random(3);
  std::vector<T> from(static_cast<size_t>(kFromStep * kToStep)), to(from.size(), T(7));
  for (T& x : from) x = static_cast<T>(random());
  transpose_block(from.data(), kFromStep, to.data(), kToStep, rows, columns, sizeof(T));
  for (int64_t c = 0; c < kFromStep; ++c)
    for (int64_t r = 0; r < kToStep; ++r)
      ASSERT_EQ(to[static_cast<size_t>(c * kToStep + r)],
                r < rows && c < columns ? from[static_cast<size_t>(r * kFromStep + c)] : T(7))
          << rows << "x" << columns << " at " << r << ", " << c;
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
