// Attributes that became inputs; converting down, the inputs must be constant to become attributes.
#include <algorithm>
#include <limits>

#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// The number in a constant input of one element, exactly as a float.
float exact_float(Rewrite& r, size_t i, const char* name) {
  const Tensor t = r.constant_input(i, name);
  if (t.numel() != 1) no_equivalent("the input '{}' of shape {}", name, t.shape().str());
  const double value = to_float64(t).data<double>()[0];
  const float rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) != value && value == value)
    no_equivalent("the input '{}' = {}, which no float32 holds,", name, value);
  return rounded;
}

void clip_bounds_to_inputs(Rewrite& r) {
  constexpr double kMax = std::numeric_limits<float>::max();
  const double low = r.get_float("min", -kMax), high = r.get_float("max", kMax);
  r.node().remove_attribute("min");
  r.node().remove_attribute("max");
  if (low > -kMax) r.node().set_input(1, r.number(low, r.dtype(0), "min"));
  if (high < kMax) r.node().set_input(2, r.number(high, r.dtype(0), "max"));
}

/// Computed bounds: use Max and Min.
void clip_by_comparing(Rewrite& r) {
  r.set_opset(8);
  Value* x = r.input(0);
  if (r.input(1) != nullptr) x = r.add("Max", {x, r.input(1)});
  if (r.input(2) != nullptr) x = r.add("Min", {x, r.input(2)});
  r.replace({x});
}

void clip_bounds_to_attributes(Rewrite& r) {
  const auto is_free = [&](size_t i) { return r.input(i) != nullptr && !r.constant_value(r.input(i)); };
  if (is_free(1) || is_free(2)) return clip_by_comparing(r);
  if (r.input(1) != nullptr) r.node().set_attribute("min", exact_float(r, 1, "min"));
  if (r.input(2) != nullptr) r.node().set_attribute("max", exact_float(r, 2, "max"));
  r.node().set_inputs({r.input(0)});
}

void pads_to_inputs(Rewrite& r) {
  r.node().set_input(1, r.ints(r.get_ints("pads"), "pads"));
  const double value = r.get_float("value", 0);
  if (value != 0) r.node().set_input(2, r.number(value, r.dtype(0), "constant_value"));
  r.node().remove_attribute("pads");
  r.node().remove_attribute("value");
}

void pads_to_attributes(Rewrite& r) {
  r.node().set_attribute("pads", r.constant_ints(1, "pads"));
  if (r.input(2) != nullptr && r.get_string("mode", "constant") == "constant")
    r.node().set_attribute("value", exact_float(r, 2, "constant_value"));
  r.node().set_inputs({r.input(0)});
}

/// Pads of all axes in order.
void pads_of_all_axes(Rewrite& r) {
  if (r.input(3) == nullptr) return;
  const Ints axes = r.constant_ints(3, "axes"), given = r.constant_ints(1, "pads");
  const size_t rank = static_cast<size_t>(r.rank(0));
  if (given.size() != 2 * axes.size()) no_equivalent("{} pads for {} axes", given.size(), axes.size());
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(r.front_axis(axes[i], 0));
    if (axis >= rank) no_equivalent("the axis {} of an input of rank {}", axes[i], rank);
    pads[axis] = given[i];
    pads[rank + axis] = given[axes.size() + i];
  }
  r.node().set_inputs({r.input(0), r.ints(pads, "pads"), r.input(2)});
}

void slice_to_inputs(Rewrite& r) {
  r.node().set_inputs(
      {r.input(0), r.ints(r.get_ints("starts"), "starts"), r.ints(r.get_ints("ends"), "ends")});
  if (r.has("axes")) r.node().set_input(3, r.ints(r.get_ints("axes"), "axes"));
  for (const char* name : {"starts", "ends", "axes"}) r.node().remove_attribute(name);
}

void slice_to_attributes(Rewrite& r) {
  if (r.input(4) != nullptr)
    for (const int64_t step : r.constant_ints(4, "steps"))
      if (step != 1) no_equivalent("the input 'steps' with the step {}", step);
  r.node().set_attribute("starts", r.constant_ints(1, "starts"));
  r.node().set_attribute("ends", r.constant_ints(2, "ends"));
  if (r.input(3) != nullptr) r.node().set_attribute("axes", r.constant_ints(3, "axes"));
  r.node().set_inputs({r.input(0)});
}

void slice_axes_from_front(Rewrite& r) {
  if (r.input(3) == nullptr) return;
  const std::optional<Tensor> given = r.constant_value(r.input(3));
  if (!given)
    return r.note("axes below 0 mean nothing in opset 10; these are not constant, so that was not checked");
  Ints axes = given->to_int64();
  if (std::all_of(axes.begin(), axes.end(), [](int64_t a) { return a >= 0; })) return;
  for (int64_t& a : axes) a = r.front_axis(a, 0);
  Value* front = r.ints(axes, "axes");
  // The lists are of one type.
  if (given->dtype() != DType::kInt64)
    front = r.constant(convert(Tensor::vector(axes), given->dtype()), "axes");
  r.node().set_input(3, front);
}

void k_to_input(Rewrite& r) {
  r.node().set_input(1, r.ints({r.get_int("k", 0)}, "k"));
  r.node().remove_attribute("k");
}

void k_to_attribute(Rewrite& r) {
  const Ints k = r.constant_ints(1, "K");
  if (k.size() != 1) no_equivalent("the input 'K' with {} elements", k.size());
  r.node().set_attribute("k", k[0]);
  r.node().set_inputs({r.input(0)});
}

void ratio_to_input(Rewrite& r) {
  if (!r.has("ratio")) return;
  r.node().set_input(1, r.number(r.get_float("ratio", 0.5), DType::kFloat32, "ratio"));
  r.node().remove_attribute("ratio");
}

/// Outside training the ratio and the seed have no effect.
void ratio_to_attribute(Rewrite& r) {
  if (r.input(2) != nullptr) {
    const Tensor training = r.constant_input(2, "training_mode");
    if (training.dtype() != DType::kBool || training.numel() != 1 || *training.data<bool>())
      no_equivalent("the input 'training_mode', which makes it drop elements at random,");
  }
  const std::optional<Tensor> ratio = r.constant_value(r.input(1));
  if (ratio && ratio->numel() == 1)
    r.node().set_attribute("ratio", static_cast<float>(to_float64(*ratio).data<double>()[0]));
  r.node().set_inputs({r.input(0)});
  r.node().remove_attribute("seed");
}

void split_to_input(Rewrite& r) {
  if (!r.has("split")) return;
  r.node().set_input(1, r.ints(r.get_ints("split"), "split"));
  r.node().remove_attribute("split");
}

void split_to_attribute(Rewrite& r) {
  if (r.input(1) == nullptr) return;
  r.node().set_attribute("split", r.constant_ints(1, "split"));
  r.node().set_inputs({r.input(0)});
}

void count_outputs(Rewrite& r) {
  if (r.input(1) == nullptr)
    r.node().set_attribute("num_outputs", static_cast<int64_t>(r.node().outputs().size()));
}

/// Lengths if the axis does not divide evenly, or its extent is unknown.
void split_by_lengths(Rewrite& r) {
  if (r.input(1) != nullptr) return;
  r.node().remove_attribute("num_outputs");
  const int64_t n = static_cast<int64_t>(r.node().outputs().size());
  const int64_t axis = r.front_axis(r.get_int("axis", 0), 0);
  const Type& type = r.input(0)->type;
  const Dim extent = type.has_shape() && axis < static_cast<int64_t>(type.dims->size())
                         ? (*type.dims)[static_cast<size_t>(axis)]
                         : Dim();
  if (extent.is_known()) {
    if (extent.value() % n == 0) return;
    const int64_t part = (extent.value() + n - 1) / n;
    Ints lengths(static_cast<size_t>(n), part);
    lengths.back() = extent.value() - part * (n - 1);
    return r.node().set_input(1, r.ints(lengths, "split"));
  }
  Value* all = r.add("Gather", {r.add("Shape", {r.input(0)}), r.ints({axis}, "axis")});
  Value* part = r.add("Div", {r.add("Add", {all, r.ints({n - 1}, "rest")}), r.ints({n}, "count")});
  Value* last = r.add("Sub", {all, r.add("Mul", {part, r.ints({n - 1}, "others")})});
  std::vector<Value*> lengths(static_cast<size_t>(n), part);
  lengths.back() = last;
  r.node().set_input(1, r.add("Concat", lengths, {{"axis", int64_t{0}}}));
}

void scales_to_input(Rewrite& r) {
  const Attribute* a = r.node().find_attribute("scales");
  const auto* scales = a != nullptr ? a->get_if<std::vector<float>>() : nullptr;
  if (scales == nullptr) no_equivalent("a node without the attribute 'scales'");
  Value* input = r.constant(Tensor::vector(*scales), "scales");
  r.node().remove_attribute("scales");
  r.node().set_input(1, input);
}

void scales_to_attribute(Rewrite& r) {
  const Tensor t = convert(r.constant_input(1, "scales"), DType::kFloat32);
  r.node().set_attribute("scales", std::vector<float>(t.data<float>(), t.data<float>() + t.numel()));
  r.node().set_inputs({r.input(0)});
}

void signal_axis_to_input(Rewrite& r) {
  r.node().set_input(2, r.constant(Tensor::scalar(r.get_int("axis", 1)), "axis"));
  r.node().remove_attribute("axis");
}

void signal_axis_to_attribute(Rewrite& r) {
  const Ints axis = r.input(2) != nullptr ? r.constant_ints(2, "axis") : Ints{-2};
  if (axis.size() != 1) no_equivalent("the input 'axis' with {} elements", axis.size());
  r.node().set_attribute("axis", axis[0]);
  r.node().set_inputs({r.input(0), r.input(1)});
}

}  // namespace

constinit const Adapter adapter_clip_bounds = {.name = "clip_bounds",
                                               .summary = "the bounds are inputs",
                                               .up = clip_bounds_to_inputs,
                                               .down = clip_bounds_to_attributes};
constinit const Adapter adapter_pad_inputs = {.name = "pad_inputs",
                                              .summary = "pads and value are inputs",
                                              .up = pads_to_inputs,
                                              .down = pads_to_attributes};
constinit const Adapter adapter_pad_axes = {
    .name = "pad_axes", .summary = "the pads may be those of some axes", .down = pads_of_all_axes};
constinit const Adapter adapter_slice_inputs = {
    .name = "slice_inputs",
    .summary = "starts, ends and axes are inputs, and there are steps",
    .up = slice_to_inputs,
    .down = slice_to_attributes};
constinit const Adapter adapter_slice_axes = {
    .name = "slice_axes", .summary = "axes may count from the end", .down = slice_axes_from_front};
constinit const Adapter adapter_top_k_input = {
    .name = "top_k_input", .summary = "k is an input", .up = k_to_input, .down = k_to_attribute};
constinit const Adapter adapter_dropout_inputs = {
    .name = "dropout_inputs",
    .summary = "the ratio is an input, and training may be asked for",
    .up = ratio_to_input,
    .down = ratio_to_attribute};
constinit const Adapter adapter_split_input = {.name = "split_input",
                                               .summary = "the lengths are an input",
                                               .up = split_to_input,
                                               .down = split_to_attribute};
constinit const Adapter adapter_split_count = {
    .name = "split_count",
    .summary = "the number of parts is an attribute; the last may be smaller",
    .up = count_outputs,
    .down = split_by_lengths};
constinit const Adapter adapter_upsample_input = {.name = "upsample_input",
                                                  .summary = "the scales are an input",
                                                  .up = scales_to_input,
                                                  .down = scales_to_attribute};
constinit const Adapter adapter_dft_axis = {
    .name = "dft_axis",
    .summary = "the axis is an input, by default the last of the signal",
    .up = signal_axis_to_input,
    .down = signal_axis_to_attribute};

}  // namespace assay
