// The sliding window of convolutions and pools as ONNX describes it: kernel_shape, strides, dilations, pads,
// auto_pad and ceil_mode.
#pragma once

#include <string>
#include <vector>

#include "kernels/conv.h"
#include "ops/op_context.h"

namespace assay {

/// A node's window attributes, checked. One entry per spatial axis.
struct WindowAttributes {
  enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

  std::vector<int64_t> kernel;  ///< empty: not known yet
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> begin, end;  ///< the attribute pads; zeros unless auto_pad is NOTSET
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;

  /// The output extent along an axis, symbolic when the input's is. Throws Error when the window does not
  /// fit.
  Dim output_extent(size_t axis, const Dim& in) const;
  /// Output extents for spatial inputs.
  Dims output_extents(const Dims& in) const;
  /// The window over an image of known extents; the kernel must be known.
  kernels::Window over(const Shape& spatial) const;
};

/// Reads the attributes of a node whose input has `rank` spatial axes. `kernel` comes from the weights and
/// may be empty (unknown, or a pool); kernel_shape must agree with it. Attributes that the operator's version
/// lacks have their defaults. Throws Error when one has the wrong length or is out of range.
WindowAttributes read_window(const OpContext& c, size_t rank, std::vector<int64_t> kernel = {});

/// The kernel's extents in a shape of weights [M, C, kernel...]; empty when one is not known.
std::vector<int64_t> known_kernel(const Dims& weights);

/// The spatial extents of a shape [N, C, spatial...].
Dims spatial_dims(const Dims& dims);
Shape spatial_shape(const Shape& shape);

/// True when this version of the operator has the attribute.
bool knows_attr(const OpContext& c, std::string_view name);

/// An attribute with one number per spatial axis (`per_axis` numbers), each within [lowest, 2^31);
/// `otherwise` repeated when it is left out. Throws Error naming the attribute.
std::vector<int64_t> window_ints(const OpContext& c, std::string_view name, size_t count, int64_t otherwise,
                                 int64_t lowest);
WindowAttributes::AutoPad read_auto_pad(const OpContext& c);

}  // namespace assay
