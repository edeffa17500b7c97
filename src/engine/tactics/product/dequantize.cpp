// DequantizeLinear as a step of its own: of weights in forms that no product reads, and of levels with
// several scales.
#include "engine/tactics/product/dequantize_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_dequantize {
namespace {

constexpr std::string_view kOperators[] = {"DequantizeLinear"};

/// How the scales lie. False where they do not fit the data.
bool read_grid(const Node& n, const Shape& x, const Shape& scale, kernels::QuantizedBlocks& q) {
  q.extent = x.numel();
  if (scale.numel() == 1 && scale.rank() <= 1) return true;
  const int64_t given = int_attribute(n, "axis", 1), block = int_attribute(n, "block_size", 0);
  const int64_t axis = given < 0 ? given + x.rank() : given;
  if (axis < 0 || axis >= x.rank() || block < 0) return false;
  const auto at = static_cast<size_t>(axis);
  q.outer = x.numel(0, at), q.extent = x[at], q.inner = x.numel(at + 1, x.size());
  q.grid = block == 0 ? kernels::ScaleGrid::kAxis : kernels::ScaleGrid::kBlocks;
  if (block == 0) return scale == Shape{q.extent};
  q.block = block;
  Shape blocked = x;
  blocked[at] = q.blocks();
  return scale == blocked;
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *x = p.input_shape(0), *scale = p.input_shape(1);
  if (x == nullptr || scale == nullptr) return "the shape is not known before the run";
  if (!has_table(p.input_dtype(0)))
    return fmt::format("there is no table of {}", dtype_name(p.input_dtype(0)));
  if (p.input_dtype(1) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the scales or the result are not float32";
  kernels::QuantizedBlocks q;
  if (!read_grid(p.node(), *x, *scale, q)) return "the scales do not fit the data";
  if (p.has_input(2) && (p.input_shape(2) == nullptr || p.input_shape(2)->numel() != scale->numel()))
    return "the zero points do not fit the scales";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  for (size_t i = 0; i < 3; ++i) p.has_input(i) ? b.add_input(p.node().input(i)) : b.skip_input();
  b.add_output(p.node().output(0));
  b.write(StepFields{.q = q});
  b.estimate = estimate_seconds(4.0 * static_cast<double>(x->numel()),
                                static_cast<double>(sizeof(float)) * static_cast<double>(x->numel()), 0.1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "dequantize",
    .summary =
        "DequantizeLinear of elements of at most 8 bits, with one scale, one for each index of an axis or "
        "blocks",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dequantize
