// Which weights of a model are cut for tensor parallelism, and how.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A constant that each rank has a part of.
struct WeightSlice {
  Value* weight;
  size_t axis;
};

/// Collects slices, and makes sure that what is cut is used by nothing that needs the whole.
class WeightSlices {
 public:
  explicit WeightSlices(int64_t ranks) : ranks_(ranks) {}

  /// Cuts an operand of a node along an axis: a constant, or what Cast, Identity, Transpose and
  /// DequantizeLinear (its scale and zero point with it, those that are dequantized themselves too) make of
  /// one. Throws Error (kInvalidArgument) when the extent, or that of the scale's blocks, cannot be divided
  /// by the number of ranks; when the operand is something else; when its data were not loaded; and when it
  /// is computed by nodes that others use as well. Returns the extent of the whole along the axis.
  int64_t cut(Node& user, size_t input, size_t axis);
  /// Gives cut constants that uncut nodes use, too, a second self. Call it once, when all is cut.
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

/// Gives every cut constant of the model that the slices were made for the shape of a part, but any elements;
/// nothing is copied.
void keep_shapes_of_parts(const WeightSlices& slices);
/// Gives every cut constant of a model (the one that the slices were made for, or a clone of it) the part of
/// one rank.
void keep_slices_of_rank(Model& model, const WeightSlices& slices, int64_t rank);

}  // namespace assay
