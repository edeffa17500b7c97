#include "engine/tactics/move/resize_kernel.h"

#include <cmath>

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_resize {
namespace {

class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(const StepReader& r) {
    const PlanValue &in = r.any_input(0), &out = r.any_output(0);
    is_mixed_ = r.step().parameters.find<double>("x_scale") != nullptr;
    if (is_mixed_) read_steps(r, in.dtype, out.dtype);
    StepReader::check(
        is_mixed_ || (in.dtype == out.dtype && (in.dtype == DType::kFloat32 || has_whole_bytes(in.dtype))),
        "it makes {} of {}", dtype_name(out.dtype), dtype_name(in.dtype));
    const size_t rank = in.shape.size();
    bool fits = rank >= 2 && out.shape.size() == rank && in.layout == out.layout && in.shape.numel() > 0 &&
                (rank == 4 || in.layout.is_row());
    for (size_t d = 0; fits && d + 2 < rank; ++d) fits = in.shape[d] == out.shape[d];
    StepReader::check(fits, "it makes {} of {}", out.shape.str(), in.shape.str());
    const auto p = r.read(StepFields{.rows = {in.shape[rank - 2], out.shape[rank - 2]},
                                     .columns = {in.shape[rank - 1], out.shape[rank - 1]}});
    rows_ = p.rows.table();
    columns_ = p.columns.table();
    height_ = in.shape[rank - 2];
    width_ = in.shape[rank - 1];
    inner_ = in.layout.is_blocked() ? in.layout.block : in.layout.is_channels_last() ? in.shape[1] : 1;
    element_ = storage_bytes(in.dtype, 1);
    planes_ = static_cast<int64_t>(in.bytes()) / element_ / (height_ * width_ * inner_);
    is_computed_ = in.dtype == DType::kFloat32;
    StepReader::check(is_computed_ || is_mixed_ || (rows_.selects() && columns_.selects()),
                      "{} is computed with", dtype_name(in.dtype));
  }
  Status run(const KernelArgs& args) noexcept override {
    if (is_mixed_)
      kernels::resize_bytes(args.inputs[0], args.outputs[0], steps_, planes_, height_, width_, inner_, rows_,
                            columns_);
    else if (is_computed_)
      kernels::resize(static_cast<const float*>(args.inputs[0]), static_cast<float*>(args.outputs[0]),
                      planes_, height_, width_, inner_, rows_, columns_);
    else
      kernels::select_pixels(args.inputs[0], args.outputs[0], planes_, height_, width_, inner_ * element_,
                             rows_, columns_);
    return Status::kOk;
  }

 private:
  void read_steps(const StepReader& r, DType from, DType to) {
    const auto is_byte = [](DType t) { return t == DType::kUInt8 || t == DType::kInt8; };
    StepReader::check(is_byte(from) && is_byte(to), "it makes {} of {}", dtype_name(to), dtype_name(from));
    const bool reads_signed = from == DType::kInt8, makes_signed = to == DType::kInt8;
    const auto p = r.read(ByteFields{.reads_signed = reads_signed, .makes_signed = makes_signed});
    StepReader::check(std::isnormal(p.x_scale / p.y_scale), "its scales are {} and {}", p.x_scale, p.y_scale);
    steps_ = {.from = {reads_signed, p.x_scale, static_cast<int>(p.x_zero_point)},
              .to = {makes_signed, p.y_scale, static_cast<int>(p.y_zero_point)}};
  }

  kernels::ResizeAxis rows_, columns_;
  int64_t planes_ = 0, height_ = 0, width_ = 0, inner_ = 0;
  int64_t element_ = 0;  ///< in bytes
  bool is_computed_ = true;
  bool is_mixed_ = false;  ///< quantized numbers, which are quantized again
  kernels::ByteSteps steps_{};
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ResizeKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_resize
