#include "kernels/pointwise/byte_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::byte_table_test {
namespace {

/// No two entries are equal, and none is its own value.
ByteTable mixed_table() {
  ByteTable table;
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 77 + 13);
  return table;
}

using Lookup = void(const ByteTable& table, const uint8_t* x, int64_t count, uint8_t* y) noexcept;

void expect_all_values(Lookup* function) {
  const ByteTable table = mixed_table();
  for (const int64_t count : {0, 1, 15, 16, 31, 63, 64, 65, 255, 256, 257, 511, 1000}) {
    std::vector<uint8_t> x(static_cast<size_t>(count)), y(static_cast<size_t>(count) + 1, 99);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 3 + static_cast<size_t>(count));
    function(table, x.data(), count, y.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], table[x[i]]) << i << " of " << count;
    EXPECT_EQ(y.back(), 99);
  }
}

TEST(ByteTable, AllValuesAtAllPositions) { expect_all_values(look_up); }

TEST(ByteTable, OnEveryTarget) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    expect_all_values(look_up_common);
  });
}

TEST(ByteTable, InPlace) {
  const ByteTable table = mixed_table();
  std::vector<uint8_t> x(777);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
  look_up(table, x.data(), static_cast<int64_t>(x.size()), x.data());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], table[i % 256]);
}

}  // namespace
}  // namespace assay::kernels::byte_table_test
