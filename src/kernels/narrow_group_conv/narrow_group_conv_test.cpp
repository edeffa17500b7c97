#include "kernels/narrow_group_conv/narrow_group_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::narrow_group_conv_test {
namespace {

struct Case {
  NarrowGroupConv conv;
  int64_t rows;
  std::vector<float> x, w, bias, packed;
  std::vector<const float*> pixels;

  /// Rows that see any pixels; those of lines where `lines` has a length, by windows of lines of three taps.
  Case(const NarrowGroupConv& c, int64_t number, const NarrowGroupLines& lines = {}) : conv(c), rows(number) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const int64_t across = lines.length + 2,
                  seen = lines.length == 0 ? rows + c.taps
                                           : ((lines.place + rows - 1) / lines.length + c.taps / 3) * across;
    x.resize(static_cast<size_t>(seen * c.in_channels()));  // nothing behind the last pixel's channels
    w.resize(static_cast<size_t>(c.out_channels() * c.inputs * c.taps));
    bias.resize(static_cast<size_t>(narrow_group_bias_floats(c)));
    for (auto* v : {&x, &w, &bias})
      for (float& f : *v) f = uniform(random);
    packed.assign(static_cast<size_t>(c.packed_floats()), NAN);
    pack_narrow_group_weights(c, w.data(), packed.data());
    for (int64_t t = 0; t < c.taps; ++t)
      for (int64_t r = 0; r < rows; ++r)
        pixels.push_back(x.data() +
                         c.in_channels() * (lines.length == 0
                                                ? (r * 5 + t * 3) % seen
                                                : ((lines.place + r) / lines.length + t / 3) * across +
                                                      (lines.place + r) % lines.length + t % 3));
  }
  double expected(int64_t r, int64_t o, bool with_bias) const {
    double sum = with_bias ? bias[static_cast<size_t>(o)] : 0;
    for (int64_t t = 0; t < conv.taps; ++t)
      for (int64_t i = 0; i < conv.inputs; ++i)
        sum += double{pixels[static_cast<size_t>(t * rows + r)][o / conv.outputs * conv.inputs + i]} *
               w[static_cast<size_t>((o * conv.inputs + i) * conv.taps + t)];
    return sum;
  }
  /// The output channels [first, first + count), between numbers that must stay as they are.
  void check(int64_t first, int64_t count, bool with_bias, NarrowGroupLines lines = {}) const {
    const int64_t stride = count + 3;
    std::vector<float> sums(static_cast<size_t>(rows * stride), 77);
    narrow_group_products(conv, packed.data(), pixels.data(), rows, first, count,
                          with_bias ? bias.data() : nullptr, sums.data(), stride, lines);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < stride; ++o) {
        const float got = sums[static_cast<size_t>(r * stride + o)];
        if (o >= count) {
          ASSERT_EQ(got, 77);
          continue;
        }
        const double wanted = expected(r, first + o, with_bias);
        if (std::isnan(wanted) || std::isinf(wanted)) {
          ASSERT_EQ(std::isnan(got), std::isnan(wanted));
          ASSERT_TRUE(std::isnan(got) || got == wanted);
        } else {
          ASSERT_NEAR(got, wanted, 4e-7 * static_cast<double>(conv.inputs * conv.taps + 1))
              << conv.groups << " groups of " << conv.inputs << " to " << conv.outputs << ", row " << r
              << ", channel " << o;
        }
      }
  }
};

constexpr NarrowGroupConv kForms[] = {
    {.groups = 32, .inputs = 4, .outputs = 4, .taps = 9},
    {.groups = 7, .inputs = 8, .outputs = 8, .taps = 9},
    {.groups = 3, .inputs = 16, .outputs = 16, .taps = 3},
    {.groups = 9, .inputs = 1, .outputs = 2, .taps = 5},
    {.groups = 5, .inputs = 2, .outputs = 8, .taps = 4},
    {.groups = 2, .inputs = 24, .outputs = 24, .taps = 9},
    {.groups = 3, .inputs = 5, .outputs = 7, .taps = 2},
    {.groups = 2, .inputs = 8, .outputs = 4, .taps = 9},
    {.groups = 2, .inputs = 3, .outputs = 77, .taps = 1},
    {.groups = 11, .inputs = 2, .outputs = 1, .taps = 9},
    {.groups = 2, .inputs = 64, .outputs = 64, .taps = 9},
    {.groups = 13, .inputs = 1, .outputs = 1, .taps = 7},
};

TEST(NarrowGroupConv, IsTheConvolutionOfEveryGroup) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const NarrowGroupConv& form : kForms)
      for (const int64_t rows : {1, 5, 7, 12, 13, 29}) {
        const Case c(form, rows);
        for (const bool with_bias : {false, true}) c.check(0, form.out_channels(), with_bias);
      }
  });
}

TEST(NarrowGroupConv, PartsBeginAndEndWithGroupsAndBlocks) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const NarrowGroupConv& form : kForms) {
      const Case c(form, 9);
      const int64_t unit = form.unit(), all = form.out_channels();
      if (unit >= all) continue;
      c.check(0, unit, true);
      c.check(unit, std::min(unit, all - unit), true);
      c.check(all / unit * unit == all ? all - unit : all / unit * unit,
              all / unit * unit == all ? unit : all - all / unit * unit, true);
    }
  });
}

TEST(NarrowGroupConv, PixelsOfLinesShareWhatTheySee) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const NarrowGroupConv& form : kForms)
      for (const int64_t length : {1, 2, 7, 14, 15, 31}) {
        if (form.taps % 3 != 0) continue;
        for (const int64_t rows : {1, 13, 48}) {
          const NarrowGroupLines lines = {length, length / 2};
          Case(form, rows, lines).check(0, form.out_channels(), rows == 13, lines);
        }
        const NarrowGroupLines lines = {length, 0};
        Case special(form, 8, lines);
        special.x[static_cast<size_t>(2 * form.in_channels())] = INFINITY;
        special.x[static_cast<size_t>(3 * form.in_channels() - 1)] = NAN;
        special.check(0, form.out_channels(), true, lines);
      }
  });
}

TEST(NarrowGroupConv, InfinitiesAndNanStayInTheirGroups) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const NarrowGroupConv& form : kForms) {
      Case c(form, 8);
      c.x[static_cast<size_t>(2 * form.in_channels())] = INFINITY;
      c.x[static_cast<size_t>(6 * form.in_channels() - 1)] = NAN;
      c.check(0, form.out_channels(), true);
    }
  });
}

}  // namespace
}  // namespace assay::kernels::narrow_group_conv_test
