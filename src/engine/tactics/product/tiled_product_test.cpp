#include "engine/tactics/product/tiled_product.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/panel/panel_product.h"

namespace assay::engine::tiled_product_test {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of rows times panels, what the busiest thread has, as a part of an equal share.
double imbalance(const ProductSize& size, const ProductTiles& t, int threads) {
  const int64_t tasks = t.row_tiles * t.groups, panels = ceil_div(size.n, ProductTiles::kColumns);
  int64_t most = 0, all = 0;
  for (int64_t chunk = 0; chunk < t.chunks; ++chunk) {
    int64_t work = 0;
    for (int64_t task = tasks * chunk / t.chunks; task < tasks * (chunk + 1) / t.chunks; ++task) {
      const int64_t row = task / t.groups * t.rows, group = task % t.groups,
                    block = t.columns / ProductTiles::kColumns,
                    first = t.column_blocks * group / t.groups * block,
                    last = std::min(t.column_blocks * (group + 1) / t.groups * block, panels);
      work += std::min(t.rows, size.m - row) * (last - first);
    }
    most = std::max(most, work);
    all += work;
  }
  EXPECT_EQ(all, size.m * panels) << "tiles cover the product once";
  return static_cast<double>(most * threads) / static_cast<double>(all);
}

TEST(ProductTiles, CoverTheProductWithinTheirLimits) {
  for (const int64_t group : {1, 4})
    for (const int threads : {1, 2, 3, 8})
      for (const int64_t m : {1, 5, 7, 16, 49, 196, 1000})
        for (const int64_t n : {1, 16, 40, 112, 192, 1000})
          for (const int64_t fitting : {12, 28, 256}) {
            const ProductTiles t = product_tiles({m, n, 64}, 256, fitting, threads, 1, kTileSumBytes, group);
            EXPECT_LE(imbalance({m, n, 64}, t, threads), threads);
            EXPECT_LE(t.rows, fitting);
            EXPECT_LE(t.chunks, threads);
            EXPECT_EQ(t.columns % ProductTiles::kColumns, 0);
            EXPECT_GE(t.left_bytes, t.rows * 256);
            EXPECT_GE(t.sum_bytes, t.rows * t.columns * 4);
          }
}

/// Sizes of ResNets and EfficientNets with two threads, for which blocks of the most rows or columns that fit
/// left one thread up to twice as much as the other.
TEST(ProductTiles, GiveThreadsEqualShares) {
  struct Case {
    ProductSize size;
    int64_t fitting, sums;
  };
  for (const Case& c :
       {Case{{49, 128, 128}, 25, 36}, Case{{196, 64, 64}, 28, 36}, Case{{49, 256, 256}, 33, 16},
        Case{{49, 192, 1152}, 256, 1}, Case{{49, 320, 1152}, 256, 1}, Case{{196, 672, 112}, 256, 1},
        Case{{3136, 64, 64}, 256, 1}})
    EXPECT_LE(
        imbalance(c.size,
                  product_tiles(c.size, 0, c.fitting, 2, c.sums, int64_t{448} << 10, kernels::kPanelGroup),
                  2),
        1.1)
        << c.size.m << " x " << c.size.n << ", " << c.fitting << " rows fit";
}

}  // namespace
}  // namespace assay::engine::tiled_product_test
