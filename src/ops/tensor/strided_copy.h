// Copies between N-d regions of any strides: shared by
// Transpose, Slice, Concat, Split, Expand, Tile and Pad.
#pragma once

#include <vector>

#include "assay/tensor.h"

namespace assay {

/// The location of an N-d region in a tensor: the index of its first element, and the step in elements along
/// each dimension. Steps may be negative, and 0 in a source.
struct Region {
  int64_t offset = 0;
  std::vector<int64_t> strides;
};

/// dst[to.offset + sum(i * to.strides)] = src[from.offset + sum(i * from.strides)] for every index i of
/// `extents`, in parallel. Both tensors have one type, which is not packed; both regions are inside their
/// tensors, and no two indices name the same destination. The fastest dimension of the destination should be
/// the last.
void strided_copy(const Tensor& src, const Region& from, Tensor& dst, const Region& to, const Shape& extents);

/// A new tensor of shape `extents` that holds the region; any element type. Throws Error (kInvalidModel) when
/// it is larger than checked_allocation allows.
Tensor copy_region(const Tensor& src, const Region& from, const Shape& extents);

/// The tensor with its dimensions in another order: output dimension i is input dimension order[i].
Tensor permuted(const Tensor& src, const std::vector<size_t>& order);

}  // namespace assay
