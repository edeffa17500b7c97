// Padding: a copy of a tensor with more or fewer elements at the ends of its axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/shape.h"

namespace assay::kernels {

/// The elements beyond the ends: a number, the mirrored data, the last element, or the data again as on a
/// torus.
enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
/// ONNX's names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kPadModes = {"constant", "reflect", "edge", "wrap"};

/// Immutable: may be shared.
class PadCopy {
 public:
  /// `begin` and `end`: elements added to each axis, negative ones cut off; then what is mirrored or repeated
  /// is what is left. element_bytes is 1, 2, 4, 8 or 16. Throws Error (kInternal) where more is cut than
  /// there is, or an axis without elements would have to be padded from itself.
  PadCopy(const Shape& in, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, PadMode mode,
          size_t element_bytes);

  const Shape& output() const { return out_; }
  /// `value`: the element for kConstant.
  void run(const void* in, void* out, const void* value) const noexcept;

 private:
  void run_rows(const char* in, char* out, const char* value, int64_t first, int64_t last) const;

  Shape in_, out_;
  std::vector<std::vector<int64_t>> sources_;  // by axis and output index: the input's index, or -1
  size_t last_ = 0;                            // the last axis that is padded
  int64_t direct_ = 0, directs_ = 0;           // output indices of that axis with the input's layout
  int64_t rows_ = 0;                           // of the axes before it
  size_t unit_ = 0;                            // bytes of one index of that axis
  size_t element_bytes_;
};

}  // namespace assay::kernels
