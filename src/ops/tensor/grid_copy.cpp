#include "ops/tensor/grid_copy.h"

#include <algorithm>

#include "ops/eval_util.h"
#include "ops/tensor/elements.h"

namespace assay {
namespace {

bool is_identity(const std::vector<int64_t>& table, int64_t extent) {
  if (static_cast<int64_t>(table.size()) != extent) return false;
  for (int64_t i = 0; i < extent; ++i)
    if (table[static_cast<size_t>(i)] != i) return false;
  return true;
}

/// The grid as rows of blocks: dimensions that are copied whole at the end form the block, the last other one
/// the row.
struct Grid {
  Grid(const Shape& in, const std::vector<std::vector<int64_t>>& tables_in) : tables(tables_in) {
    size_t last = tables.size();
    while (last > 0 && is_identity(tables[last - 1], in[last - 1])) --last;
    block = in.numel(last, in.size());
    if (last == 0) {
      tables = {{0}};
      strides = {0};
      return;
    }
    tables.resize(last);
    strides = Shape(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(last)).strides();
  }
  /// Index of the source row that output row r takes, in blocks; kOutside when a table says so.
  int64_t row_start(int64_t r) const {
    int64_t start = 0;
    bool outside = false;
    for (size_t d = tables.size() - 1; d-- > 0;) {
      const auto extent = static_cast<int64_t>(tables[d].size());
      const int64_t at = tables[d][static_cast<size_t>(r % extent)];
      r /= extent;
      outside |= at == kOutside;
      start += at * strides[d];
    }
    return outside ? kOutside : start;
  }

  std::vector<std::vector<int64_t>> tables;
  std::vector<int64_t> strides;
  int64_t block = 1;
};

template <typename E>
void copy_rows(const Grid& grid, const E* from, E* to, int64_t count, const E* fill) {
  const std::vector<int64_t>& row = grid.tables.back();
  const auto length = static_cast<int64_t>(row.size());
  const int64_t block = grid.block, rows = count / (length * block);
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / (length * block)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r) {
                   const int64_t start = grid.row_start(r);
                   E* out = to + r * length * block;
                   for (const int64_t at : row) {
                     if (start == kOutside || at == kOutside)
                       std::fill_n(out, block, *fill);
                     else if (block == 1)
                       *out = from[start + at];
                     else
                       std::copy_n(from + (start + at) * block, block, out);
                     out += block;
                   }
                 }
               });
}

}  // namespace

Tensor copy_grid(const Tensor& src, const std::vector<std::vector<int64_t>>& tables, const Tensor& fill) {
  Shape shape;
  for (const auto& table : tables) shape.push_back(static_cast<int64_t>(table.size()));
  const Tensor bytes = unpacked(src);
  Tensor out = checked_allocation(bytes.dtype(), shape);
  if (out.numel() > 0) {
    const Grid grid(src.shape(), tables);
    const Tensor element = fill.defined() ? unpacked(fill) : fill;
    require(!fill.defined() || element.dtype() == bytes.dtype(), ErrorCode::kInvalidModel,
            "the data are {}, the value to fill with is {}", dtype_name(src.dtype()),
            dtype_name(fill.dtype()));
    visit_elements(bytes.dtype(), [&]<typename E>() {
      copy_rows(grid, elements<E>(bytes), mutable_elements<E>(out), out.numel(),
                fill.defined() ? elements<E>(element) : nullptr);
    });
  }
  return repacked(std::move(out), src.dtype());
}

}  // namespace assay
