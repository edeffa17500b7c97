#include "engine/tactics/reduce/max_pool_kernel.h"

#include "base/parallel.h"

namespace assay::engine::tactic_max_pool {
namespace {

class MaxPoolKernel final : public Kernel {
 public:
  explicit MaxPoolKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    const PlanValue& out = r.row_output(0, type_);
    const auto p = r.read(StepFields{.window = window_fields(in.shape, out.shape, kernels::kMaxWindowAxes)});
    window_ = window_over(r, p.window, in.shape, out.shape);
    StepReader::check(kernels::is_number(type_) && in.shape[0] == out.shape[0] &&
                          in.shape[1] == out.shape[1] && in.shape.numel() > 0 && out.shape.numel() > 0,
                      "it makes {} of {}", out.shape.str(), in.shape.str());
    StepReader::check(!r.has_output(1) || r.row_output(1, DType::kInt64).shape == out.shape,
                      "it gives places of another shape than {}", out.shape.str());
    by_columns_ = p.by_columns;
    planes_ = in.shape.numel(0, 2);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::max_pool(window_, type_, planes_, args.inputs[0], args.outputs[0],
                      static_cast<int64_t*>(args.outputs[1]), by_columns_);
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  DType type_ = DType::kFloat32;
  int64_t planes_ = 0;
  bool by_columns_ = false;
};

class BytePoolKernel final : public Kernel {
 public:
  explicit BytePoolKernel(const StepReader& r) {
    const PlanValue &in = r.any_input(0), &out = r.any_output(0);
    const auto p = r.read(StepFields{.window = window_fields(in.shape, out.shape, 3)});
    window_ = window_over(r, p.window, in.shape, out.shape);
    StepReader::check(pools_bytes(in.dtype, window_, r.has_output(1)) && out.dtype == in.dtype &&
                          in.shape[0] == out.shape[0] && in.shape[1] == out.shape[1] &&
                          in.shape.numel() > 0 && out.shape.numel() > 0 &&
                          same_memory(in.shape, in.layout, Layout::channels_last()) &&
                          same_memory(out.shape, out.layout, Layout::channels_last()),
                      "it makes {} {} in {} of {} {} in {}", dtype_name(out.dtype), out.shape.str(),
                      out.layout.str(), dtype_name(in.dtype), in.shape.str(), in.layout.str());
    is_signed_ = in.dtype == DType::kInt8;
    images_ = in.shape[0];
    channels_ = in.shape[1];
  }
  Status run(const KernelArgs& args) noexcept override {
    constexpr int64_t kGrain = 1 << 16;
    const int64_t bytes = channels_ * std::min<int64_t>(window_.taps(), 64);
    auto* const y = static_cast<uint8_t*>(args.outputs[0]);
    parallel_for(images_ * window_.out_size(), std::max<int64_t>(1, kGrain / bytes),
                 [&](int64_t first, int64_t last) {
                   kernels::byte_max_pool(window_, is_signed_, channels_, first, last - first, args.inputs[0],
                                          y + first * channels_);
                 });
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  int64_t images_ = 0, channels_ = 0;
  bool is_signed_ = false;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, 1, 2);
  if (r.any_input(0).layout == Layout::channels_last()) return std::make_unique<BytePoolKernel>(r);
  return std::make_unique<MaxPoolKernel>(r);
}

}  // namespace assay::engine::tactic_max_pool
