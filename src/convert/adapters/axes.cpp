// Axes: negative ones since opset 11, as an input since 13 or 18.
#include <algorithm>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// The rank that an axis of the node counts from.
int64_t axis_rank(Rewrite& r, size_t axes) {
  const std::string& op = r.node().op_type;
  const int64_t rank = r.rank(0);
  if (op == "Unsqueeze") return rank + static_cast<int64_t>(axes);
  return op == "OneHot" ? rank + 1 : rank;
}

bool is_negative(int64_t x) { return x < 0; }

/// Indices from the end were introduced together with negative axes.
void check_indices(Rewrite& r, size_t input) {
  const std::optional<Tensor> indices = r.constant_value(r.input(input));
  if (!indices) {
    r.note("indices below 0 mean nothing in opset 10; these are not constant, so that was not checked");
    return;
  }
  const std::vector<int64_t> numbers = indices->to_int64();
  if (std::none_of(numbers.begin(), numbers.end(), is_negative)) return;
  const int64_t extent = r.shape(0)[static_cast<size_t>(r.front_axis(r.get_int("axis", 0), 0))];
  Tensor fixed = Tensor::allocate(DType::kInt64, indices->shape());
  std::transform(numbers.begin(), numbers.end(), fixed.mutable_data<int64_t>(),
                 [&](int64_t i) { return i < 0 ? i + extent : i; });
  r.node().set_input(input, r.constant(fixed, "indices"));
}

void count_from_front(Rewrite& r) {
  if (r.has("axis") && is_negative(r.get_int("axis", 0)) && r.node().op_type != "OneHot" &&
      r.node().op_type != "TopK")
    r.node().set_attribute("axis", r.get_int("axis", 0) + axis_rank(r, 1));
  std::vector<int64_t> axes = r.get_ints("axes");
  if (std::any_of(axes.begin(), axes.end(), is_negative)) {
    const int64_t rank = axis_rank(r, axes.size());
    for (int64_t& a : axes) a = a < 0 ? a + rank : a;
    std::sort(axes.begin(), axes.end());
    r.node().set_attribute("axes", axes);
  }
  if (r.node().op_type == "Gather") check_indices(r, 1);
  if (r.node().op_type == "OneHot") r.note("indices below 0 mean nothing in opset 10; that was not checked");
}

void axes_to_input(Rewrite& r) {
  if (!r.has("axes")) return;
  const std::vector<int64_t> axes = r.get_ints("axes");
  r.node().remove_attribute("axes");
  if (!axes.empty() || r.node().op_type != "Squeeze") r.node().set_input(1, r.ints(axes, "axes"));
}

void axes_to_attribute(Rewrite& r) {
  if (r.input(1) == nullptr) return;
  r.node().set_attribute("axes", r.constant_ints(1, "axes"));
  r.node().set_inputs({r.input(0)});
}

/// An empty list still means all axes.
void reduce_axes_to_input(Rewrite& r) {
  const std::vector<int64_t> axes = r.get_ints("axes");
  r.node().remove_attribute("axes");
  if (!axes.empty()) r.node().set_input(1, r.ints(axes, "axes"));
}

/// Without axes and with noop_with_empty_axes nothing is reduced, which equals a reduction over a new axis of
/// extent 1.
void reduce_nothing(Rewrite& r) {
  r.set_opset(11);
  r.node().set_input(0, r.add("Unsqueeze", {r.input(0)}, {{"axes", std::vector<int64_t>{0}}}));
  r.node().set_attribute("axes", std::vector<int64_t>{0});
  r.node().set_attribute("keepdims", int64_t{0});
}

void reduce_axes_to_attribute(Rewrite& r) {
  std::vector<int64_t> axes;
  if (r.input(1) != nullptr) axes = r.constant_ints(1, "axes");
  r.node().set_inputs({r.input(0)});
  if (!axes.empty())
    r.node().set_attribute("axes", axes);
  else if (r.get_int("noop_with_empty_axes", 0) != 0)
    reduce_nothing(r);
  r.node().remove_attribute("noop_with_empty_axes");
}

}  // namespace

constinit const Adapter adapter_negative_axis = {
    .name = "negative_axis", .summary = "an axis may count from the end", .down = count_from_front};
constinit const Adapter adapter_axes_input = {
    .name = "axes_input", .summary = "the axes are an input", .up = axes_to_input, .down = axes_to_attribute};
constinit const Adapter adapter_reduce_axes = {.name = "reduce_axes",
                                               .summary = "the axes are an input, and may mean none",
                                               .up = reduce_axes_to_input,
                                               .down = reduce_axes_to_attribute};

}  // namespace assay
