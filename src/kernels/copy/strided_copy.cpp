#include "kernels/copy/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "assay/error.h"
#include "base/parallel.h"
#include "kernels/copy/transpose_block.h"

namespace assay::kernels {
namespace {

/// Elements that a thread should move at least.
constexpr int64_t kGrain = 16384;
/// Side of the square that a transposition keeps in the first-level cache; of narrow elements a whole cache
/// line is read in a row.
constexpr int64_t kSquare = 16;
/// Columns ahead of a square that a transposition asks memory for: neither they nor their rows lie in an
/// order that processors foresee.
constexpr int64_t kAhead = 2 * kSquare;
/// Runs of so many bytes are copied by a few instructions instead of a call.
constexpr int64_t kLine = 64;

struct alignas(8) Pair {
  uint64_t low, high;
};

template <typename T>
void repeat(T x, T* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = x;
}

/// to[r * to_row + c * to_column] = from[c * from_column + r] for r < rows, c < columns.
template <typename T>
void transpose(const T* from, int64_t from_column, T* to, int64_t to_row, int64_t to_column, int64_t rows,
               int64_t columns) {
  if constexpr (sizeof(T) <= 8)
    if (to_column == 1) return transpose_block(from, from_column, to, to_row, columns, rows, sizeof(T));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[r * to_row + c * to_column] = from[c * from_column + r];
}

}  // namespace

StridedCopy::StridedCopy(const Shape& domain, const std::vector<int64_t>& in_strides,
                         const std::vector<int64_t>& out_strides, size_t element_bytes)
    : element_bytes_(element_bytes) {
  require(domain.size() == in_strides.size() && domain.size() == out_strides.size(), ErrorCode::kInternal,
          "a copy over {} was given {} and {} strides", domain.str(), in_strides.size(), out_strides.size());
  require(element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8 ||
              element_bytes == 16,
          ErrorCode::kInternal, "elements of {} bytes cannot be copied", element_bytes);
  std::vector<Dimension> dims;
  for (size_t d = 0; d < domain.size(); ++d)
    if (domain[d] != 1) dims.push_back({domain[d], in_strides[d], out_strides[d]});
  // Writing in the order of memory; equal strides keep their order.
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dimension& a, const Dimension& b) { return a.out > b.out; });
  for (const Dimension& d : dims) {
    if (!outer_.empty() && outer_.back().in == d.in * d.extent && outer_.back().out == d.out * d.extent) {
      outer_.back() = {outer_.back().extent * d.extent, d.in, d.out};
    } else {
      outer_.push_back(d);
    }
  }
  choose_inner();
  const int64_t wanted = transposes_
                             ? std::max<int64_t>(kSquare, kLine / static_cast<int64_t>(element_bytes_))
                             : std::max<int64_t>(1, 1024 / std::max<int64_t>(columns_.extent, 1));
  row_block_ = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows_.extent, 1));
  row_blocks_ = (rows_.extent + row_block_ - 1) / row_block_;
  blocks_ = columns_.extent == 0 ? 0 : row_blocks_;
  for (const Dimension& d : outer_) blocks_ *= d.extent;
}

void StridedCopy::choose_inner() {
  if (outer_.empty()) return;
  columns_ = outer_.back();
  outer_.pop_back();
  if (outer_.empty()) return;
  // Reading along another dimension than writing: work on squares of the two.
  auto contiguous = std::find_if(outer_.begin(), outer_.end(), [](const Dimension& d) { return d.in == 1; });
  transposes_ = columns_.in != 1 && columns_.in != 0 && contiguous != outer_.end();
  auto chosen = transposes_ ? contiguous : std::prev(outer_.end());
  // Short runs: as many as there are along one dimension in one go.
  if (!transposes_ && columns_.extent * static_cast<int64_t>(element_bytes_) <= kLine)
    chosen = std::max_element(outer_.begin(), outer_.end(),
                              [](const Dimension& a, const Dimension& b) { return a.extent < b.extent; });
  rows_ = *chosen;
  outer_.erase(chosen);
}

template <typename T>
void StridedCopy::copy_block(const T* in, T* out, int64_t row, int64_t rows) const {
  const int64_t n = columns_.extent, is = columns_.in, os = columns_.out;
  if (transposes_) {
    for (int64_t c0 = 0; c0 < n; c0 += kSquare) {
      // Behind the last columns come the first ones of the next rows.
      const bool wraps = c0 + kAhead >= n;
      const int64_t c1 = std::min(n, c0 + kSquare), ahead = wraps ? c0 + kAhead - n : c0 + kAhead;
      const T* const next = in + row + (wraps ? rows : 0);
      for (int64_t c = ahead; c < std::min(n, ahead + kSquare); ++c) __builtin_prefetch(next + c * is);
      transpose(in + row + c0 * is, is, out + row * rows_.out + c0 * os, rows_.out, os, rows, c1 - c0);
    }
    return;
  }
  if (is == 1 && os == 1 && n * static_cast<int64_t>(sizeof(T)) == kLine) {
    for (int64_t r = row; r < row + rows; ++r) std::memcpy(out + r * rows_.out, in + r * rows_.in, kLine);
    return;
  }
  for (int64_t r = row; r < row + rows; ++r) {
    const T* from = in + r * rows_.in;
    T* to = out + r * rows_.out;
    if (is == 1 && os == 1)
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    else if (is == 0 && os == 1)
      repeat(from[0], to, n);
    else
      for (int64_t c = 0; c < n; ++c) to[c * os] = from[c * is];
  }
}

void StridedCopy::run_range(const char* in, char* out, int64_t first, int64_t last) const {
  for (int64_t block = first; block < last; ++block) {
    const int64_t row = block % row_blocks_ * row_block_, rows = std::min(row_block_, rows_.extent - row);
    int64_t rest = block / row_blocks_, from = 0, to = 0;
    for (size_t d = outer_.size(); d-- > 0; rest /= outer_[d].extent) {
      from += rest % outer_[d].extent * outer_[d].in;
      to += rest % outer_[d].extent * outer_[d].out;
    }
    const int64_t bytes = static_cast<int64_t>(element_bytes_);
    const char* a = in + from * bytes;
    char* b = out + to * bytes;
    switch (element_bytes_) {
      case 1:
        copy_block(reinterpret_cast<const uint8_t*>(a), reinterpret_cast<uint8_t*>(b), row, rows);
        break;
      case 2:
        copy_block(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<uint16_t*>(b), row, rows);
        break;
      case 4:
        copy_block(reinterpret_cast<const uint32_t*>(a), reinterpret_cast<uint32_t*>(b), row, rows);
        break;
      case 8:
        copy_block(reinterpret_cast<const uint64_t*>(a), reinterpret_cast<uint64_t*>(b), row, rows);
        break;
      default:
        copy_block(reinterpret_cast<const Pair*>(a), reinterpret_cast<Pair*>(b), row, rows);
        break;
    }
  }
}

void StridedCopy::run(const void* in, void* out) const noexcept {
  if (blocks_ <= 0) return;
  // One long run has no blocks to share out: cut it into pieces.
  if (blocks_ == 1 && rows_.extent == 1 && columns_.in == 1 && columns_.out == 1) {
    const int64_t bytes = columns_.extent * static_cast<int64_t>(element_bytes_);
    parallel_for(bytes, 4 * kGrain, [&](int64_t first, int64_t last) {
      std::memcpy(static_cast<char*>(out) + first, static_cast<const char*>(in) + first,
                  static_cast<size_t>(last - first));
    });
    return;
  }
  const int64_t work = std::max<int64_t>(row_block_ * columns_.extent, 1);
  parallel_for(blocks_, std::max<int64_t>(1, kGrain / work), [&](int64_t first, int64_t last) {
    run_range(static_cast<const char*>(in), static_cast<char*>(out), first, last);
  });
}

}  // namespace assay::kernels
