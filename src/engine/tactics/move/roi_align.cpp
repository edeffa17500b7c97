// RoiAlign of float32 images.
#include "engine/tactics/move/roi_align_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_roi_align {
namespace {

constexpr std::string_view kOperators[] = {"RoiAlign"};

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

}  // namespace

constinit const TacticDef def = {
    .name = "roi_align",
    .summary = "regions of images, sampled into cells",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_roi_align
