#include "engine/tactics/move/roi_align_kernel.h"

#include "engine/runtime/complaint.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_roi_align {
namespace {

class RoiAlignKernel final : public ComplainingKernel {
 public:
  explicit RoiAlignKernel(const StepReader& r) {
    const Shape &in = r.row_input(0).shape, &rois = r.row_input(1).shape, &out = r.row_output(0).shape;
    StepReader::check(in.size() == 4 && in.numel() > 0 && r.product({in[2], in[3]}) <= kMaxOfWindow &&
                          rois.size() == 2 && rois[1] == 4 && out.size() == 4 && out[0] == rois[0] &&
                          out[1] == in[1] && out[2] > 0 && out[3] > 0 &&
                          r.row_input(2, DType::kInt64).shape.numel() == rois[0],
                      "regions {} do not make {} of {}", rois.str(), out.str(), in.str());
    const auto p = r.read<StepFields>();
    a_ = {.batch = in[0],
          .channels = in[1],
          .height = in[2],
          .width = in[3],
          .rois = rois[0],
          .out_height = out[2],
          .out_width = out[3],
          .ratio = p.ratio,
          .scale = static_cast<float>(p.scale),
          .half_pixel = p.half_pixel,
          .largest = p.largest};
  }
  Status run(const KernelArgs& args) noexcept override {
    switch (kernels::roi_align(
        a_, static_cast<const float*>(args.inputs[0]), static_cast<const float*>(args.inputs[1]),
        static_cast<const int64_t*>(args.inputs[2]), static_cast<float*>(args.outputs[0]))) {
      case kernels::RoiStatus::kBadImage:
        return Status::kBadIndex;
      case kernels::RoiStatus::kTooLarge:
        return Status::kKernelFailed;
      case kernels::RoiStatus::kOutOfMemory:
        return Status::kOutOfMemory;
      case kernels::RoiStatus::kOk:
        break;
    }
    return Status::kOk;
  }
  std::string complaint(const KernelArgs& args) const override {
    const auto* images = static_cast<const int64_t*>(args.inputs[2]);
    for (int64_t i = 0; i < a_.rois; ++i)
      if (images[i] < 0 || images[i] >= a_.batch)
        return fmt::format("region {} is in image {} of {}", i, images[i], a_.batch);
    return "a region is too large to sample";
  }

 private:
  kernels::RoiAligning a_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<RoiAlignKernel>(StepReader(plan, step, 3));
}

}  // namespace assay::engine::tactic_roi_align
