// Converts a tensor to a requested shape, if possible without losing elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// One conversion of a tensor, or a failed one.
struct ShapeStep {
  enum class Kind : uint8_t { kReshaped, kPermuted, kCannotReshape, kCannotPermute };
  Kind kind;
  std::vector<int64_t> from, to;
  std::vector<int64_t> permutation = {};  ///< of kPermuted: axis i of the result is axis permutation[i]
};

/// The tensor itself when it has the shape; else permuted when the extents are the same in another order,
/// else reshaped. A negative extent is open: a single one follows from the number of elements, several take
/// the tensor's own extents when the ranks agree. When the number of elements differs, the tensor is returned
/// unchanged. Adds each conversion or failure to `steps`.
Tensor try_match_shape(const Tensor& tensor, std::span<const int64_t> dims, std::vector<ShapeStep>& steps);

/// Axis i of the result is axis permutation[i] of the tensor. Throws Error (kInvalidArgument) unless
/// `permutation` names every axis once. Packed types come back unpacked (see tensor/half.h).
Tensor transpose(const Tensor& tensor, std::span<const int64_t> permutation);

}  // namespace assay
