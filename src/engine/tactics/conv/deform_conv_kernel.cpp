#include "engine/tactics/conv/deform_conv_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_deform_conv {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DeformConvKernel>(StepReader(plan, step, 5));
}

}  // namespace assay::engine::tactic_deform_conv
