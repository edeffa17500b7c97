// Moves elements between two strided views of memory: the core of Transpose, Slice, Concat, Expand, Pad and
// their like.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/shape.h"

namespace assay::kernels {

/// Copies every point of a domain. Strides are in elements; an input stride of 0 repeats, a negative one
/// walks backwards. Immutable: may be shared.
class StridedCopy {
 public:
  /// element_bytes is 1, 2, 4, 8 or 16; throws Error (kInternal) otherwise, or when the numbers of extents
  /// and strides differ.
  StridedCopy(const Shape& domain, const std::vector<int64_t>& in_strides,
              const std::vector<int64_t>& out_strides, size_t element_bytes);

  /// `in` and `out` point to the elements of index 0 and must not overlap. Parallel when there is enough to
  /// move.
  void run(const void* in, void* out) const noexcept;

 private:
  struct Dimension {
    int64_t extent, in, out;
  };
  void run_range(const char* in, char* out, int64_t first, int64_t last) const;
  template <typename T>
  void copy_block(const T* in, T* out, int64_t row, int64_t rows) const;
  void choose_inner();

  std::vector<Dimension> outer_;  // outermost first
  Dimension rows_{1, 0, 0}, columns_{1, 0, 0};
  bool transposes_ = false;
  size_t element_bytes_;
  int64_t row_block_ = 1, row_blocks_ = 1, blocks_ = 0;
};

}  // namespace assay::kernels
