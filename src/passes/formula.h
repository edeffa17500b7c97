// Writes formulas: standard nodes of known shapes, added to a patch one by one.
#pragma once

#include <string>
#include <vector>

#include "passes/patch.h"

namespace assay {

/// True when a value of shape `small` broadcasts to `large`.
bool broadcasts_to(const Shape& small, const Shape& large);

/// A term of a formula: a value of the graph, or one created by the patch.
struct Term {
  Patch::Ref ref;
  DType dtype = DType::kUndefined;
  Shape shape;
};

/// Nodes of opset 10 and later that replace the node a patch is anchored at. Incompatible shapes throw Error
/// (kInternal): callers must check them.
class Formula {
 public:
  Formula(Patch& patch, const PassContext& context, std::string name)
      : patch_(patch), opset_(context.model.opset()), name_(std::move(name)) {}

  /// A value of the graph, whose type and shape are known.
  static Term of(Value* v);
  Term constant(Tensor t);
  Term number(float x) { return constant(Tensor::scalar(x)); }

  /// Any node of one result; null for an omitted input.
  Term node(const char* op, std::vector<Patch::Ref> inputs, AttributeList attributes, DType dtype,
            Shape shape);
  Term unary(const char* op, const Term& x);
  /// Elementwise, broadcast.
  Term binary(const char* op, const Term& x, const Term& y);
  Term cast(const Term& x, DType to);
  Term choose(const Term& condition, const Term& x, const Term& y);
  Term matmul(const Term& x, const Term& y);
  Term transpose(const Term& x, std::vector<int64_t> perm);
  Term reshape(const Term& x, const Shape& shape);
  /// Elements [first, last) of an axis, every `step`-th.
  Term slice(const Term& x, size_t axis, int64_t first, int64_t last, int64_t step = 1);
  Term concat(const std::vector<Term>& parts, size_t axis);
  /// Rows of the first axis.
  Term gather(const Term& x, const Term& index);
  /// Indices without counting from the end: negative ones become indices that Gather refuses.
  Term from_start(const Term& index);
  /// For images [n, c, ...]: normalizes each channel of each image to mean 0 and variance 1.
  Term instance_norm(const Term& x, float epsilon);
  /// Over the last axis, to mean 0 and variance 1, or, not `centred`, to mean square 1: the form that the
  /// passes fuse_layer_norm and fuse_rms_norm know.
  Term normalize(const Term& x, bool centred, float epsilon);
  /// Over the last axis.
  Term softmax(const Term& x);
  /// Over the last axis, or over these, which are kept with an extent of 1.
  Term reduce(const char* op, const Term& x);
  Term reduce(const char* op, const Term& x, std::vector<int64_t> axes);
  /// Comparisons and logic: bools.
  Term compare(const char* op, const Term& x, const Term& y);
  Term negate(const Term& x);
  /// The term becomes a value of the removed nodes.
  void give(const Term& x, Value* output);

 private:
  Patch::Ref ints(std::vector<int64_t> values) { return constant(Tensor::vector(values)).ref; }

  Patch& patch_;
  int64_t opset_;
  std::string name_;
};

}  // namespace assay
