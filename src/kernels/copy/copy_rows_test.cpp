#include "kernels/copy/copy_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::copy_rows_test {
namespace {

TEST(CopyRows, MovesEveryBitAndNothingElse) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t rows : {1, 2, 9})
      for (const int64_t columns : {1, 3, 8, 15, 16, 24, 33, 511, 512, 700}) {
        const int64_t in_stride = columns + 2, out_stride = columns + 5;
        std::vector<float> in(static_cast<size_t>((rows - 1) * in_stride + columns)),
            out(static_cast<size_t>(rows * out_stride), 77);
        for (size_t i = 0; i < in.size(); ++i)
          in[i] = std::bit_cast<float>(0x7f800001U * static_cast<uint32_t>(i % 3) + static_cast<uint32_t>(i));
        copy_rows(rows, columns, in.data(), in_stride, out.data(), out_stride);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < out_stride; ++c) {
            const float got = out[static_cast<size_t>(r * out_stride + c)];
            const float wanted = c < columns ? in[static_cast<size_t>(r * in_stride + c)] : 77.0F;
            ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(wanted)) << r << ", " << c;
          }
      }
  });
}

}  // namespace
}  // namespace assay::kernels::copy_rows_test
