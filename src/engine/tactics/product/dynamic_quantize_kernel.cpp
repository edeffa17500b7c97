#include "engine/tactics/product/dynamic_quantize_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_dynamic_quantize {
namespace {

class DynamicQuantizeKernel final : public Kernel {
 public:
  explicit DynamicQuantizeKernel(const StepReader& r) : count_(r.input(0).shape.numel()) {
    const PlanValue& in = r.input(0);
    StepReader::check(count_ > 0 && !in.layout.is_blocked(), "there is nothing to quantise");
    if (r.has_output(0)) {
      const PlanValue& out = r.output(0, DType::kUInt8);
      StepReader::check(out.shape == in.shape && out.layout == in.layout, "it gives {} in {} of {} in {}",
                        out.shape.str(), out.layout.str(), in.shape.str(), in.layout.str());
    }
    if (r.has_output(1)) r.check_elements(r.row_output(1), {1});
    if (r.has_output(2)) r.check_elements(r.row_output(2, DType::kUInt8), {1});
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const kernels::DynamicRange range = kernels::dynamic_range(x, count_);
    if (args.outputs[0] != nullptr)
      kernels::quantize_uint8(x, count_, range, static_cast<uint8_t*>(args.outputs[0]));
    if (args.outputs[1] != nullptr) *static_cast<float*>(args.outputs[1]) = range.scale;
    if (args.outputs[2] != nullptr) *static_cast<uint8_t*>(args.outputs[2]) = range.zero_point;
    return Status::kOk;
  }

 private:
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DynamicQuantizeKernel>(StepReader(plan, step, 1, 1, 3));
}

}  // namespace assay::engine::tactic_dynamic_quantize
