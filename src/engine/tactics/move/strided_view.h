// Values whose elements are those of other values at other positions: Transpose, Reshape, Slice, Split,
// Gather of one row, Expand, and products with a number, as steps that can be composed to one strided walk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay::engine {

/// The value that a product with one number multiplies.
struct Factor {
  Value* value;
  double number;
};
/// Of a Mul or Div with a constant of one element.
std::optional<Factor> factor_of(const Node& n);

/// A value as computed by its producer from one other.
struct ViewStep {
  enum class Kind : uint8_t { kReshape, kTranspose, kPart, kPick, kExpand, kFactor };
  Kind kind;
  const Node* node;
  Value* source;
  Shape shape;                              ///< of the result
  std::vector<int64_t> perm;                ///< kTranspose
  int64_t axis = 0, first = 0, stride = 1;  ///< kPart and kPick: along one axis
  double factor = 1;
};
/// Nothing when the producer is none of these operators with known shapes and constant parameters.
std::optional<ViewStep> view_step(const Value& v);

class StridedView {
 public:
  StridedView() = default;
  /// All of a dense tensor.
  explicit StridedView(const Shape& shape)
      : shape_(shape), strides_(shape.strides()), repeats_(shape.size(), 1) {}

  /// False when the result is not a strided walk.
  bool apply(const ViewStep& step);
  bool reshape(const Shape& shape);

  const Shape& shape() const { return shape_; }
  /// In elements; along an axis that repeats, from one run of equal indices to the next.
  const std::vector<int64_t>& strides() const { return strides_; }
  /// Number of neighbouring indices of an axis with the same elements.
  int64_t repeat(size_t axis) const { return repeats_[axis]; }
  int64_t offset() const { return offset_; }
  double factor() const { return factor_; }

 private:
  Shape shape_;
  std::vector<int64_t> strides_, repeats_;
  int64_t offset_ = 0;
  double factor_ = 1;
  /// A reshape that is not carried out yet: another one may follow.
  std::optional<Shape> wanted_;

  bool settle();
};

}  // namespace assay::engine
