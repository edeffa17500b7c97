#include "kernels/int8/amx_product.h"

#include <algorithm>

#include "kernels/amx_x86.h"
#include "kernels/int8/vnni_panels_x86.h"
#include "kernels/int8/vnni_product.h"

namespace assay::kernels {
namespace {

static_assert(kTileSide == kInt8Columns);
/// So few rows are multiplied as fast by vectors, which need no configuration.
constexpr int64_t kFewRows = 6;
/// Rows and panels of a block.
constexpr int64_t kBlockRows = 2 * kTileSide, kBlockPanels = 2;
constexpr int64_t kBlockNumbers = kBlockRows * kBlockPanels * kInt8Columns;
/// Pairs of panels that a block of rows is multiplied with while it is in the first-level cache.
constexpr int64_t kPairs = 8;
/// Bytes of a row that are multiplied at a time, at most: then a block of rows stays there.
constexpr int64_t kAmxDepth = 1024;

/// Some rows by some pairs of panels.
class AmxProduct {
 public:
  /// `row_sums`: null where no column is shifted. With `end`: levels.
  AmxProduct(const Int8Weights& weights, const Int8Rows& a, const int32_t* row_sums, int32_t* sums,
             int64_t stride, const QuantizedEpilogue* end)
      : weights_(weights), a_(a), row_sums_(row_sums), sums_(sums), stride_(stride), end_(end) {
    if (end != nullptr)
      for (VnniEnd& e : levels_) e.bounds = vnni_bounds(end->requantization);
  }

  /// `count` panels from `panel` on, which are the first ones of the sums; `columns` of them are there.
  void run(const void* packed, int64_t panel, int64_t count, int64_t columns, int64_t rows) {
    packed_ = packed, panel_ = panel, count_ = count, columns_ = columns;
    begin();
    const int64_t length = int8_row_length(weights_.k), rest = length % kTileRowBytes, whole = length - rest;
    int64_t k = 0;
    while (k < whole) {
      const int64_t bytes = whole - k <= kAmxDepth * 3 / 2 ? whole - k : kAmxDepth;
      add(k, bytes / kTileRowBytes, kTileRowBytes, rows, k + bytes == length);
      k += bytes;
    }
    if (rest > 0) add(k, 1, rest, rows, true);
    for (int64_t p = 0; end_ != nullptr && p < count_; p += kBlockPanels)
      if (!makes_levels_[p / kBlockPanels])
        requantize({sums_ + p * kInt8Columns, stride_, rows, columns_of(p)}, end_->at(0, p * kInt8Columns));
  }

 private:
  int64_t columns_of(int64_t panel) const {
    return std::min(kBlockPanels * kInt8Columns, columns_ - panel * kInt8Columns);
  }

  ASSAY_VNNI void begin() {
    for (int64_t p = 0; p < count_; ++p)
      _mm512_store_si512(start_ + p * kInt8Columns,
                         first_sums(*weights_.columns(packed_, panel_ + p), a_.zero_point, nullptr));
    for (int64_t p = 0; end_ != nullptr && p < count_; p += kBlockPanels) {
      VnniEnd& levels = levels_[p / kBlockPanels];
      levels.to = end_->at(0, p * kInt8Columns);
      levels.columns = columns_of(p);
      makes_levels_[p / kBlockPanels] = read_panels(std::min(kBlockPanels, count_ - p), levels);
    }
  }

  /// The sums of a block of rows, one after the other, where columns are shifted.
  ASSAY_VNNI const char* start_of_rows(int64_t panel, int64_t panels, int64_t row, int64_t count) {
    for (int64_t r = 0; r < count; ++r)
      for (int64_t p = 0; p < panels; ++p)
        _mm512_store_si512(
            block_ + (r * panels + p) * kInt8Columns,
            first_sums(*weights_.columns(packed_, panel_ + panel + p), a_.zero_point, row_sums_ + row + r));
    return reinterpret_cast<const char*>(block_);
  }

  /// Products of `steps` times `bytes` bytes of each row from byte `k` on.
  void add(int64_t k, int64_t steps, int64_t bytes, int64_t rows, bool is_last) {
    for_tile_rows(rows, bytes, [&](int64_t row, int64_t count, bool has_lower) {
      for (int64_t p = 0; p < count_; p += kBlockPanels) {
        const bool has_right = p + 1 < count_;
        const int64_t row_bytes = has_right ? 2 * kTileRowBytes : kTileRowBytes;
        const bool quantizes = is_last && end_ != nullptr && makes_levels_[p / kBlockPanels];
        TileBlock b{
            .a = reinterpret_cast<const char*>(a_.data + row * a_.stride + k),
            .a_bytes = a_.stride,
            .w = static_cast<const char*>(packed_) + (panel_ + p) * weights_.panel_bytes() + k * kInt8Columns,
            .panel_bytes = weights_.panel_bytes(),
            .steps = steps,
            .start = reinterpret_cast<const char*>(start_ + p * kInt8Columns),
            .start_bytes = 0,
            .sums = reinterpret_cast<char*>(sums_ + row * stride_ + p * kInt8Columns),
            .sum_bytes = stride_ * 4};
        if (k > 0)
          b.start = b.sums, b.start_bytes = b.sum_bytes;
        else if (row_sums_ != nullptr)
          b.start = start_of_rows(p, has_right ? 2 : 1, row, count), b.start_bytes = row_bytes;
        if (quantizes) b.sums = reinterpret_cast<char*>(block_), b.sum_bytes = row_bytes;
        multiply_block<AmxNumbers::kInt8>(b, has_lower, has_right);
        if (!quantizes) continue;
        has_right ? store_quantized<2>(block_, row, count, levels_[p / kBlockPanels])
                  : store_quantized<1>(block_, row, count, levels_[p / kBlockPanels]);
      }
    });
  }

  const Int8Weights& weights_;
  Int8Rows a_;
  const int32_t* row_sums_;
  int32_t* sums_;
  int64_t stride_;
  const QuantizedEpilogue* end_;
  const void* packed_ = nullptr;
  int64_t panel_ = 0, count_ = 0, columns_ = 0;
  alignas(64) int32_t start_[kPairs * kBlockPanels * kInt8Columns];
  alignas(64) int32_t block_[kBlockNumbers] = {};
  VnniEnd levels_[kPairs];
  bool makes_levels_[kPairs] = {};
};

/// With `end`, of `columns` columns: levels; otherwise sums of whole panels.
void multiply_amx(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                  const QuantizedEpilogue* end) noexcept {
  constexpr int64_t kPanels = kPairs * kBlockPanels;
  const int64_t count = Int8Weights::panels_of(columns);
  int32_t row_sums[kVnniRows];
  const bool shifted = weights.shifts(packed, panel, count);
  for (int64_t row = 0; row < rows; row += kVnniRows) {
    const int64_t part = std::min(kVnniRows, rows - row);
    if (shifted) add_up_rows(a, row, part, int8_row_length(weights.k), row_sums);
    for (int64_t p = 0; p < count; p += kPanels) {
      const int64_t taken = std::min(kPanels, count - p), column = p * kInt8Columns;
      QuantizedEpilogue to{};
      if (end != nullptr) to = end->at(row, column);
      AmxProduct(weights, {a.data + row * a.stride, a.stride, a.zero_point}, shifted ? row_sums : nullptr,
                 sums + row * stride + column, stride, end == nullptr ? nullptr : &to)
          .run(packed, panel + p, taken, std::min(taken * kInt8Columns, columns - column), part);
    }
  }
  release_tiles();
}

}  // namespace

void amx_int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                      const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  if (rows < kFewRows) return vnni_product(weights, packed, panel, count, a, rows, sums, stride);
  multiply_amx(weights, packed, panel, count * kInt8Columns, a, rows, sums, stride, nullptr);
}

void amx_int8_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel,
                                int64_t columns, const Int8Rows& a, int64_t rows, int32_t* sums,
                                int64_t stride, const QuantizedEpilogue& end) noexcept {
  if (rows < kFewRows)
    return vnni_product_quantized(weights, packed, panel, columns, a, rows, sums, stride, end);
  multiply_amx(weights, packed, panel, columns, a, rows, sums, stride, &end);
}

}  // namespace assay::kernels
