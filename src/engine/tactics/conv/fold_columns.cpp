// Col2Im with constant extents.
#include "engine/tactics/conv/fold_columns_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_fold_columns {
namespace {

constexpr std::string_view kOperators[] = {"Col2Im"};

/// An attribute with a number for each axis, or `otherwise` for each.
std::vector<int64_t> numbers_of(const Problem& p, std::string_view name, size_t count, int64_t otherwise) {
  std::vector<int64_t> v = p.attributes().attr_ints(std::string(name));
  if (v.empty()) v.assign(count, otherwise);
  return v;
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not added", dtype_name(p.input_dtype(0)));
  const UnalignedTensor *image = p.input_constant(1), *block = p.input_constant(2);
  if (image == nullptr || block == nullptr) return "the extents of image or blocks are not constant";
  kernels::Window w{.in = image->aligned().to_int64(), .kernel = block->aligned().to_int64()};
  const size_t rank = w.in.size();
  w.strides = numbers_of(p, "strides", rank, 1);
  w.dilations = numbers_of(p, "dilations", rank, 1);
  const std::vector<int64_t> pads = numbers_of(p, "pads", 2 * rank, 0);
  if (rank == 0 || rank > kernels::kMaxWindowAxes || w.kernel.size() != rank || w.strides.size() != rank ||
      w.dilations.size() != rank || pads.size() != 2 * rank || in->size() != 3)
    return "its extents, strides or pads are not one for each axis";
  for (size_t d = 0; d < rank; ++d) {
    w.begin.push_back(pads[d]);
    const int64_t room = w.in[d] + pads[d] + pads[rank + d] - w.dilations[d] * (w.kernel[d] - 1) - 1;
    if (room < 0 || w.strides[d] < 1) return "a block does not fit";
    w.out.push_back(room / w.strides[d] + 1);
  }
  if (out->numel() == 0 || in->numel() != out->numel(0, 2) * w.taps() * w.out_size() ||
      Shape(w.in).numel() > kMaxOfWindow)
    return "its blocks do not fit the input";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  b.write(StepFields{.window = window_fields(w), .blocks = w.out});
  b.estimate = estimate_seconds(static_cast<double>(in->numel()),
                                2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 0.1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "fold_columns",
    .summary = "blocks added at their places in an image",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_fold_columns
