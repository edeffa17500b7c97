// Normalization: its axes and scales.
#include <algorithm>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

std::vector<int64_t> swapped_axes(int rank, int64_t axis) {
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < rank; ++d) perm.push_back(d);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return perm;
}

/// Earlier, all axes from the given one on counted as one.
void softmax_over_rows(Rewrite& r) {
  const int64_t axis = r.get_int("axis", 1);
  const int rank = rank_of(r.input(0));
  if (rank > 0 && (axis < 0 ? axis + rank : axis) == rank - 1) return r.node().set_attribute("axis", axis);
  Value* shape = r.add("Shape", {r.input(0)});
  r.node().set_input(0, r.add("Flatten", {r.input(0)}, {{"axis", axis}}));
  r.node().set_attribute("axis", int64_t{-1});
  Value* out = r.output(0);
  r.give(out, "Reshape", {r.take_output(0), shape});
}

/// Rows are along the last axis only.
void softmax_over_last_axis(Rewrite& r) {
  const int rank = r.rank(0);
  const int64_t axis = r.front_axis(r.get_int("axis", -1), 0);
  if (axis < 0 || axis >= rank) no_equivalent("the axis {} of an input of rank {}", axis, rank);
  r.node().set_attribute("axis", int64_t{rank - 1});
  if (axis == rank - 1) return;
  const AttributeList perm = {{"perm", swapped_axes(rank, axis)}};
  r.node().set_input(0, r.add("Transpose", {r.input(0)}, perm));
  Value* out = r.output(0);
  r.give(out, "Transpose", {r.take_output(0)}, perm);
}

/// One mean and variance for each feature of an entry: as many channels without extent.
void features_to_channels(Rewrite& r) {
  if (r.get_int("spatial", 1) != 0) return r.node().remove_attribute("spatial");
  if (r.is_used(1) || r.is_used(2) || r.is_used(3) || r.is_used(4))
    no_equivalent("the attribute 'spatial' = 0 in training");
  r.node().remove_attribute("spatial");
  Value* shape = r.add("Shape", {r.input(0)});
  r.node().set_input(0, r.add("Flatten", {r.input(0)}, {{"axis", int64_t{1}}}));
  for (size_t i = 1; i < 5; ++i) r.node().set_input(i, r.add("Reshape", {r.input(i), r.ints({-1}, "shape")}));
  Value* out = r.output(0);
  r.give(out, "Reshape", {r.take_output(0), shape});
}

/// More than one output meant training.
void batch_norm_name_training(Rewrite& r) {
  bool is_training = false;
  for (size_t i = 1; i < r.node().outputs().size(); ++i) is_training |= r.output(i) != nullptr;
  if (r.is_used(3)) no_equivalent("the output 'saved_mean'");
  if (r.is_used(4)) no_equivalent("the output 'saved_var'");
  if (is_training) r.node().set_attribute("training_mode", int64_t{1});
  std::vector<Value*> outputs = r.node().outputs();
  outputs.resize(is_training ? std::min<size_t>(outputs.size(), 3) : 1);
  r.node().set_outputs(outputs);
}

void batch_norm_show_training(Rewrite& r) {
  const bool is_training = r.get_int("training_mode", 0) != 0;
  r.node().remove_attribute("training_mode");
  if (!is_training) return r.node().set_outputs({r.output(0)});
  // One output, or all five.
  Graph& g = r.node().graph();
  for (size_t i = 1; i < 5; ++i)
    if (r.output(i) == nullptr)
      r.node().set_output(i, g.add_value(g.unique_name(r.output(0)->name() + "/statistics")));
}

/// Each number of a group repeated for the channels of the group.
Value* for_channels(Rewrite& r, Value* groups, int64_t count, Value* size) {
  Value* column = r.add("Reshape", {groups, r.ints({count, 1}, "column")});
  Value* shape = r.add("Concat", {r.ints({count}, "groups"), size}, {{"axis", int64_t{0}}});
  return r.add("Reshape", {r.add("Expand", {column, shape}), r.ints({-1}, "row")});
}

void scale_channels(Rewrite& r) {
  const int64_t groups = r.get_int("num_groups", 0);
  if (groups < 1) no_equivalent("the attribute 'num_groups' = {}", groups);
  Value* channels = r.add("Shape", {r.input(0)}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  Value* size = r.add("Div", {channels, r.ints({groups}, "groups")});
  for (size_t i = 1; i < 3; ++i) r.node().set_input(i, for_channels(r, r.input(i), groups, size));
}

/// The normalization with ones and zeros, then the scale and bias of each channel.
void scale_groups(Rewrite& r) {
  const int64_t groups = listable(r.get_int("num_groups", 0), "groups");
  const DType dtype = r.dtype(0);
  if (r.get_int("stash_type", 1) != static_cast<int64_t>(DType::kFloat32) && dtype != DType::kFloat32)
    no_equivalent("the attribute 'stash_type' = {}", r.get_int("stash_type", 1));
  r.node().remove_attribute("stash_type");
  std::vector<int64_t> shape(static_cast<size_t>(r.rank(0)) - 1, 1);
  shape[0] = -1;
  Value* wanted = r.ints(shape, "shape");
  Value* scale = r.add("Reshape", {r.input(1), wanted});
  Value* bias = r.add("Reshape", {r.input(2), wanted});
  const std::vector<double> ones(static_cast<size_t>(groups), 1), zeros(static_cast<size_t>(groups), 0);
  Value* one = r.numbers(ones, dtype, "one");
  Value* zero = r.numbers(zeros, dtype, "zero");
  Value* normal = r.add_like_this({r.input(0), one, zero});
  r.replace({r.add("Add", {r.add("Mul", {normal, scale}), bias})});
}

}  // namespace

constinit const Adapter adapter_softmax_axis = {.name = "softmax_axis",
                                                .summary = "along one axis, not over everything from it on",
                                                .up = softmax_over_rows,
                                                .down = softmax_over_last_axis};
constinit const Adapter adapter_batch_norm_spatial = {
    .name = "batch_norm_spatial", .summary = "by channel only", .up = features_to_channels};
constinit const Adapter adapter_batch_norm_training = {.name = "batch_norm_training",
                                                       .summary = "training is an attribute",
                                                       .up = batch_norm_name_training,
                                                       .down = batch_norm_show_training};
constinit const Adapter adapter_group_norm_scale = {.name = "group_norm_scale",
                                                    .summary = "scale and bias of channels, not of groups",
                                                    .up = scale_channels,
                                                    .down = scale_groups};

}  // namespace assay
