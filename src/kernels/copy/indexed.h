// Elements and slices that indices point to: GatherElements, GatherND, ScatterElements and ScatterND.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/dtype.h"
#include "assay/shape.h"

namespace assay::kernels {

/// How an element that is scattered to combines with the one that was there, or with others scattered to it.
enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMin, kMax };

/// Whether a reduction combines elements of this type; those of others are only moved.
constexpr bool is_combined(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat64 || type == DType::kInt32 || type == DType::kInt64;
}

/// Position p of `index` stands for the element of `data` at p with p[axis] replaced by the index there. Both
/// have the same rank, at least 1, and index[d] <= data[d] for every other axis.
struct ElementWalk {
  Shape data, index;
  size_t axis = 0;
};

/// out[p] = in[element of p]. Negative indices count from the end. Returns false, with `out` partly written,
/// when an index is out of range. element_bytes is 1, 2, 4, 8 or 16.
template <typename Index>
bool gather_elements(const ElementWalk& walk, const void* in, const Index* index, void* out,
                     size_t element_bytes) noexcept;

/// data[element of p] = updates[p], or combined with it, in the order of p. Returns false, with `data` partly
/// written, when an index is out of range.
template <typename Index>
bool scatter_elements(const ElementWalk& walk, void* data, const Index* index, const void* updates,
                      size_t element_bytes, DType type, ScatterReduction reduction) noexcept;

/// `tuples` index tuples of `width` for each of `batches` parts of the data; a tuple's indices are below the
/// `extents`, and it stands for `slice` elements in one piece.
struct SliceWalk {
  int64_t batches = 1, tuples = 0, slice = 1;
  Shape extents;  ///< `width` of them
};

/// Copies the slices out, one after the other. As gather_elements.
bool gather_slices(const SliceWalk& walk, const void* in, const int64_t* index, void* out,
                   size_t element_bytes) noexcept;

/// Copies slices that follow each other to their places, in order. As scatter_elements.
bool scatter_slices(const SliceWalk& walk, void* data, const int64_t* index, const void* updates,
                    size_t element_bytes, DType type, ScatterReduction reduction) noexcept;

}  // namespace assay::kernels
