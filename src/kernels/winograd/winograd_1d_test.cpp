#include "kernels/winograd/winograd_1d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::winograd_1d_test {
namespace {

struct Case {
  Winograd1d line;
  std::vector<float> x, w, bias, packed;

  explicit Case(const Winograd1d& l) : line(l) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(-1, 1);
    x.resize(static_cast<size_t>(l.images * l.in_length * l.inner * l.channels));
    w.resize(static_cast<size_t>(l.outputs * l.channels * l.taps));
    bias.resize(static_cast<size_t>(l.matrix().panels() * kPanelColumns));
    for (auto* v : {&x, &w, &bias})
      for (float& f : *v) f = uniform(random);
    packed.resize(static_cast<size_t>(Winograd1d::kPoints * l.matrix().bytes() / 4));
    pack_line_weights(l, w.data(), packed.data());
  }
  double expected(int64_t image, int64_t at, int64_t inner, int64_t o) const {
    double sum = bias[static_cast<size_t>(o)];
    for (int64_t t = 0; t < line.taps; ++t) {
      const int64_t y = at + t * line.dilation - line.pad;
      if (y < 0 || y >= line.in_length) continue;
      for (int64_t c = 0; c < line.channels; ++c)
        sum += double{x[static_cast<size_t>(
                   ((image * line.in_length + y) * line.inner + inner) * line.channels + c)]} *
               w[static_cast<size_t>((o * line.channels + c) * line.taps + t)];
    }
    return sum;
  }
};

std::vector<Winograd1d> lines() {
  std::vector<Winograd1d> list;
  for (const int64_t taps : {2, 3, 4, 7, 11})
    for (const int64_t dilation : {1, 2, 5})
      for (const int64_t length : {1, 4, 13, 30}) {
        const int64_t pad = taps / 2 * dilation;
        list.push_back({.images = 2,
                        .in_length = length,
                        .out_length = length + 2 * pad - (taps - 1) * dilation,
                        .inner = dilation == 2 ? 3 : 1,
                        .channels = taps == 7 ? 16 : 13,
                        .outputs = taps == 4 ? 40 : 5,
                        .taps = taps,
                        .dilation = dilation,
                        .pad = pad});
      }
  return list;
}

TEST(Winograd1d, IsTheConvolution) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (const Winograd1d& line : lines()) {
      const Case k(line);
      const PanelMatrix matrix = line.matrix();
      const int64_t depth = line.depth(), row = depth + kPanelColumns, tiles = line.tiles(),
                    columns = matrix.panels() * kPanelColumns;
      std::vector<int> seen(static_cast<size_t>(line.images * line.out_length * line.inner));
      for (int64_t first = 0; first < tiles; first += 3) {
        const int64_t count = std::min<int64_t>(3, tiles - first), points = count * row;
        std::vector<float> a(static_cast<size_t>(Winograd1d::kPoints * points)),
            sums(static_cast<size_t>(Winograd1d::kPoints * columns)), plain(kPanelColumns),
            y(static_cast<size_t>(Winograd1d::kResults * columns));
        uint8_t special[3];
        transform_line_inputs(line, k.x.data(), first, count, a.data(), row, points, special);
        for (int64_t t = 0; t < count; ++t) {
          ASSERT_EQ(special[t], 0);
          for (int64_t p = 0; p < Winograd1d::kPoints; ++p)
            for (int64_t c = 0; c < columns; ++c) {
              double sum = 0;
              for (int64_t i = 0; i < depth; ++i)
                sum += double{a[static_cast<size_t>(p * points + t * row + i)]} *
                       k.packed[static_cast<size_t>(p * matrix.bytes() / 4 +
                                                    (c / kPanelColumns * depth + i) * kPanelColumns +
                                                    c % kPanelColumns)];
              sums[static_cast<size_t>(p * columns + c)] = static_cast<float>(sum);
            }
          transform_line_outputs(sums.data(), columns, columns, k.bias.data(), y.data(), columns);
          const Winograd1d::Start start = line.start(first + t);
          for (int64_t i = 0; i < line.results(start); ++i) {
            ++seen[static_cast<size_t>(line.result(start, i))];
            convolve_line_plainly(line, k.packed.data(), 0, k.x.data(), start, i, k.bias.data(),
                                  plain.data());
            for (int64_t o = 0; o < line.outputs; ++o) {
              const double wanted = k.expected(start.image, start.first + i * line.dilation, start.inner, o);
              ASSERT_NEAR(y[static_cast<size_t>(i * columns + o)], wanted, 2e-5)
                  << line.taps << " taps, dilation " << line.dilation << ", length " << line.in_length;
              if (o < kPanelColumns) {
                ASSERT_NEAR(plain[static_cast<size_t>(o)], wanted, 2e-5);
              }
            }
          }
        }
      }
      for (const int times : seen) ASSERT_EQ(times, 1);
    }
  });
}

TEST(Winograd1d, TilesWithInfinitiesAndNanAreMarked) {
  const Winograd1d line{.images = 1,
                        .in_length = 16,
                        .out_length = 16,
                        .inner = 1,
                        .channels = 19,
                        .outputs = 8,
                        .taps = 3,
                        .dilation = 1,
                        .pad = 1};
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    const int64_t row = line.depth() + kPanelColumns;
    std::vector<float> a(static_cast<size_t>(Winograd1d::kPoints * 4 * row));
    for (const float value : {INFINITY, -INFINITY, NAN}) {
      std::vector<float> x(16 * 19, 1);
      x[9 * 19 + 18] = value;  // the third tile alone sees it
      uint8_t special[4];
      transform_line_inputs(line, x.data(), 0, 4, a.data(), row, 4 * row, special);
      EXPECT_EQ(std::vector<uint8_t>(special, special + 4), (std::vector<uint8_t>{0, 0, 1, 0}));
    }
  });
}

}  // namespace
}  // namespace assay::kernels::winograd_1d_test
