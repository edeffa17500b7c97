// Products of rows of sums with weights in whole numbers.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "kernels/int8/dynamic_quantize.h"
#include "kernels/int8/int8_product.h"
#include "kernels/rnn/recurrence.h"

namespace assay::kernels {
namespace {

/// Rows that meet a few panels one after another, and products that are worth a thread.
constexpr int64_t kQuantizedRows = 96, kQuantizedPanels = 4, kQuantizedGrain = 1 << 16;

int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

bool takes_quantized(const GateMatrix& matrix) noexcept {
  return matrix.gates * matrix.lanes % kInt8Columns == 0;
}

void pack_quantized_gates(const GateMatrix& matrix, const int16_t* levels, void* packed) noexcept {
  const int64_t columns = matrix.row_numbers(), given = matrix.gates * matrix.units;
  std::vector<int16_t> rows(static_cast<size_t>(matrix.k * columns));
  for (int64_t k = 0; k < matrix.k; ++k)
    for (int64_t gate = 0; gate < matrix.gates; ++gate)
      for (int64_t unit = 0; unit < matrix.units; ++unit) {
        const int64_t vector = unit / matrix.lanes * matrix.gates + gate;
        const int64_t to = k * columns + vector * matrix.lanes + unit % matrix.lanes;
        rows[static_cast<size_t>(to)] = levels[k * given + gate * matrix.units + unit];
      }
  pack_int8_weights({columns, matrix.k}, rows.data(), columns, 1, packed);
}

int64_t QuantizedRows::scratch_bytes(int64_t rows, int64_t k) {
  return whole_lines(rows * int8_row_length(k));
}

QuantizedRows quantize_rows(const float* x, int64_t rows, int64_t k, void* scratch) noexcept {
  const int64_t length = int8_row_length(k);
  auto* const levels = static_cast<uint8_t*>(scratch);
  const DynamicRange range = dynamic_range(x, rows * k);
  for (int64_t row = 0; row < rows; ++row) {
    quantize_uint8(x + row * k, k, range, levels + row * length);
    std::fill(levels + row * length + k, levels + (row + 1) * length, uint8_t{0});
  }
  return {{levels, length, range.zero_point}, range.scale};
}

void quantized_gate_products(const GateMatrix& matrix, const QuantizedGates& levels, const float* bias,
                             const QuantizedRows& x, int64_t rows, float* column_scales,
                             float* sums) noexcept {
  const int64_t columns = matrix.row_numbers(), panels = columns / kInt8Columns;
  const int64_t length = int8_row_length(matrix.k);
  for (int64_t i = 0; i < columns; ++i) column_scales[i] = levels.scales[i] * x.scale;
  auto* const exact = reinterpret_cast<int32_t*>(sums);
  const int64_t chunks = (rows + kQuantizedRows - 1) / kQuantizedRows;
  const int64_t of_panel = std::min(rows, kQuantizedRows) * length * kInt8Columns;
  parallel_for(chunks * panels, std::max<int64_t>(1, kQuantizedGrain / of_panel),
               [&](int64_t first, int64_t last) {
                 // Panels side by side: they meet the rows together.
                 for (int64_t task = first, count; task < last; task += count) {
                   const int64_t row = task / panels * kQuantizedRows, panel = task % panels,
                                 column = panel * kInt8Columns, some = std::min(kQuantizedRows, rows - row);
                   count = std::min({last - task, panels - panel, kQuantizedPanels});
                   int8_product(levels.weights, levels.packed, panel, count, x.from(row), some,
                                exact + row * columns + column, columns);
                   for (int64_t r = row; r < row + some; ++r)
                     scale_sums(exact + r * columns + column, count * kInt8Columns, column_scales + column,
                                bias == nullptr ? nullptr : bias + column, sums + r * columns + column);
                 }
               });
}

}  // namespace assay::kernels
