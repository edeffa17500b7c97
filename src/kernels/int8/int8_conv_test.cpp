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
    {{40}, {3}, {2}, {1}, {1}, {1}},
    {{20, 24}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
    {{11, 26}, {3, 3}, {1, 1}, {2, 1}, {1, 1}, {1, 1}},
    {{8, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {1, 1}},
    {{7, 2}, {3, 3}, {1, 3}, {1, 1}, {1, 4}, {1, 3}},
    {{4, 3, 5}, {2, 3, 3}, {1, 2, 1}, {2, 1, 2}, {1, 1, 2}, {1, 1, 2}},
};

/// What tap `tap` of position `r` reads: an element without channels, or -1.
int64_t element_of(const Window& w, int64_t r, int64_t tap) {
  int64_t element = 0, position = r % w.out_size(), step = 1;
  for (size_t a = w.rank(); a-- > 0;) {
    const int64_t i = position % w.out[a] * w.strides[a] + tap % w.kernel[a] * w.dilations[a] - w.begin[a];
    if (i < 0 || i >= w.in[a]) return -1;
    element += i * step;
    step *= w.in[a];
    position /= w.out[a];
    tap /= w.kernel[a];
  }
  return element + r / w.out_size() * w.in_size();
}

struct Images {
  Images(std::mt19937& random, const Window& w, int64_t channels, bool sign)
      : is_signed(sign), zero_point(sign ? -7 : 120), channels(channels) {
    x.resize(static_cast<size_t>(2 * w.in_size() * channels));
    for (uint8_t& b : x) b = static_cast<uint8_t>(random());
  }
  /// Less the zero point.
  int number(int64_t element, int64_t channel) const {
    if (element < 0) return 0;
    const uint8_t byte = x[static_cast<size_t>(element * channels + channel)];
    return (is_signed ? static_cast<int8_t>(byte) : byte) - zero_point;
  }

  bool is_signed;
  int zero_point;
  int64_t channels;
  std::vector<uint8_t> x;
};

TEST(Int8Conv, RowsHoldWhatTheWindowSees) {
  std::mt19937 random(5);
  for (const Case& each : kCases)
    for (const auto& [channels, groups] : {std::pair{1, 1}, {3, 1}, {8, 1}, {6, 2}, {12, 4}, {5, 5}})
      for (const bool is_signed : {false, true}) {
        const Window w = window_of(each);
        const Images images(random, w, channels, is_signed);
        const Int8Images shape{&w, channels, groups, is_signed, images.zero_point};
        const int64_t length = int8_row_length(shape.depth()), all = 2 * w.out_size(),
                      own = channels / groups;
        std::vector<uint8_t> rows(static_cast<size_t>(all * groups * length), 99);
        // In two calls, so that one begins in the middle.
        gather_int8_rows(shape, images.x.data(), 0, all / 3, rows.data());
        gather_int8_rows(shape, images.x.data(), all / 3, all - all / 3,
                         rows.data() + all / 3 * groups * length);
        for (int64_t r = 0; r < all; ++r)
          for (int64_t g = 0; g < groups; ++g) {
            const uint8_t* const row = rows.data() + (r * groups + g) * length;
            for (int64_t tap = 0; tap < w.taps(); ++tap)
              for (int64_t c = 0; c < own; ++c)
                ASSERT_EQ(row[tap * own + c] - (is_signed ? 128 : 0) - images.zero_point,
                          images.number(element_of(w, r, tap), g * own + c))
                    << "row " << r << " tap " << tap;
            for (int64_t i = shape.depth(); i < length; ++i) ASSERT_EQ(row[i], 0);
          }
      }
}

TEST(Int8Conv, ChannelsOnTheirOwnHaveExactSums) {
  std::mt19937 random(6);
  for (const Case& each : kCases)
    for (const int64_t channels : {1, 3, 8, 16, 37, 64, 96, 130})
      for (const bool is_signed : {false, true}) {
        // Every other kind of channels has numbers of more than 8 bits.
        const int most = channels % 2 == 0 ? 128 : 255;
        const Window w = window_of(each);
        const Images images(random, w, channels, is_signed);
        const Int8Images shape{&w, channels, channels, is_signed, images.zero_point};
        const int64_t all = 2 * w.out_size();
        std::vector<int16_t> weights(static_cast<size_t>(w.taps() * channels));
        std::vector<int32_t> sums(static_cast<size_t>(all * channels));
        for (int16_t& f : weights) f = static_cast<int16_t>(static_cast<int>(random() % (2 * most)) - most);
        const auto packing = DepthwiseWeights::of(w, channels);
        std::vector<float> packed(static_cast<size_t>(packing.bytes() / 4));
        pack_int8_depthwise(packing, weights.data(), packed.data());
        int8_depthwise(shape, images.x.data(), packed.data(), 0, all / 2, sums.data());
        int8_depthwise(shape, images.x.data(), packed.data(), all / 2, all - all / 2,
                       sums.data() + all / 2 * channels);
        for (int64_t r = 0; r < all; ++r)
          for (int64_t c = 0; c < channels; ++c) {
            int64_t expected = 0;
            for (int64_t tap = 0; tap < w.taps(); ++tap)
              expected += int64_t{images.number(element_of(w, r, tap), c)} * weights[tap * channels + c];
            ASSERT_EQ(sums[r * channels + c], expected) << r << " " << c;
          }
      }
}

TEST(Int8Conv, ChannelsOnTheirOwnBecomeTheLevelsOfTheirSums) {
  std::mt19937 random(7);
  for (const Case& each : kCases)
    for (const int64_t channels : {1, 16, 37, 64, 130, 515})
      for (const bool is_signed : {false, true})
        for (const float step : {8.0F, 0.37F}) {
          const Window w = window_of(each);
          const Images images(random, w, channels, is_signed);
          const Int8Images shape{&w, channels, channels, is_signed, images.zero_point};
          const int64_t all = 2 * w.out_size(), pitch = channels + 5;
          // Of more than 8 bits where there is one channel.
          const int most = channels == 1 ? 255 : 128;
          std::vector<int16_t> weights(static_cast<size_t>(w.taps() * channels));
          for (int16_t& f : weights) f = static_cast<int16_t>(static_cast<int>(random() % (2 * most)) - most);
          std::vector<float> scale(static_cast<size_t>(channels)), bias(scale.size());
          for (size_t c = 0; c < scale.size(); ++c)
            // Ties, others, and biases beyond what is done without storing the sums.
            scale[c] = c % 2 == 0 ? 0.0625F : 0.0171F,
            bias[c] = channels == 37 ? 1e5F : static_cast<float>(c % 7) - 3;
          const auto packing = DepthwiseWeights::of(w, channels);
          std::vector<float> packed(static_cast<size_t>(packing.bytes() / 4));
          pack_int8_depthwise(packing, weights.data(), packed.data());
          std::vector<int32_t> sums(static_cast<size_t>(all * channels)), scratch(2 * scale.size());
          std::vector<uint8_t> expected(static_cast<size_t>(all * pitch), 99), q = expected;
          const Requantization r{-4, 9, step, is_signed ? 3 : 120, is_signed};
          const auto end = [&](std::vector<uint8_t>& to) {
            return QuantizedEpilogue{scale.data(), bias.data(), r, to.data(), pitch};
          };
          int8_depthwise(shape, images.x.data(), packed.data(), 0, all, sums.data());
          requantize({sums.data(), channels, all, channels}, end(expected));
          // In two calls, so that one begins in the middle.
          int8_depthwise_quantized(shape, images.x.data(), packed.data(), 0, all / 3, scratch.data(), 2,
                                   end(q));
          int8_depthwise_quantized(shape, images.x.data(), packed.data(), all / 3, all - all / 3,
                                   scratch.data(), 2, end(q).at(all / 3, 0));
          ASSERT_EQ(q, expected) << channels << " " << is_signed << " " << step;
        }
}

}  // namespace
}  // namespace assay::kernels::int8_conv_test
