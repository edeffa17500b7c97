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
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  for (size_t i = 0; i < 3; ++i)
    p.node().output(i) != nullptr ? b.add_output(p.node().output(i)) : b.skip_output();
  const auto count = static_cast<double>(p.input_shape(0)->numel());
  b.estimate = estimate_seconds(4 * count, 9 * count, 0.5);
  return {};
}

class DynamicQuantizeKernel final : public Kernel {
 public:
  explicit DynamicQuantizeKernel(const StepReader& r) : count_(r.row_input(0).shape.numel()) {
    StepReader::check(count_ > 0, "there is nothing to quantise");
    if (r.has_output(0))
      StepReader::check(r.row_output(0, DType::kUInt8).shape.numel() == count_, "it gives {} levels",
                        r.row_output(0, DType::kUInt8).shape.numel());
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
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dynamic_quantize
