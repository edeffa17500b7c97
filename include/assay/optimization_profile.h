// The shapes for which an engine with dynamic inputs is built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/shape.h"

namespace ASSAY_API assay {

/// For inputs with open extents: the minimum and maximum shapes, and the shape to optimize for. For an input
/// whose elements determine shapes (a shape tensor, such as the target of a Reshape): minimum, optimum and
/// maximum of its elements. As TensorRT's IOptimizationProfile. Inputs that are not named
/// keep the shapes that the network declares, which must then be known.
class OptimizationProfile {
 public:
  struct Range {
    std::string input;
    /// True: elements of a shape tensor; false: extents.
    bool holds_values = false;
    std::vector<int64_t> min, opt, max;
    bool operator==(const Range&) const = default;
  };

  /// Sets extents; replaces an older range of that input. Throws Error (kInvalidArgument) naming the input
  /// unless ranks are equal and 0 <= min <= opt <= max in every position.
  void set_shape(std::string_view input, const Shape& min, const Shape& opt, const Shape& max);
  /// The same for the elements of a shape tensor, which may be negative.
  void set_shape_values(std::string_view input, std::vector<int64_t> min, std::vector<int64_t> opt,
                        std::vector<int64_t> max);

  /// Null when the profile does not name the input.
  const Range* find(std::string_view input) const;
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const OptimizationProfile&) const = default;

 private:
  void set(Range range);
  std::vector<Range> ranges_;
};

}  // namespace assay
