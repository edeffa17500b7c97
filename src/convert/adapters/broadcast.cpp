// Broadcasting before NumPy's rule: from opset 7 on for two inputs, from 8 on for lists of inputs.
#include <algorithm>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// `v` under another rank: its own extents, then ones.
Value* with_trailing_ones(Rewrite& r, Value* v, int rank, int64_t ones) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 0);  // 0 copies an extent
  shape.insert(shape.end(), static_cast<size_t>(ones), 1);
  return r.add("Reshape", {v, r.ints(shape, "shape")});
}

/// The second input aligns with the first one's dimensions from `axis` on; NumPy's rule needs trailing ones.
void align_second(Rewrite& r) {
  if (r.get_int("broadcast", 0) != 0 && r.has("axis")) {
    const int a = r.rank(0), b = r.rank(1);
    const int64_t ones = a - b - r.front_axis(r.get_int("axis", 0), 0);
    if (ones > 0) r.node().set_input(1, with_trailing_ones(r, r.input(1), b, ones));
  }
  r.node().remove_attribute("broadcast");
  r.node().remove_attribute("axis");
}

/// The axis of `a` at which `b`, without its outer ones, aligns; nothing when it does not.
std::optional<int64_t> place_of(const Shape& a, const std::vector<int64_t>& b, int64_t trailing) {
  const int64_t first = static_cast<int64_t>(a.size()) - trailing - static_cast<int64_t>(b.size());
  if (first < 0) return std::nullopt;
  for (size_t i = 0; i < b.size(); ++i)
    if (a[static_cast<size_t>(first) + i] != b[i]) return std::nullopt;
  return first;
}

/// Expresses the broadcasting of the second input by attributes.
void name_broadcast(Rewrite& r) {
  const Shape a = r.shape(0), b = r.shape(1);
  if (a == b) return;
  std::vector<int64_t> inner(b.begin(), b.end());
  int64_t trailing = 0;
  for (; !inner.empty() && inner.back() == 1; ++trailing) inner.pop_back();
  while (!inner.empty() && inner.front() == 1) inner.erase(inner.begin());
  const std::optional<int64_t> axis = place_of(a, inner, inner.empty() ? 0 : trailing);
  if (b.size() > a.size() || !axis) no_equivalent("the broadcasting of shapes {} and {}", a.str(), b.str());
  if (Shape(inner) != b) r.node().set_input(1, r.add("Reshape", {r.input(1), r.ints(inner, "shape")}));
  r.node().set_attribute("broadcast", int64_t{1});
  if (!inner.empty()) r.node().set_attribute("axis", *axis);
}

void align_slope(Rewrite& r) {
  const int x = r.rank(0), slope = r.rank(1);
  if (slope == 1 && x > 2) r.node().set_input(1, with_trailing_ones(r, r.input(1), 1, x - 2));
}

/// A slope for all elements, or one for each channel.
void slope_by_channel(Rewrite& r) {
  const Shape slope = r.shape(1);
  const int rank = r.rank(0);
  const bool is_one = slope.numel() == 1;
  const size_t channel =
      slope.size() + 1 >= static_cast<size_t>(rank) ? slope.size() + 1 - static_cast<size_t>(rank) : 0;
  const bool is_by_channel = rank >= 2 && channel < slope.size() && slope[channel] == slope.numel() &&
                             static_cast<int>(slope.size() - channel) == rank - 1;
  if (!is_one && !is_by_channel) no_equivalent("a slope of shape {}", slope.str());
  if (slope.size() != 1) r.node().set_input(1, r.add("Reshape", {r.input(1), r.ints({-1}, "shape")}));
}

bool have_equal_shapes(Rewrite& r) {
  const std::optional<Shape> first = shape_of(r.input(0));
  return std::all_of(r.node().inputs().begin() + 1, r.node().inputs().end(), [&](const Value* v) {
    const std::optional<Shape> shape = shape_of(v);
    return first && shape && *shape == *first;
  });
}

/// Pairwise additions broadcast since opset 7.
void add_one_by_one(Rewrite& r) {
  const std::vector<Value*> in = r.node().inputs();
  Value* sum = in[0];
  for (size_t i = 1; i < in.size(); ++i) sum = r.add("Add", {sum, in[i]});
  if (r.node().op_type == "Mean")
    sum = r.add("Div", {sum, r.number(static_cast<double>(in.size()), r.dtype(0), "count")});
  r.replace({sum});
}

/// Every input repeated to the output's shape.
void repeat_inputs(Rewrite& r) {
  const std::optional<Shape> out = shape_of(r.output(0));
  if (!out) no_equivalent("broadcasting to a shape that is not known");
  for (size_t i = 0; i < r.node().inputs().size(); ++i) {
    const Shape in = r.shape(i);
    std::vector<int64_t> ones(out->size() - in.size(), 1), repeats;
    ones.insert(ones.end(), in.begin(), in.end());
    for (size_t d = 0; d < ones.size(); ++d) repeats.push_back(ones[d] == (*out)[d] ? 1 : (*out)[d]);
    Value* v = r.input(i);
    if (in.size() != out->size()) v = r.add("Reshape", {v, r.ints(ones, "shape")});
    if (in.numel() != out->numel()) v = r.add("Tile", {v, r.ints(repeats, "repeats")});
    r.node().set_input(i, v);
  }
}

void equalize_shapes(Rewrite& r) {
  if (r.node().inputs().size() <= 1 || have_equal_shapes(r)) return;
  if (r.node().op_type == "Sum" || r.node().op_type == "Mean")
    add_one_by_one(r);
  else
    repeat_inputs(r);
}

}  // namespace

constinit const Adapter adapter_legacy_broadcast = {.name = "legacy_broadcast",
                                                    .summary = "NumPy's broadcasting, of both inputs",
                                                    .up = align_second,
                                                    .down = name_broadcast};
constinit const Adapter adapter_slope_per_channel = {.name = "slope_per_channel",
                                                     .summary = "the slope is broadcast by NumPy's rule",
                                                     .up = align_slope,
                                                     .down = slope_by_channel};
constinit const Adapter adapter_variadic_broadcast = {.name = "variadic_broadcast",
                                                      .summary = "all inputs are broadcast by NumPy's rule",
                                                      .down = equalize_shapes};

}  // namespace assay
