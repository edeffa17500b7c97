// DynamicQuantizeLinear: the range of the data, then their levels.
#include "kernels/int8/dynamic_quantize.h"

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_dynamic_quantize {
namespace {

constexpr std::string_view kOperators[] = {"DynamicQuantizeLinear"};

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_shape(0)->numel() == 0) return "there is nothing to take the range of";
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0))) {
    if (layout.is_blocked()) continue;
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    b.add_input(p.node().input(0), layout);
    p.node().output(0) != nullptr ? b.add_output(p.node().output(0), layout) : b.skip_output();
    for (size_t i = 1; i < 3; ++i)
      p.node().output(i) != nullptr ? b.add_output(p.node().output(i)) : b.skip_output();
    const auto count = static_cast<double>(p.input_shape(0)->numel());
    b.estimate = estimate_seconds(4 * count, 9 * count, 0.5);
  }
  return {};
}

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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DynamicQuantizeKernel>(StepReader(plan, step, 1, 1, 3));
}

}  // namespace

constinit const TacticDef def = {
    .name = "dynamic_quantize",
    .summary = "levels of 8 bits by the range of the data",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dynamic_quantize
