#include "ops/tensor/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/parallel.h"
#include "ops/tensor/elements.h"

namespace assay {
namespace {

/// The least bytes per thread.
constexpr int64_t kByteGrain = int64_t{1} << 16;
/// Side of the blocks, in elements, in which two dimensions are transposed.
template <typename E>
constexpr int64_t kSide = sizeof(E) <= 16 ? 32 : 8;

/// One dimension of the copy; strides in bytes.
struct Axis {
  int64_t extent, src, dst;
};

/// The copy with dimensions of extent 1 omitted and neighbours merged where both sides are contiguous.
std::vector<Axis> merged_axes(const Shape& extents, const Region& from, const Region& to, int64_t width) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    const Axis axis{extents[d], from.strides[d] * width, to.strides[d] * width};
    if (!axes.empty() && axes.back().src == axis.src * axis.extent &&
        axes.back().dst == axis.dst * axis.extent)
      axes.back() = {axes.back().extent * axis.extent, axis.src, axis.dst};
    else
      axes.push_back(axis);
  }
  return axes;
}

int64_t product(const std::vector<Axis>& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.extent;
  return n;
}

/// Walks the indices of some axes in row-major order and keeps the byte offsets on both sides.
class Odometer {
 public:
  Odometer(const std::vector<Axis>& axes, int64_t position) : axes_(axes), at_(axes.size()) {
    for (size_t d = axes.size(); d-- > 0; position /= axes[d].extent) {
      at_[d] = position % axes[d].extent;
      src += at_[d] * axes[d].src;
      dst += at_[d] * axes[d].dst;
    }
  }
  void next() {
    for (size_t d = axes_.size(); d-- > 0;) {
      src += axes_[d].src;
      dst += axes_[d].dst;
      if (++at_[d] < axes_[d].extent) return;
      src -= axes_[d].src * axes_[d].extent;
      dst -= axes_[d].dst * axes_[d].extent;
      at_[d] = 0;
    }
  }
  int64_t src = 0, dst = 0;

 private:
  const std::vector<Axis>& axes_;
  std::vector<int64_t> at_;
};

/// Blocks of `bytes` contiguous bytes on both sides.
void copy_blocks(const std::vector<Axis>& axes, const char* src, char* dst, int64_t bytes) {
  if (axes.empty()) {
    parallel_for(bytes, kByteGrain, [&](int64_t first, int64_t last) {
      std::memcpy(dst + first, src + first, static_cast<size_t>(last - first));
    });
    return;
  }
  parallel_for(product(axes), std::max<int64_t>(1, kByteGrain / bytes), [&](int64_t first, int64_t last) {
    Odometer at(axes, first);
    for (int64_t i = first; i < last; ++i, at.next())
      std::memcpy(dst + at.dst, src + at.src, static_cast<size_t>(bytes));
  });
}

/// Elements one by one: the last axis in the inner loop, cut into pieces so that a single long axis is shared
/// too.
template <typename E>
void copy_rows(std::vector<Axis> axes, const char* src, char* dst) {
  constexpr int64_t kPiece = kByteGrain / static_cast<int64_t>(sizeof(E));
  const Axis row = axes.back();
  axes.pop_back();
  const int64_t pieces = (row.extent + kPiece - 1) / kPiece;
  const int64_t grain = std::max<int64_t>(1, kPiece / std::min(row.extent, kPiece));
  parallel_for(product(axes) * pieces, grain, [&](int64_t first, int64_t last) {
    Odometer at(axes, first / pieces);
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = i % pieces * kPiece, end = std::min(begin + kPiece, row.extent);
      const char* s = src + at.src + begin * row.src;
      char* d = dst + at.dst + begin * row.dst;
      for (int64_t k = begin; k < end; ++k, s += row.src, d += row.dst)
        *reinterpret_cast<E*>(d) = *reinterpret_cast<const E*>(s);
      if (end == row.extent) at.next();
    }
  });
}

/// A block of two axes: `near` runs along the source's memory, `row` along the destination's. The block is
/// transposed in a buffer, so that both memories are accessed in whole runs whatever their strides.
template <typename E>
void copy_tile(const Axis& near, const Axis& row, int64_t near_count, int64_t row_count, const char* src,
               char* dst) {
  constexpr int64_t kWidth = sizeof(E);
  E tile[kSide<E> * kSide<E>];
  for (int64_t r = 0; r < row_count; ++r)
    for (int64_t n = 0; n < near_count; ++n)
      tile[n * row_count + r] = *reinterpret_cast<const E*>(src + r * row.src + n * near.src);
  if (near.dst == row_count * kWidth) {
    std::memcpy(dst, tile, static_cast<size_t>(near_count * row_count * kWidth));
    return;
  }
  for (int64_t n = 0; n < near_count; ++n)
    std::memcpy(dst + n * near.dst, tile + n * row_count, static_cast<size_t>(row_count * kWidth));
}

/// The last axis is contiguous in the destination, axis `near_index` in the source.
template <typename E>
void copy_transposed(std::vector<Axis> axes, size_t near_index, const char* src, char* dst) {
  constexpr int64_t kTile = kSide<E>;
  const Axis near = axes[near_index], row = axes.back();
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(near_index));
  axes.pop_back();
  const auto tiles = [](const Axis& a) {
    return Axis{(a.extent + kTile - 1) / kTile, a.src * kTile, a.dst * kTile};
  };
  axes.push_back(tiles(near));
  axes.push_back(tiles(row));
  const int64_t near_tiles = axes[axes.size() - 2].extent, row_tiles = axes.back().extent;
  const int64_t grain = std::max<int64_t>(1, kByteGrain / (kTile * kTile * static_cast<int64_t>(sizeof(E))));
  parallel_for(product(axes), grain, [&](int64_t first, int64_t last) {
    Odometer at(axes, first);
    for (int64_t i = first; i < last; ++i, at.next()) {
      const int64_t n = i / row_tiles % near_tiles * kTile, r = i % row_tiles * kTile;
      copy_tile<E>(near, row, std::min(kTile, near.extent - n), std::min(kTile, row.extent - r), src + at.src,
                   dst + at.dst);
    }
  });
}

template <typename E>
void copy_elements(std::vector<Axis> axes, const char* src, char* dst) {
  constexpr int64_t kWidth = sizeof(E);
  if (axes.empty()) {
    *reinterpret_cast<E*>(dst) = *reinterpret_cast<const E*>(src);
    return;
  }
  if constexpr (!std::is_same_v<E, std::string>) {
    if (axes.back().dst == kWidth && axes.back().src != kWidth)
      for (size_t d = 0; d + 1 < axes.size(); ++d)
        if (axes[d].src == kWidth) return copy_transposed<E>(std::move(axes), d, src, dst);
  }
  copy_rows<E>(std::move(axes), src, dst);
}

void copy_bytes(std::vector<Axis> axes, const char* src, char* dst, int64_t width) {
  int64_t block = width;
  if (!axes.empty() && axes.back().src == width && axes.back().dst == width) {
    block *= axes.back().extent;
    axes.pop_back();
  }
  switch (block) {
    case 1:
      return copy_elements<Bits<1>>(std::move(axes), src, dst);
    case 2:
      return copy_elements<Bits<2>>(std::move(axes), src, dst);
    case 4:
      return copy_elements<Bits<4>>(std::move(axes), src, dst);
    case 8:
      return copy_elements<Bits<8>>(std::move(axes), src, dst);
    case 16:
      return copy_elements<Bits<16>>(std::move(axes), src, dst);
    // Short runs that are transposed as whole ones.
    case 32:
      return copy_elements<Bits<32>>(std::move(axes), src, dst);
    case 64:
      return copy_elements<Bits<64>>(std::move(axes), src, dst);
    default:
      return copy_blocks(axes, src, dst, block);
  }
}

}  // namespace

void strided_copy(const Tensor& src, const Region& from, Tensor& dst, const Region& to,
                  const Shape& extents) {
  require(src.dtype() == dst.dtype() && !is_packed(src.dtype()), ErrorCode::kInternal, "cannot copy {} to {}",
          dtype_name(src.dtype()), dtype_name(dst.dtype()));
  if (extents.numel() == 0) return;
  const bool strings = src.dtype() == DType::kString;
  const int64_t width = strings ? static_cast<int64_t>(sizeof(std::string)) : bit_width(src.dtype()) / 8;
  std::vector<Axis> axes = merged_axes(extents, from, to, width);
  const char* s = static_cast<const char*>(src.data()) + from.offset * width;
  char* d = static_cast<char*>(dst.mutable_data()) + to.offset * width;
  if (strings)
    copy_elements<std::string>(std::move(axes), s, d);
  else
    copy_bytes(std::move(axes), s, d, width);
}

Tensor copy_region(const Tensor& src, const Region& from, const Shape& extents) {
  const Tensor bytes = unpacked(src);
  Tensor out = checked_allocation(bytes.dtype(), extents);
  strided_copy(bytes, from, out, {0, extents.strides()}, extents);
  return repacked(std::move(out), src.dtype());
}

Tensor permuted(const Tensor& src, const std::vector<size_t>& order) {
  const std::vector<int64_t> strides = src.shape().strides();
  Shape out;
  Region from;
  for (const size_t d : order) {
    out.push_back(src.shape()[d]);
    from.strides.push_back(strides[d]);
  }
  return copy_region(src, from, out);
}

}  // namespace assay
