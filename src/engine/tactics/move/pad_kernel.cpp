#include "engine/tactics/move/pad_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_pad {
namespace {

class PadKernel final : public Kernel {
 public:
  /// Without an input that holds the number, it is `value`, or 0 of another type than float32.
  PadKernel(kernels::PadCopy copy, float value) : copy_(std::move(copy)) {
    std::memcpy(value_.data(), &value, sizeof value);
  }
  Status run(const KernelArgs& args) noexcept override {
    const void* const given = args.inputs.size() > 1 ? args.inputs[1] : nullptr;
    copy_.run(args.inputs[0], args.outputs[0], given != nullptr ? given : value_.data());
    return Status::kOk;
  }

 private:
  kernels::PadCopy copy_;
  alignas(16) std::array<std::byte, 16> value_ = {};
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, 2);
  const PlanValue& in = r.raw_input(0);
  const PlanValue& out = r.row_output(0, in.dtype);
  const size_t rank = in.shape.size();
  const auto p = r.read(StepFields{.rank = rank, .pads = {}});
  const std::vector<int64_t>& pads = p.pads;
  const std::vector<int64_t> begin(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)),
      end(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  bool fits = out.shape.size() == rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    const int64_t left = in.shape[d] + std::min<int64_t>(begin[d], 0) + std::min<int64_t>(end[d], 0);
    fits = left >= 0 && out.shape[d] == in.shape[d] + begin[d] + end[d] &&
           (left > 0 || out.shape[d] == 0 || p.mode == kernels::PadMode::kConstant);
  }
  StepReader::check(fits, "pads {} do not make {} from {}", fmt::join(pads, ", "), out.shape.str(),
                    in.shape.str());
  if (r.has_input(1))
    StepReader::check(r.row_input(1, in.dtype).shape.numel() == 1, "it pads with {} numbers",
                      r.row_input(1, in.dtype).shape.numel());
  const auto value = static_cast<float>(p.value);
  StepReader::check(value == 0 || in.dtype == DType::kFloat32, "it pads {} with a float32",
                    dtype_name(in.dtype));
  return std::make_unique<PadKernel>(
      kernels::PadCopy(in.shape, begin, end, p.mode, storage_bytes(in.dtype, 1)), value);
}

}  // namespace assay::engine::tactic_pad
