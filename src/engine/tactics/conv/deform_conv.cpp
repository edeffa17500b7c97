// DeformConv of float32 images: columns of moved taps, and a product with the weights.
#include "engine/tactics/conv/deform_conv_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_deform_conv {
namespace {

constexpr std::string_view kOperators[] = {"DeformConv"};

std::string propose(const Problem& p, Proposals& proposals) {
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.has_input(i) && p.input_shape(i) == nullptr) return "the shape is not known before the run";
  const Shape* out = p.output_shape(0);
  if (out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(kX) != DType::kFloat32) return "the input is not float32";
  const Shape& in = *p.input_shape(kX);
  if (in.numel() == 0 || out->numel() == 0 || in.size() > 2 + static_cast<size_t>(kernels::kMaxDeformedAxes))
    return "the input or the result is empty, or has too many axes";
  const ConvPlan plan = plan_conv(p.attributes(), in, *p.input_shape(kW));
  if (Shape(plan.window.in).numel() > kMaxOfWindow) return "a plane is too large";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (size_t i = 0; i < 5; ++i)
    i < p.input_count() && p.has_input(i) ? b.add_input(p.node().input(i)) : b.skip_input();
  b.add_output(p.node().output(0));
  b.write(StepFields{.window = window_fields(plan.window),
                     .groups = plan.size.groups,
                     .offset_groups = p.attributes().attr_int("offset_group")});
  b.step.scratch_bytes = plan.size.in_channels * plan.window.taps() * plan.window.out_size() *
                         static_cast<int64_t>(sizeof(float));
  b.estimate =
      estimate_seconds(2.0 * static_cast<double>(out->numel() * p.input_shape(kW)->numel() / (*out)[1]),
                       3.0 * static_cast<double>(b.step.scratch_bytes), 0.3);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "deform_conv",
    .summary = "convolutions whose taps are moved by offsets",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_deform_conv
