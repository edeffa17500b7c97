// Normalizations by means, squares and roots.
#include <algorithm>
#include <numeric>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// The axes from `axis` on: counted from the end, so that a negative axis needs no rank.
AttributeList axes_from(Rewrite& r) {
  int64_t axis = std::max<int64_t>(r.get_int("axis", -1), -INT64_MAX);
  if (axis >= 0) axis -= r.rank(0);
  std::vector<int64_t> axes(static_cast<size_t>(listable(std::max<int64_t>(0, -axis), "axes")));
  std::iota(axes.begin(), axes.end(), axis);
  return {{"axes", axes}, {"keepdims", int64_t{1}}};
}

/// Uses the model's type if statistics of doubles would
/// be rounded to float: like the reference, in double.
DType stash_of(Rewrite& r) {
  const auto stash = static_cast<DType>(r.get_int("stash_type", 1));
  return r.dtype(0) == DType::kFloat64 ? DType::kFloat64 : stash;
}

void expand_layer_normalization(Rewrite& r) {
  const DType stash = stash_of(r);
  if (r.dtype(0) == DType::kFloat64 && (r.is_used(1) || r.is_used(2)))
    no_equivalent("mean and deviation of doubles");
  const AttributeList axes = axes_from(r);
  Value* x = cast(r, r.input(0), stash);
  Value* mean = r.add("ReduceMean", {x}, axes);
  Value* centred = r.add("Sub", {x, mean});
  Value* variance = r.add("ReduceMean", {r.add("Mul", {centred, centred})}, axes);
  Value* moved = r.add("Add", {variance, r.number(r.get_float("epsilon", 1e-5), stash, "epsilon")});
  Value* deviation = r.add("Sqrt", {moved});
  Value* y = cast(r, r.add("Div", {centred, deviation}), r.dtype(0));
  y = r.add("Mul", {y, r.input(1)});
  if (r.input(2) != nullptr) y = r.add("Add", {y, r.input(2)});
  r.replace({y, r.is_used(1) ? mean : nullptr, r.is_used(2) ? r.add("Reciprocal", {deviation}) : nullptr});
}

void expand_rms_normalization(Rewrite& r) {
  const DType stash = stash_of(r);
  Value* x = cast(r, r.input(0), stash);
  Value* square = r.add("ReduceMean", {r.add("Mul", {x, x})}, axes_from(r));
  Value* moved = r.add("Add", {square, r.number(r.get_float("epsilon", 1e-5), stash, "epsilon")});
  Value* y = cast(r, r.add("Div", {x, r.add("Sqrt", {moved})}), r.dtype(0));
  r.replace({r.add("Mul", {cast(r, y, r.dtype(1)), r.input(1)})});
}

/// Groups as channels; version 18 has a scale and bias for each.
void expand_group_normalization(Rewrite& r) {
  const int64_t groups = r.get_int("num_groups", 0);
  Value* rows = r.add("Reshape", {r.input(0), r.ints({0, groups, -1}, "groups")});
  const float epsilon = static_cast<float>(r.get_float("epsilon", 1e-5));
  Value* y = r.add("InstanceNormalization", {rows, r.input(1), r.input(2)}, {{"epsilon", epsilon}});
  r.replace({r.add("Reshape", {y, r.add("Shape", {r.input(0)})})});
}

void expand_mean_variance_normalization(Rewrite& r) {
  std::vector<int64_t> axes = r.get_ints("axes");
  if (!r.has("axes")) axes = {0, 2, 3};
  const AttributeList over = {{"axes", axes}, {"keepdims", int64_t{1}}};
  const DType t = r.dtype(0);
  Value* centred = r.add("Sub", {r.input(0), r.add("ReduceMean", {r.input(0)}, over)});
  Value* variance = r.add("ReduceMean", {r.add("Mul", {centred, centred})}, over);
  Value* deviation = r.add("Add", {r.add("Sqrt", {variance}), r.number(1e-9, t, "epsilon")});
  r.replace({r.add("Div", {centred, deviation})});
}

}  // namespace

constinit const Expansion expansion_onnx_LayerNormalization = {
    "", "LayerNormalization", 13, "means of the input and its squares", expand_layer_normalization};
constinit const Expansion expansion_onnx_RMSNormalization = {
    "", "RMSNormalization", 13, "the mean of the squares", expand_rms_normalization};
constinit const Expansion expansion_onnx_GroupNormalization = {
    "", "GroupNormalization", 13, "InstanceNormalization with groups as channels",
    expand_group_normalization};
constinit const Expansion expansion_onnx_MeanVarianceNormalization = {"", "MeanVarianceNormalization", 8,
                                                                      "means of the input and its squares",
                                                                      expand_mean_variance_normalization};

}  // namespace assay
