#include "kernels/nbits/nbits_panels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/every_target.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels::nbits_panels_test {
namespace {

struct RandomPanels {
  RandomPanels(std::mt19937& random, NbitsPanels m, bool has_zeros) : m(m) {
    levels.resize(static_cast<size_t>(m.panels() * m.panel_bytes()));
    scales.resize(static_cast<size_t>(m.scale_elements()));
    zeros.resize(scales.size());
    for (uint8_t& b : levels) b = static_cast<uint8_t>(random());
    for (uint8_t& b : zeros) b = static_cast<uint8_t>(random() % (1U << m.bits));
    for (float& s : scales) s = 0.01F + static_cast<float>(random() % 1000) / 777;
    this->m.levels = levels.data(), this->m.scales = scales.data();
    if (has_zeros) this->m.zero_points = zeros.data();
  }
  float at(int64_t row, int64_t column) const {
    const int64_t each = 8 / m.bits, panel = column / kPanelColumns;
    const uint8_t byte = levels[static_cast<size_t>(panel * m.panel_bytes() + row / each * kPanelColumns +
                                                    column % kPanelColumns)];
    const int level = byte >> (row % each * m.bits) & ((1 << m.bits) - 1);
    const int64_t part = m.grid.is_same_in_parts ? 0 : row / m.grid.part;
    const auto scale =
        static_cast<size_t>((part * m.part_blocks() + row % m.grid.part / m.grid.rows) * m.scale_columns() +
                            column / m.grid.columns);
    const int zero = m.zero_points == nullptr ? 1 << (m.bits - 1) : zeros[scale];
    return static_cast<float>(level - zero) * scales[scale];
  }

  NbitsPanels m;
  std::vector<uint8_t> levels, zeros;
  std::vector<float> scales;
};

/// Any part of the matrix, and nothing behind it.
void check(const RandomPanels& w, int64_t panel, int64_t count, int64_t row, int64_t depth) {
  std::vector<float> to(static_cast<size_t>(count * depth * kPanelColumns + 1), 99);
  expand_panels(w.m, panel, count, row, depth, to.data());
  EXPECT_EQ(to.back(), 99);
  for (int64_t p = 0; p < count; ++p)
    for (int64_t r = 0; r < depth; ++r)
      for (int64_t c = 0; c < kPanelColumns; ++c)
        if (const int64_t column = (panel + p) * kPanelColumns + c; column < w.m.n) {
          ASSERT_EQ(to[static_cast<size_t>((p * depth + r) * kPanelColumns + c)], w.at(row + r, column))
              << w.m.bits << " bits, blocks of " << w.m.grid.rows << " of " << w.m.grid.part << " by "
              << w.m.grid.columns << " at " << row + r << ", " << column;
        }
}

TEST(NbitsPanels, EveryWidthAndGrid) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    std::mt19937 random(7);
    for (const int bits : {2, 4, 8})
      for (const NbitsGrid grid :
           {NbitsGrid{45, 45, 53, true}, NbitsGrid{45, 45, 1, true}, NbitsGrid{15, 15, 1, false},
            NbitsGrid{15, 4, 1, false}, NbitsGrid{15, 7, 1, true}, NbitsGrid{15, 1, 53, true},
            NbitsGrid{45, 1, 16, false}, NbitsGrid{45, 1, 5, false}, NbitsGrid{45, 1, 20, false},
            NbitsGrid{15, 15, 3, false}})
        for (const bool has_zeros : {false, true}) {
          const RandomPanels w(random, {.n = 53, .k = 45, .bits = bits, .grid = grid}, has_zeros);
          check(w, 0, 4, 0, 45);
          check(w, 2, 2, 13, 19);
          check(w, 3, 1, 44, 1);
        }
  });
}

struct Shape {
  int64_t k;
  int bits;
  NbitsGrid grid;
};

TEST(NbitsPanels, PairsOfRowsInBfloat16) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    std::mt19937 random(8);
    for (const auto& [k, bits, grid] :
         {Shape{1, 4, {1, 1, 1, true}}, Shape{131, 4, {131, 131, 1, true}}, Shape{64, 2, {64, 5, 1, true}},
          Shape{84, 4, {28, 10, 1, false}}, Shape{84, 2, {42, 10, 3, true}}, Shape{84, 8, {84, 84, 1, true}},
          Shape{84, 8, {84, 1, 16, false}}}) {
      const RandomPanels w(random, {.n = 37, .k = k, .bits = bits, .grid = grid}, k != 64);
      const PanelMatrix matrix{37, k, DType::kBFloat16};
      std::vector<float> numbers(static_cast<size_t>(37 * k));
      for (int64_t r = 0; r < k; ++r)
        for (int64_t c = 0; c < 37; ++c) numbers[static_cast<size_t>(c * k + r)] = w.at(r, c);
      std::vector<uint16_t> packed(static_cast<size_t>(matrix.bytes() / 2)), expanded(packed.size() + 1, 99);
      pack_panels(matrix, numbers.data(), 1, k, packed.data());
      expand_bfloat16_panels(w.m, 0, matrix.panels(), expanded.data());
      EXPECT_EQ(expanded.back(), 99);
      const int64_t pair = 2 * kPanelColumns, pairs = (k + 1) / 2;
      for (int64_t i = 0; i < matrix.panels() * pairs * pair; ++i)
        if (i / (pair * pairs) * kPanelColumns + i % pair / 2 < 37) {
          ASSERT_EQ(expanded[static_cast<size_t>(i)], packed[static_cast<size_t>(i)])
              << k << " rows, " << bits << " bits at " << i;
        }
    }
  });
}

}  // namespace
}  // namespace assay::kernels::nbits_panels_test
