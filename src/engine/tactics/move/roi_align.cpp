// RoiAlign of float32 images.
#include "kernels/sample/roi_align.h"

#include "engine/runtime/complaint.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_roi_align {
namespace {

constexpr std::string_view kOperators[] = {"RoiAlign"};

struct StepFields {
  int64_t ratio = 0;
  double scale = 1;
  bool largest = false, half_pixel = false;

  void fields(FieldVisitor& visit) {
    visit("ratio", ratio, {0, kernels::kMaxRoiRatio});
    visit("scale", scale);
    visit("largest", largest);
    visit("half_pixel", half_pixel);
  }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *rois = p.input_shape(1), *out = p.output_shape(0);
  if (in == nullptr || rois == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32 || p.input_dtype(1) != DType::kFloat32)
    return "the image is not float32";
  if (in->rank() != 4 || in->numel() == 0 || (*in)[2] * (*in)[3] > kMaxOfWindow || out->rank() != 4)
    return "the image is empty or too large";
  const OpContext c = p.attributes();
  const int64_t ratio = c.attr_int("sampling_ratio");
  if (ratio < 0 || ratio > kernels::kMaxRoiRatio) return "it has too many points";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (size_t i = 0; i < 3; ++i) b.add_input(p.node().input(i));
  b.add_output(p.node().output(0));
  b.write(StepFields{.ratio = ratio,
                     .scale = c.attr_float("spatial_scale"),
                     .largest = c.attr_string("mode") == "max",
                     .half_pixel = knows_attr(c, "coordinate_transformation_mode") &&
                                   c.attr_string("coordinate_transformation_mode") == "half_pixel"});
  b.estimate = estimate_seconds(64.0 * static_cast<double>(out->numel()), 0, 0.05);
  return {};
}

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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<RoiAlignKernel>(StepReader(plan, step, 3));
}

}  // namespace

constinit const TacticDef def = {
    .name = "roi_align",
    .summary = "regions of images, sampled into cells",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_roi_align
