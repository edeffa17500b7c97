#include "kernels/int8/int8_conv.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/int8/int8_product.h"

namespace assay::kernels::int8_conv_test {
namespace {

struct Case {
  std::vector<int64_t> in, kernel, strides, dilations, begin, end;
};

Window window_of(const Case& c) {
  Window w{.in = c.in,
           .out = {},
           .kernel = c.kernel,
           .strides = c.strides,
           .dilations = c.dilations,
           .begin = c.begin,
           .end = c.end};
  for (size_t a = 0; a < c.in.size(); ++a)
    w.out.push_back((c.in[a] + c.begin[a] + c.end[a] - w.reach(a)) / c.strides[a] + 1);
  return w;
}

const std::vector<Case> kCases = {
    {{9}, {3}, {1}, {1}, {1}, {1}},
    {{9}, {4}, {2}, {3}, {5}, {4}},
    {{7, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {{7, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {{7, 8}, {3, 2}, {2, 3}, {2, 2}, {2, 0}, {0, 3}},
    {{3, 3}, {5, 5}, {1, 1}, {1, 1}, {4, 4}, {4, 4}},
    {{4, 3, 5}, {2, 3, 3}, {1, 2, 1}, {2, 1, 2}, {1, 1, 2}, {1, 1, 2}},
};

TEST(Int8Conv, RowsHoldWhatTheWindowSees) {
  std::mt19937 random(5);
  for (const Case& each : kCases)
    for (const int64_t channels : {1, 3, 8})
      for (const bool is_signed : {false, true}) {
        const Window w = window_of(each);
        const int zero_point = is_signed ? -7 : 120;
        const int64_t images = 2;
        std::vector<uint8_t> x(static_cast<size_t>(images * w.in_size() * channels));
        for (uint8_t& b : x) b = static_cast<uint8_t>(random());
        const Int8Images shape{&w, channels, is_signed, zero_point};
        const int64_t length = int8_row_length(shape.depth()), all = images * w.out_size();
        std::vector<int16_t> rows(static_cast<size_t>(all * length), 999);
        // In two calls, so that one begins in the middle.
        gather_int8_rows(shape, x.data(), 0, all / 3, rows.data());
        gather_int8_rows(shape, x.data(), all / 3, all - all / 3, rows.data() + all / 3 * length);
        std::vector<float> weights(static_cast<size_t>(shape.depth()));
        std::vector<int32_t> sums(static_cast<size_t>(all * channels));
        for (float& f : weights) f = static_cast<float>(static_cast<int>(random() % 511) - 255);
        depthwise_int8(shape, x.data(), weights.data(), 0, all / 2, sums.data());
        depthwise_int8(shape, x.data(), weights.data(), all / 2, all - all / 2,
                       sums.data() + all / 2 * channels);
        for (int64_t r = 0; r < all; ++r) {
          std::vector<int64_t> expected(static_cast<size_t>(channels));
          for (int64_t tap = 0; tap < w.taps(); ++tap) {
            int64_t element = 0, position = r % w.out_size(), t = tap, step = 1;
            bool inside = true;
            for (size_t a = w.rank(); a-- > 0;) {
              const int64_t i =
                  position % w.out[a] * w.strides[a] + t % w.kernel[a] * w.dilations[a] - w.begin[a];
              inside = inside && i >= 0 && i < w.in[a];
              element += i * step;
              step *= w.in[a];
              position /= w.out[a];
              t /= w.kernel[a];
            }
            element += r / w.out_size() * w.in_size();
            for (int64_t c = 0; c < channels; ++c) {
              const uint8_t byte = inside ? x[static_cast<size_t>(element * channels + c)] : 0;
              const int number = is_signed ? static_cast<int8_t>(byte) : byte;
              const int value = inside ? number - zero_point : 0;
              ASSERT_EQ(rows[r * length + tap * channels + c], value) << "row " << r << " tap " << tap;
              expected[c] += int64_t{value} * static_cast<int64_t>(weights[tap * channels + c]);
            }
          }
          for (int64_t i = shape.depth(); i < length; ++i) ASSERT_EQ(rows[r * length + i], 0);
          for (int64_t c = 0; c < channels; ++c) ASSERT_EQ(sums[r * channels + c], expected[c]);
        }
      }
}

}  // namespace
}  // namespace assay::kernels::int8_conv_test
