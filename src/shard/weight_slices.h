// Slicing of a model's weights for tensor parallelism.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A constant of which each rank has a part.
struct WeightSlice {
  Value* weight;
  size_t axis;
};

/// Collects slices, and ensures that sliced constants have no users that need the whole.
class WeightSlices {
 public:
  explicit WeightSlices(int64_t ranks) : ranks_(ranks) {}

  /// Slices an operand of a node along an axis: a constant, possibly through Cast, Identity, Transpose and
  /// DequantizeLinear (with its scale and zero point, also if those are dequantized themselves). Throws Error
  /// (kInvalidArgument) when the extent, or that of the scale's blocks, cannot be divided
  /// by the number of ranks; for any other operand; when its data were not loaded; and when it is computed by
  /// nodes with other users. Returns the extent of the whole along the axis.
  int64_t cut(Node& user, size_t input, size_t axis);
  /// Duplicates sliced constants that are also used whole. Call it once, when all slices are collected.
  void separate_shared();

  const std::vector<WeightSlice>& all() const { return slices_; }
  /// The number of ranks.
  int64_t ranks() const { return ranks_; }

 private:
  struct Use {
    Node* user;
    size_t input;
  };
  int64_t cut_constant(Value& v, size_t axis, Use use);
  int64_t cut_dequantized(Node& dequantize, size_t axis);
  void cut_parameter(Node& dequantize, size_t input, size_t axis, size_t rank);

  int64_t ranks_;
  std::vector<WeightSlice> slices_;
  std::unordered_map<const Value*, std::vector<std::pair<size_t, Use>>> uses_;  // axis and use, by constant
};

/// Sets the shape of a part, with arbitrary elements, for every sliced constant of the model; nothing is
/// copied.
void keep_shapes_of_parts(const WeightSlices& slices);
/// Sets every sliced constant of a model (the
/// original or a clone) to the part of one rank.
void keep_slices_of_rank(Model& model, const WeightSlices& slices, int64_t rank);

}  // namespace assay
