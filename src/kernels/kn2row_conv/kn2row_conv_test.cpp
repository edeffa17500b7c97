#include "kernels/kn2row_conv/kn2row_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::kn2row_conv_test {
namespace {

struct Form {
  std::vector<int64_t> extents;  ///< of the image
  std::vector<int64_t> kernel, strides, dilations, begin, end;
  int64_t channels, outputs;
  bool transposed;
};

Window window_of(const Form& f) {
  Window w{{}, {}, f.kernel, f.strides, f.dilations, f.begin, f.end};
  for (size_t a = 0; a < f.extents.size(); ++a) {
    const int64_t reach = (f.kernel[a] - 1) * f.dilations[a] + 1, pads = f.begin[a] + f.end[a];
    (f.transposed ? w.out : w.in).push_back(f.extents[a]);
    (f.transposed ? w.in : w.out)
        .push_back(f.transposed ? (f.extents[a] - 1) * f.strides[a] + reach - pads
                                : (f.extents[a] + pads - reach) / f.strides[a] + 1);
  }
  return w;
}

/// Channels first in double, by the kernels of the reference.
std::vector<double> reference(const Form& f, const Window& w, const std::vector<double>& x,
                              const std::vector<double>& weights, const std::vector<double>& bias) {
  const ConvSize size{.batch = 2, .groups = 1, .in_channels = f.channels, .out_channels = f.outputs};
  std::vector<double> y(static_cast<size_t>(2 * f.outputs * (f.transposed ? w.in_size() : w.out_size())));
  (f.transposed ? convolve_transposed : convolve)(size, w, x.data(), weights.data(), bias.data(), y.data());
  return y;
}

void check(const Form& f, int64_t part) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const Kn2rowConv conv{window_of(f), f.transposed, f.channels};
  const Window& w = conv.window;
  const int64_t taps = w.taps(), c = f.channels, n = f.outputs,
                pixels = f.transposed ? w.out_size() : w.in_size(),
                results = f.transposed ? w.in_size() : w.out_size();
  const PanelMatrix matrix{n, taps * c, DType::kFloat32};
  std::vector<double> x(static_cast<size_t>(2 * c * pixels)), weights(static_cast<size_t>(n * c * taps)),
      bias(static_cast<size_t>(n));
  for (auto* v : {&x, &weights, &bias})
    for (double& d : *v) d = uniform(random);
  std::vector<float> image(x.size()), rows(weights.size()), packed(static_cast<size_t>(matrix.bytes() / 4)),
      start(static_cast<size_t>(matrix.panels() * kPanelColumns));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < c; ++i)
      for (int64_t p = 0; p < pixels; ++p)
        image[static_cast<size_t>((b * pixels + p) * c + i)] =
            static_cast<float>(x[static_cast<size_t>((b * c + i) * pixels + p)]);
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t i = 0; i < c; ++i)
      for (int64_t o = 0; o < n; ++o)
        rows[static_cast<size_t>((t * c + i) * n + o)] = static_cast<float>(
            weights[static_cast<size_t>((f.transposed ? i * n + o : o * c + i) * taps + t)]);
  for (int64_t o = 0; o < n; ++o)
    start[static_cast<size_t>(o)] = static_cast<float>(bias[static_cast<size_t>(o)]);
  pack_panels(matrix, rows.data(), n, 1, packed.data());
  const std::vector<double> wanted = reference(f, w, x, weights, bias);

  const int64_t row = conv.result().back(), columns = matrix.panels() * kPanelColumns, stride = columns + 5;
  std::vector<Kn2rowPart> parts;
  for (int64_t r = 0; r < 2 * results / row; ++r)
    for (int64_t first = 0; first < row; first += part)
      parts.push_back({r, first, std::min(part, row - first)});
  for (size_t from = 0; from < parts.size(); from += kMaxKn2rowParts) {
    const auto count = std::min<int64_t>(kMaxKn2rowParts, static_cast<int64_t>(parts.size() - from));
    std::vector<float> sums(static_cast<size_t>(count * part * stride), 77);
    kn2row_products(conv, matrix, packed.data(), 0, matrix.panels(), image.data(), parts.data() + from, count,
                    start.data(), sums.data(), part * stride, stride);
    for (int64_t p = 0; p < count; ++p) {
      const Kn2rowPart& at = parts[from + static_cast<size_t>(p)];
      for (int64_t k = 0; k < at.count; ++k) {
        const float* got = sums.data() + (p * part + k) * stride;
        for (int64_t o = 0; o < n; ++o) {
          const int64_t result = at.row * row + at.first + k;
          ASSERT_NEAR(got[o],
                      wanted[static_cast<size_t>((result / results * n + o) * results + result % results)],
                      4e-7 * static_cast<double>(matrix.k + 1))
              << "result " << result << ", channel " << o;
        }
        ASSERT_EQ(got[columns], 77);
      }
    }
  }
}

const std::vector<Form>& forms() {
  static const std::vector<Form> list = {
      {{9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 5, 20, false},
      {{9, 11}, {3, 3}, {1, 1}, {6, 6}, {6, 6}, {6, 6}, 8, 16, false},  // mostly padding
      {{4, 4}, {3, 3}, {1, 1}, {9, 9}, {9, 9}, {9, 9}, 3, 17, false},   // nothing but the middle
      {{13}, {5}, {3}, {2}, {4}, {7}, 300, 33, false},
      {{2, 3, 7}, {2, 1, 3}, {1, 2, 2}, {1, 1, 2}, {1, 0, 3}, {0, 0, 1}, 2, 70, false},
      {{7, 5}, {1, 1}, {2, 3}, {1, 1}, {0, 0}, {0, 0}, 4, 4, false},
      {{4, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, 7, 19, true},
      {{3, 3}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 16, 8, true},
      {{11}, {16}, {8}, {1}, {4}, {4}, 6, 65, true},
      {{5}, {3}, {1}, {4}, {2}, {3}, 3, 3, true},
      {{3, 4}, {1, 2}, {3, 5}, {1, 2}, {0, 1}, {0, 0}, 2, 5, true},  // results that nothing adds to
      {{2, 2, 3}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {1, 1, 0}, 3, 9, true},
      {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, 1, true},
  };
  return list;
}

TEST(Kn2rowConv, IsTheConvolutionOrItsTranspose) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (size_t i = 0; i < forms().size(); ++i)
      for (const int64_t part : {int64_t{1}, int64_t{4}, int64_t{96}}) {
        SCOPED_TRACE(testing::Message() << "form " << i << ", parts of " << part);
        check(forms()[i], part);
      }
  });
}

TEST(Kn2rowConv, CountsWhatIsNoPadding) {
  const auto count = [](const Form& f) {
    return Kn2rowConv{window_of(f), f.transposed, f.channels}.products();
  };
  EXPECT_EQ(count(forms()[2]), 16);  // one tap of nine
  EXPECT_EQ(count(forms()[0]), (9 + 2 * 8) * (11 + 2 * 10));
  EXPECT_EQ(count(forms()[7]), 9 * 4);
}

}  // namespace
}  // namespace assay::kernels::kn2row_conv_test
