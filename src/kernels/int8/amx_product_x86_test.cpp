#include "kernels/int8/amx_product.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/amx_x86.h"
#include "kernels/int8/int8_product.h"
#include "kernels/int8/vnni_product.h"

namespace assay::kernels::amx_product_x86_test {
namespace {

struct Range {
  int low, high;
};

/// Operands in memory as kernels get them: rows that lie apart, and weights of which the first panel is left
/// out.
struct Operands {
  Operands(std::mt19937& random, int64_t m, int64_t columns, int64_t depth, Range range)
      : rows(m), w{columns, depth}, stride(int8_row_length(depth) + 20), a(static_cast<size_t>(m * stride)) {
    std::uniform_int_distribution<int> weight(range.low, range.high);
    std::vector<int16_t> b(static_cast<size_t>(depth * columns));
    for (int16_t& x : b) x = static_cast<int16_t>(weight(random));
    packed.resize(static_cast<size_t>(w.bytes()));
    pack_int8_weights(w, b.data(), columns, 1, packed.data());
    for (uint8_t& x : a) x = static_cast<uint8_t>(random());
    for (int64_t r = 0; r < m; ++r)
      for (int64_t i = depth; i < int8_row_length(depth); ++i) a[static_cast<size_t>(r * stride + i)] = 0;
    first = w.panels() > 1 ? 1 : 0;
  }
  Int8Rows left(int zero) const { return {a.data(), stride, zero}; }

  int64_t rows;
  Int8Weights w;
  int64_t stride, first;
  std::vector<uint8_t> a;
  std::vector<char> packed;
};

bool has_instructions() { return has_int8_instructions() && may_use_amx(AmxNumbers::kInt8); }

template <typename Check>
void for_operands(Check check) {
  std::mt19937 random(6);
  for (const int64_t rows : {1, 5, 6, 15, 16, 17, 32, 33, 50, 192, 200})
    for (const int64_t n : {16, 30, 48, 70})
      for (const int64_t k : {3, 28, 64, 65, 127, 192, 1100}) {
        if (rows > 100 && k > 200) continue;
        for (const Range range : {Range{-128, 127}, Range{0, 255}})
          check(Operands(random, rows, n, k, range), static_cast<int>(random() % 256));
      }
}

TEST(AmxProduct, SumsAreThoseOfVectors) {
  if (!has_instructions()) GTEST_SKIP() << "this processor has no AMX for integers";
  for_operands([](const Operands& o, int zero) {
    const int64_t count = o.w.panels() - o.first, stride = count * kInt8Columns + 3;
    std::vector<int32_t> sums(static_cast<size_t>(o.rows * stride), 77), expected = sums;
    amx_int8_product(o.w, o.packed.data(), o.first, count, o.left(zero), o.rows, sums.data(), stride);
    vnni_product(o.w, o.packed.data(), o.first, count, o.left(zero), o.rows, expected.data(), stride);
    ASSERT_EQ(sums, expected) << o.rows << "x" << o.w.k << " by " << o.w.n;
  });
}

TEST(AmxProduct, QuantizedValuesAreThoseOfVectors) {
  if (!has_instructions()) GTEST_SKIP() << "this processor has no AMX for integers";
  for_operands([](const Operands& o, int zero) {
    const int64_t columns = o.w.n - o.first * kInt8Columns,
                  stride = Int8Weights::panels_of(columns) * kInt8Columns, pitch = columns + 7;
    std::vector<float> scale(static_cast<size_t>(columns)), bias(scale.size());
    std::mt19937 random(static_cast<unsigned>(zero));
    for (float& s : scale) s = 1e-4F * static_cast<float>(1 + random() % 100) / static_cast<float>(o.w.k);
    for (float& b : bias) b = static_cast<float>(random() % 10) - 5;
    const Requantization to{.low = -2, .high = 6, .scale = 0.05F, .zero_point = 3, .is_signed = true};
    const auto levels = [&](auto* product) {
      std::vector<int32_t> scratch(static_cast<size_t>(o.rows * stride));
      std::vector<char> q(static_cast<size_t>(o.rows * pitch), 99);
      const QuantizedEpilogue end{
          .scale = scale.data(), .bias = bias.data(), .requantization = to, .q = q.data(), .pitch = pitch};
      product(o.w, o.packed.data(), o.first, columns, o.left(zero), o.rows, scratch.data(), stride, end);
      return q;
    };
    ASSERT_EQ(levels(amx_int8_product_quantized), levels(vnni_product_quantized))
        << o.rows << "x" << o.w.k << " by " << o.w.n;
  });
}

}  // namespace
}  // namespace assay::kernels::amx_product_x86_test
