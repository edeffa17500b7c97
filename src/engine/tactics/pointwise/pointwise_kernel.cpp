#include "engine/tactics/pointwise/pointwise_kernel.h"

namespace assay::engine::tactic_pointwise {
namespace {

class PointwiseKernel final : public Kernel {
 public:
  PointwiseKernel(kernels::PointwiseLoop loop, const PlanValue& out) : loop_(std::move(loop)) {
    if (!out.layout.is_blocked()) return;
    block_ = out.layout.block;
    tail_ = out.shape[1] % block_;
    blocks_ = (out.shape[1] + block_ - 1) / block_;
    inner_ = out.shape.numel(2, out.shape.size());
    images_ = out.shape[0];
  }
  Status run(const KernelArgs& args) noexcept override {
    loop_.run(args.inputs, args.outputs);
    if (tail_ != 0)
      for (void* out : args.outputs) clear_tail(static_cast<float*>(out));
    return Status::kOk;
  }

 private:
  /// The channels that fill up the last block stay 0 whatever the function gives there.
  void clear_tail(float* out) const {
    for (int64_t n = 0; n < images_; ++n) {
      float* last = out + ((n + 1) * blocks_ - 1) * inner_ * block_;
      for (int64_t i = 0; i < inner_; ++i)
        std::fill(last + i * block_ + tail_, last + (i + 1) * block_, 0.0F);
    }
  }

  kernels::PointwiseLoop loop_;
  int64_t block_ = 0, tail_ = 0, blocks_ = 0, inner_ = 0, images_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, kernels::kMaxPointwiseRegisters, 1, StepReader::May::kComputeInPlace);
  const PlanValue& out = r.any_output(0);
  const Shape domain = memory_domain(out.shape, out.layout);
  const auto p = r.read(StepFields{.operands = step.inputs.size(), .axes = domain.size()});
  std::vector<DType> registers;
  for (const int64_t type : p.registers) registers.push_back(kernels::kRegisterTypes[type]);
  PointwiseProgram program(std::move(registers));
  for (size_t i = 0; i < p.names.size(); ++i) {
    const std::optional<kernels::PointwiseOp> op = kernels::find_pointwise(p.names[i]);
    StepReader::check(op.has_value(), "'{}' is not a pointwise instruction", p.names[i]);
    append_checked(program, *op,
                   {static_cast<int>(p.arguments[3 * i]), static_cast<int>(p.arguments[3 * i + 1]),
                    static_cast<int>(p.arguments[3 * i + 2])},
                   static_cast<float>(p.numbers[2 * i]), static_cast<float>(p.numbers[2 * i + 1]));
  }
  StepReader::check(p.result[0] < program.registers(), "its result is register {} of {}", p.result[0],
                    program.registers());
  program.add_result(static_cast<int>(p.result[0]));
  StepReader::check(domain.dims() == p.domain, "its domain is not that of '{}'", out.name);
  std::vector<kernels::PointwiseOperand> operands;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const PlanValue& v = r.any_input(i);
    StepReader::check(kernels::fits_register(v.dtype, program.type(static_cast<int>(i))), "'{}' is {}",
                      v.name, dtype_name(v.dtype));
    const std::span<const int64_t> own = std::span(p.strides).subspan(i * domain.size(), domain.size());
    r.check_walk(v, domain, own);
    operands.push_back({v.dtype, {own.begin(), own.end()}});
  }
  for (const auto& [_, in] : step.in_place) {
    const PlanValue& v = r.input(static_cast<size_t>(in), out.dtype);
    bool covers = v.shape == out.shape && v.layout == out.layout;
    const std::vector<int64_t> dense = domain.strides();
    for (size_t d = 0; covers && d < dense.size(); ++d)
      covers = domain[d] == 1 || operands[static_cast<size_t>(in)].strides[d] == dense[d];
    StepReader::check(covers, "'{}' cannot be computed in the place of '{}'", out.name, v.name);
  }
  StepReader::check(kernels::fits_register(out.dtype, program.type(program.results()[0])), "'{}' is {}",
                    out.name, dtype_name(out.dtype));
  return std::make_unique<PointwiseKernel>(checked_loop(program, domain, std::move(operands), {out.dtype}),
                                           out);
}

}  // namespace assay::engine::tactic_pointwise
