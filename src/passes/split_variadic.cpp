// Sum, Max, Min and Mean of more than two become chains of two at a time.
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_split_variadic {
namespace {

std::optional<Patch> match(const Node& n, const PassContext&) {
  const bool mean = is_op(n, "Mean");
  const char* op = is_op(n, "Sum") || mean ? "Add"
                   : is_op(n, "Max")       ? "Max"
                   : is_op(n, "Min")       ? "Min"
                                           : nullptr;
  const size_t count = n.inputs().size();
  if (op == nullptr || count < 2 || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  if (count == 2 && op != std::string_view("Add")) return std::nullopt;
  // A partial result may be smaller than the whole by broadcasting: its type is left open unless all agree.
  const std::optional<Shape> shape = shape_of(n.output(0));
  for (const Value* v : n.inputs())
    if (!shape || shape_of(v) != shape) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  Patch::Ref sum = n.input(0);
  for (size_t i = 1; i < count; ++i) {
    const bool last = i + 1 == count && !mean;
    sum = patch.add(op, {sum, n.input(i)}, {}, last ? n.output(0) : nullptr, n.output(0)->type);
  }
  if (mean)
    patch.add(
        "Div",
        {sum, patch.constant(n.output(0)->name() + "/count", Tensor::scalar(static_cast<float>(count)))}, {},
        n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "split_variadic",
    .summary = "Sum, Max, Min and Mean of many become chains of two at a time",
    .conditions =
        "float32; all inputs have the extents of the result, which are numbers. Sums stay in the "
        "range of float32.",
    .match = match,
};

}  // namespace assay::pass_split_variadic
