// Pointwise convolution in groups, row-major: one small matrix product per group, which reads the image where
// it lies.
#include "engine/tactics/epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/grouped_gemm/grouped_gemm.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine {
namespace {

constexpr std::string_view kOperators[] = {"Conv", "assay.Fused"};

bool is_pointwise(const kernels::Window& w) {
  for (size_t k = 0; k < w.rank(); ++k)
    if (w.kernel[k] != 1 || w.strides[k] != 1 || w.begin[k] != 0 || w.end[k] != 0) return false;
  return true;
}

std::string supports(const Problem& p) {
  const std::optional<FusedView> view = view_fused(p.node());
  if (!view || view->main->op_type != "Conv" || view->result_transposed != nullptr)
    return "it is not a convolution";
  const Node& n = p.node();
  const Value *x = outer_value(n, view->main->input(0)), *w = outer_value(n, view->main->input(1)),
              *bias = outer_value(n, view->main->input(2));
  const Shape* in = p.shape(x);
  if (in == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (x->type.dtype != DType::kFloat32) return "the input is not float32";
  if (!w->tensor().defined() || (bias != nullptr && !bias->tensor().defined()))
    return "weights or bias are not constants";
  const ConvPlan plan = plan_conv(p.attributes(*view->main), *in, w->tensor().shape());
  if (plan.size.groups == 1) return "it has only one group";
  if (plan.size.groups == plan.size.in_channels) return "its groups are single channels";
  if (!is_pointwise(plan.window)) return "its kernel is not a single point";
  if (plan.output.numel() == 0) return "the result is empty";
  return row_epilogue_refusal(p, view->epilogue);
}

std::string lower(const Problem& p, StepBuilder& b) {
  const FusedView view = *view_fused(p.node());
  const Node& n = p.node();
  const Value *x = outer_value(n, view.main->input(0)), *w = outer_value(n, view.main->input(1)),
              *bias = outer_value(n, view.main->input(2));
  const ConvPlan plan = plan_conv(p.attributes(*view.main), *p.shape(x), w->tensor().shape());
  b.add_input(x);
  b.add_input(w);
  bias != nullptr ? b.add_input(bias) : b.skip_input();
  b.add_output(n.output(0));
  Parameters& parameters = b.step().parameters;
  parameters.set("batch", plan.size.batch);
  parameters.set("groups", plan.size.groups);
  parameters.set("m", plan.size.out_channels / plan.size.groups);
  parameters.set("n", plan.window.out_size());
  parameters.set("k", plan.size.in_channels / plan.size.groups);
  lower_row_epilogue(p, view.epilogue, 3, b);
  return {};
}

class GroupConvKernel final : public Kernel {
 public:
  GroupConvKernel(const Plan& plan, const Step& step)
      : size_{.batch = step.parameters.number("batch"),
              .groups = step.parameters.number("groups"),
              .m = step.parameters.number("m"),
              .n = step.parameters.number("n"),
              .k = step.parameters.number("k")},
        epilogue_(plan, step) {}

  Status run(const KernelArgs& args) noexcept override {
    auto* y = static_cast<float*>(args.outputs[0]);
    kernels::grouped_gemm(size_, static_cast<const float*>(args.inputs[1]),
                          static_cast<const float*>(args.inputs[0]),
                          static_cast<const float*>(args.inputs[2]), y);
    epilogue_.run(args.inputs, y);
    return Status::kOk;
  }

 private:
  kernels::GroupedGemm size_;
  RowEpilogue epilogue_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GroupConvKernel>(plan, step);
}

}  // namespace

constinit const TacticDef tactic_group_conv = {
    .name = "group_conv",
    .operators = kOperators,
    .supports = supports,
    .lower = lower,
    .factory = {.create = create},
};

}  // namespace assay::engine
