// DeformConv of float32 images: columns of moved taps, and a product with the weights.
#include "engine/tactics/conv/window_parameters.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/grouped_gemm/grouped_gemm.h"
#include "kernels/sample/deform.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_deform_conv {
namespace {

constexpr std::string_view kOperators[] = {"DeformConv"};
enum Input : size_t { kX, kW, kOffset, kBias, kMask };

struct StepFields {
  WindowFields window;
  int64_t channels = 1;  ///< of the image
  int64_t groups = 1, offset_groups = 1;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("groups", groups, {1, std::max<int64_t>(channels, 1)});
    visit("offset_groups", offset_groups, {1, std::max<int64_t>(channels, 1)});
  }
};

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

class DeformConvKernel final : public Kernel {
 public:
  explicit DeformConvKernel(const StepReader& r) {
    const Shape &in = r.row_input(kX).shape, &out = r.row_output(0).shape, &weights = r.row_input(kW).shape;
    const WindowFields window = window_fields(in, out, kernels::kMaxDeformedAxes);
    const auto p = r.read(StepFields{.window = window, .channels = in[1]});
    d_.window = window_over(r, p.window, in, out);
    d_.channels = in[1];
    d_.offset_groups = p.offset_groups;
    const int64_t groups = p.groups, taps = d_.window.taps(), positions = d_.window.out_size(),
                  rank = static_cast<int64_t>(d_.window.rank());
    StepReader::check(in.numel() > 0 && out.numel() > 0 && in[0] == out[0] && in[1] % groups == 0 &&
                          out[1] % groups == 0 && in[1] % d_.offset_groups == 0,
                      "{} groups do not make {} of {}", groups, out.str(), in.str());
    batch_ = in[0];
    product_ = {
        .batch = 1, .groups = groups, .m = out[1] / groups, .n = positions, .k = in[1] / groups * taps};
    r.check_elements(r.row_input(kW), {out[1], product_.k});
    StepReader::check(weights.size() == in.size(), "weights of {} for {}", weights.str(), in.str());
    r.check_elements(r.row_input(kOffset), {batch_, d_.offset_groups, r.product({taps, rank}), positions});
    r.optional_elements(kBias, {out[1]});
    r.optional_elements(kMask, {batch_, d_.offset_groups, taps, positions});
    r.check_scratch(r.product({in[1], taps, positions, sizeof(float)}));
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto *x = static_cast<const float*>(args.inputs[kX]),
               *w = static_cast<const float*>(args.inputs[kW]),
               *offset = static_cast<const float*>(args.inputs[kOffset]),
               *bias = static_cast<const float*>(args.inputs[kBias]),
               *mask = static_cast<const float*>(args.inputs[kMask]);
    auto *columns = static_cast<float*>(args.scratch), *y = static_cast<float*>(args.outputs[0]);
    const int64_t masks = d_.offset_groups * d_.window.taps() * product_.n,
                  offsets = masks * static_cast<int64_t>(d_.window.rank());
    for (int64_t i = 0; i < batch_; ++i) {
      if (!kernels::deform_columns(d_, x + i * d_.channels * d_.window.in_size(), offset + i * offsets,
                                   mask == nullptr ? nullptr : mask + i * masks, columns))
        return Status::kOutOfMemory;
      kernels::grouped_gemm(product_, w, columns, bias, y + i * product_.groups * product_.m * product_.n);
    }
    return Status::kOk;
  }

 private:
  kernels::Deforming d_;
  kernels::GroupedGemm product_;
  int64_t batch_ = 0;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DeformConvKernel>(StepReader(plan, step, 5));
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
