#include "kernels/pointwise/pointwise.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "assay/error.h"
#include "base/parallel.h"
#include "kernels/convert/convert.h"
#include "kernels/pointwise/interpret.h"
#include "kernels/pointwise/quantized_pair.h"

namespace assay::kernels {
namespace {

/// Bytes of a register's tile: the registers of a typical program fit the first-level cache.
constexpr int64_t kTileBytes = 4096;
/// Instructions times elements that a thread should handle at least.
constexpr int64_t kGrain = 16384;

/// Short rows in pieces of one size, the last of which overlaps the one before: what std::fill_n() takes to
/// find out what to do is longer than that.
template <typename T>
void repeat(T value, T* to, int64_t n) {
  constexpr auto kPiece = static_cast<int64_t>(16 / sizeof(T));
  if (n < kPiece || n > 8 * kPiece) {
    std::fill_n(to, n, value);
    return;
  }
  T piece[kPiece];
  std::fill_n(piece, kPiece, value);
  for (int64_t i = 0; i + kPiece <= n; i += kPiece) std::memcpy(to + i, piece, sizeof(piece));
  std::memcpy(to + n - kPiece, piece, sizeof(piece));
}

template <typename T>
void load_row(const T* from, int64_t stride, T* to, int64_t n) {
  if (stride == 0)
    repeat(from[0], to, n);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

/// Brings rows x columns elements into a dense buffer.
template <typename T>
void load_block(const void* data, int64_t row_stride, int64_t column_stride, void* buffer, int64_t rows,
                int64_t columns) {
  const auto* from = static_cast<const T*>(data);
  auto* to = static_cast<T*>(buffer);
  if (row_stride == 0 && rows > 1) {  // one row again and again: each copy is of all that is there
    load_block<T>(from, 1, column_stride, to, 1, columns);
    for (int64_t there = 1; there < rows; there += there)
      std::memcpy(to + there * columns, to,
                  static_cast<size_t>(std::min(there, rows - there) * columns) * sizeof(T));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (column_stride == 1)
      std::memcpy(to + r * columns, from + r * row_stride, static_cast<size_t>(columns) * sizeof(T));
    else
      load_row(from + r * row_stride, column_stride, to + r * columns, columns);
  }
}

/// The same for elements of `narrow`, which are widened in runs where they lie together.
void load_narrow(DType narrow, const char* from, int64_t row_stride, int64_t column_stride, float* to,
                 int64_t rows, int64_t columns) {
  const auto size = static_cast<int64_t>(element_size(narrow));
  if (column_stride == 1 && row_stride == columns)
    return widen_row(narrow, from, to, static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r, from += row_stride * size, to += columns) {
    if (column_stride == 1) {
      widen_row(narrow, from, to, static_cast<size_t>(columns));
    } else if (column_stride == 0) {
      widen_row(narrow, from, to, 1);
      std::fill_n(to + 1, columns - 1, to[0]);
    } else {
      for (int64_t c = 0; c < columns; ++c) widen_row(narrow, from + c * column_stride * size, to + c, 1);
    }
  }
}

void load(DType type, DType reg, const void* from, int64_t row_stride, int64_t column_stride, void* to,
          int64_t rows, int64_t columns) {
  if (type != reg)
    return load_narrow(type, static_cast<const char*>(from), row_stride, column_stride,
                       static_cast<float*>(to), rows, columns);
  switch (element_size(reg)) {
    case 1:
      return load_block<uint8_t>(from, row_stride, column_stride, to, rows, columns);
    case 2:
      return load_block<uint16_t>(from, row_stride, column_stride, to, rows, columns);
    case 4:
      return load_block<uint32_t>(from, row_stride, column_stride, to, rows, columns);
    default:
      return load_block<uint64_t>(from, row_stride, column_stride, to, rows, columns);
  }
}

}  // namespace

bool fits_register(DType type, DType reg) {
  const bool is_widened =
      type == DType::kFloat16 || type == DType::kBFloat16 || type == DType::kUInt8 || type == DType::kInt8;
  return type == reg || (is_widened && reg == DType::kFloat32);
}

/// Where a tile lies: indices outside, and the block of the two inner dimensions.
struct PointwiseLoop::Tile {
  int64_t outer;
  int64_t row, rows;
  int64_t column, columns;
};

PointwiseLoop::PointwiseLoop(PointwiseProgram program, const Shape& domain,
                             std::vector<PointwiseOperand> operands, std::vector<DType> results)
    : program_(std::move(program)), operands_(std::move(operands)), results_(std::move(results)) {
  require(static_cast<int>(operands_.size()) == program_.operands() &&
              results_.size() == program_.results().size(),
          ErrorCode::kInternal, "a pointwise program of {} operands and {} results was given {} and {}",
          program_.operands(), program_.results().size(), operands_.size(), results_.size());
  for (const PointwiseOperand& o : operands_)
    require(o.strides.size() == domain.size(), ErrorCode::kInternal,
            "{} strides for a pointwise domain of rank {}", o.strides.size(), domain.size());
  // A result leaves through a register of its own, so that it can be computed in place.
  PointwiseProgram separate = program_;
  std::vector<DType> types;
  for (int o = 0; o < separate.operands(); ++o) types.push_back(separate.type(o));
  program_ = PointwiseProgram(std::move(types));
  for (const PointwiseInstruction& in : separate.code())
    program_.append(in.op, {in.args[0], in.args[1], in.args[2]}, in.a, in.b);
  std::vector<int> taken;
  for (int r : separate.results()) {
    if (r < program_.operands() || std::find(taken.begin(), taken.end(), r) != taken.end())
      r = program_.append(PointwiseOp::kCopy, {r, -1, -1});
    taken.push_back(r);
    program_.add_result(r);
  }
  int64_t widest = 1;
  for (int r = 0; r < program_.registers(); ++r)
    widest = std::max(widest, static_cast<int64_t>(element_size(program_.type(r))));
  most_elements_ = kTileBytes / widest;
  program_.allocate_registers();
  check_types();
  require(program_.registers() <= kMaxPointwiseRegisters, ErrorCode::kInternal,
          "a pointwise program needs {} registers, more than {}", program_.registers(),
          kMaxPointwiseRegisters);
  collapse(domain);
  find_pair();
}

/// Whether it lies as the result does.
bool PointwiseLoop::is_dense(const PointwiseOperand& o) const {
  int64_t distance = 1;
  for (size_t d = o.strides.size(); d-- > 0;) {
    const int64_t extent = d + 1 == o.strides.size()   ? columns_
                           : d + 2 == o.strides.size() ? rows_
                                                       : outer_[d];
    if (extent != 1 && o.strides[d] != distance) return false;
    distance *= extent;
  }
  return true;
}

void PointwiseLoop::find_pair() {
  if (results_.size() != 1 || operands_.empty() || operands_.size() > 2) return;
  pair_first_ = is_dense(operands_[0]) ? 0 : operands_.size() - 1;
  pair_second_ = operands_.size() - 1 - pair_first_;
  const std::vector<int64_t>& strides = operands_[pair_second_].strides;
  const int64_t row = strides[strides.size() - 2], column = strides.back();
  const bool is_met = is_dense(operands_[pair_second_]) || (row == 0 && column == 1) || column == 0;
  if (!is_dense(operands_[pair_first_]) || !is_met) return;
  if (const auto pair = QuantizedPair::of(program_, operands_, results_[0], static_cast<int>(pair_first_)))
    pair_ = std::make_shared<const QuantizedPair>(*pair);
}

void PointwiseLoop::check_types() const {
  for (size_t o = 0; o < operands_.size(); ++o)
    require(fits_register(operands_[o].type, program_.type(static_cast<int>(o))), ErrorCode::kInternal,
            "operand {} of a pointwise program does not fit its register", o);
  for (size_t i = 0; i < results_.size(); ++i)
    require(fits_register(results_[i], program_.type(program_.results()[i])), ErrorCode::kInternal,
            "result {} of a pointwise program does not fit its register", i);
}

void PointwiseLoop::collapse(const Shape& domain) {
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> strides(operands_.size());
  for (size_t d = 0; d < domain.size(); ++d) {
    if (domain[d] == 1) continue;
    const bool merge = !extents.empty() && [&] {
      for (size_t o = 0; o < operands_.size(); ++o)
        if (strides[o].back() != operands_[o].strides[d] * domain[d]) return false;
      return true;
    }();
    if (merge)
      extents.back() *= domain[d];
    else
      extents.push_back(domain[d]);
    for (size_t o = 0; o < operands_.size(); ++o) {
      if (!merge) strides[o].push_back(0);
      strides[o].back() = operands_[o].strides[d];
    }
  }
  while (extents.size() < 2) {
    extents.insert(extents.begin(), 1);
    for (auto& s : strides) s.insert(s.begin(), 0);
  }
  for (size_t o = 0; o < operands_.size(); ++o) operands_[o].strides = std::move(strides[o]);
  columns_ = extents.back();
  rows_ = extents[extents.size() - 2];
  outer_.assign(extents.begin(), extents.end() - 2);
  tile_columns_ = std::min(columns_, most_elements_);
  tile_rows_ =
      columns_ == 0 ? 1 : std::clamp<int64_t>(most_elements_ / columns_, 1, std::max<int64_t>(rows_, 1));
  row_tiles_ = (rows_ + tile_rows_ - 1) / tile_rows_;
  column_tiles_ = columns_ == 0 ? 0 : (columns_ + tile_columns_ - 1) / tile_columns_;
  tiles_ = row_tiles_ * column_tiles_;
  for (const int64_t e : outer_) tiles_ *= e;
}

PointwiseLoop::Tile PointwiseLoop::locate(int64_t index) const {
  Tile t;
  t.column = index % column_tiles_ * tile_columns_;
  t.columns = std::min(tile_columns_, columns_ - t.column);
  index /= column_tiles_;
  t.row = index % row_tiles_ * tile_rows_;
  t.rows = std::min(tile_rows_, rows_ - t.row);
  t.outer = index / row_tiles_;
  return t;
}

/// Where an operand's part for one index outside the two inner dimensions begins.
int64_t PointwiseLoop::outer_offset(const PointwiseOperand& o, int64_t outer) const {
  int64_t offset = 0;
  for (size_t d = outer_.size(); d-- > 0; outer /= outer_[d]) offset += outer % outer_[d] * o.strides[d];
  return offset;
}

void PointwiseLoop::run_tiles(std::span<const void* const> operands, std::span<void* const> results,
                              int64_t first, int64_t last) const {
  alignas(64) std::byte buffers[kMaxPointwiseRegisters][kTileBytes];
  void* registers[kMaxPointwiseRegisters];
  // What an operand's buffer holds: the block that starts here, of so many elements.
  const char* held[kMaxPointwiseRegisters] = {};
  int64_t held_count[kMaxPointwiseRegisters] = {};
  for (int64_t index = first; index < last; ++index) {
    const Tile t = locate(index);
    for (size_t o = 0; o < operands_.size(); ++o) {
      const PointwiseOperand& operand = operands_[o];
      const size_t inner = outer_.size();
      const int64_t row_stride = operand.strides[inner], column_stride = operand.strides[inner + 1];
      const int64_t offset = t.row * row_stride + t.column * column_stride + outer_offset(operand, t.outer);
      const char* at =
          static_cast<const char*>(operands[o]) + offset * static_cast<int64_t>(element_size(operand.type));
      const bool dense = column_stride == 1 && (t.rows == 1 || row_stride == t.columns);
      if (dense && operand.type == program_.type(static_cast<int>(o))) {
        registers[o] = const_cast<char*>(at);  // operands are only read
        held[o] = nullptr;
        continue;
      }
      registers[o] = buffers[o];
      // Only a single element, or a whole block that repeats row by row, is the same for the next tile.
      const bool repeats = row_stride == 0 && (column_stride == 0 || tile_columns_ == columns_);
      if (repeats && held[o] == at && held_count[o] >= t.rows * t.columns) continue;
      load(operand.type, program_.type(static_cast<int>(o)), at, row_stride, column_stride, buffers[o],
           t.rows, t.columns);
      held[o] = repeats ? at : nullptr;
      held_count[o] = t.rows * t.columns;
    }
    for (int r = program_.operands(); r < program_.registers(); ++r) registers[r] = buffers[r];
    const int64_t at = (t.outer * rows_ + t.row) * columns_ + t.column, count = t.rows * t.columns;
    const auto place = [&](size_t i) {
      return static_cast<char*>(results[i]) + at * static_cast<int64_t>(element_size(results_[i]));
    };
    for (size_t i = 0; i < results_.size(); ++i)
      if (const int16_t r = program_.results()[i]; results_[i] == program_.type(r)) registers[r] = place(i);
    interpret_tile(program_.code(), registers, static_cast<size_t>(count));
    for (size_t i = 0; i < results_.size(); ++i)
      if (const int16_t r = program_.results()[i]; results_[i] != program_.type(r))
        narrow_row(results_[i], static_cast<const float*>(registers[r]), place(i),
                   static_cast<size_t>(count));
  }
}

void PointwiseLoop::run_pair(const char* a, const char* b, char* q) const {
  const PointwiseOperand& second = operands_[pair_second_];
  int64_t rows = rows_;
  for (const int64_t e : outer_) rows *= e;
  if (is_dense(second))
    return parallel_for(rows * columns_, kGrain, [&](int64_t first, int64_t last) {
      pair_->run(a + first, b + first, last - first, q + first);
    });
  const int64_t row_stride = second.strides[outer_.size()], column_stride = second.strides.back();
  parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(columns_, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last;) {
                   // The rows that meet the same.
                   const int64_t count = row_stride == 0 ? std::min(rows_ - r % rows_, last - r) : 1;
                   const char* const met = b + outer_offset(second, r / rows_) + r % rows_ * row_stride;
                   const int64_t at = r * columns_;
                   if (column_stride == 0)
                     pair_->run_rows(a + at, met, count * columns_, 1, q + at);
                   else
                     pair_->run_rows(a + at, met, count, columns_, q + at);
                   r += count;
                 }
               });
}

void PointwiseLoop::run(std::span<const void* const> operands,
                        std::span<void* const> results) const noexcept {
  if (pair_ != nullptr)
    return run_pair(static_cast<const char*>(operands[pair_first_]),
                    static_cast<const char*>(operands[pair_second_]), static_cast<char*>(results[0]));
  const int64_t work = tile_rows_ * tile_columns_ * static_cast<int64_t>(program_.code().size() + 1);
  parallel_for(tiles_, std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1)),
               [&](int64_t first, int64_t last) { run_tiles(operands, results, first, last); });
}

}  // namespace assay::kernels
