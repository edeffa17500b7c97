// Softmax and LogSoftmax through vector kernels, with the scale and mask of attention scores.
#include "analysis/match.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/reduce/softmax_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_softmax {
namespace {

constexpr std::string_view kOperators[] = {"Softmax", "LogSoftmax", "assay.Softmax"};

std::string supports(const Problem& p) {
  if (p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.output_shape(0)->numel() == 0 || p.output_shape(0)->empty()) return "the result is empty or a scalar";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const Shape& shape = *p.output_shape(0);
  StepFields fields;
  size_t axis = shape.size() - 1;
  bool coerced = false;
  const bool region = is_region(p.node());
  if (!region) {
    // Before opset 13 everything from the axis on is one dimension; in version 1 it may be nothing.
    coerced = p.attributes().since() < 13;
    const int64_t given = p.attributes().attr_int("axis");
    axis = coerced && given == shape.rank() ? shape.size()
                                            : static_cast<size_t>(normalize_axis(given, shape.rank()));
  }
  fields.outer = shape.numel(0, axis);
  fields.count = coerced ? shape.numel(axis, shape.size()) : shape[axis];
  fields.inner = coerced ? 1 : shape.numel(axis + 1, shape.size());
  fields.logarithm = p.node().op_type == "LogSoftmax";
  if (region) fields.scale = static_cast<float>(float_attribute(p.node(), "scale", 1));
  b.add_input(p.node().input(0));
  if (region && int_attribute(p.node(), "has_mask", 0) != 0) {
    const Value* mask = p.node().input(1);
    Shape scores = shape, own = *p.shape(mask);
    while (scores.size() < 4) scores.insert_at(0, 1);
    while (own.size() < 4) own.insert_at(0, 1);
    const std::vector<int64_t> dense = own.strides();
    MaskFields& m = fields.mask.emplace(MaskFields{.heads = scores[1], .queries = scores[2]});
    for (size_t d = 0; d < 4; ++d) m.strides[d] = own[d] == 1 ? 0 : dense[d];
    b.add_input(mask);
  }
  b.add_output(p.node().output(0));
  b.step.in_place.emplace_back(0, 0);
  b.write(fields);
  // An exponential and its kin take as long as some 16 multiplications.
  const auto elements = static_cast<double>(shape.numel());
  b.estimate = estimate_seconds(32 * elements, 8 * elements, 0.8);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "softmax",
    .summary = "Softmax and LogSoftmax of rows",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_softmax
