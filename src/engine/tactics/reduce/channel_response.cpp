// Local response normalization (LRN) in every layout of images.
#include "engine/tactics/reduce/channel_response_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_channel_response {
namespace {

constexpr std::string_view kOperators[] = {"LRN"};

std::string supports(const Problem& p) {
  const Shape* shape = p.input_shape(0);
  if (shape == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (shape->numel() == 0) return "the result is empty";
  const OpContext c = p.attributes();
  if ((*shape)[1] > kernels::kMaxResponseChannels || c.attr_int("size") > kernels::kMaxResponseSize)
    return "the window or the image has too many channels";
  if (c.attr_float("alpha") < 0 || c.attr_float("bias") < 0 || !(c.attr_float("beta") > 0))
    return "what is divided by may be below zero, or is always one";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const OpContext c = p.attributes();
  const Shape& shape = *p.input_shape(0);
  for (const Layout layout : p.layouts(DType::kFloat32, shape)) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    b.write(StepFields{.size = c.attr_int("size"),
                       .alpha = c.attr_float("alpha"),
                       .beta = c.attr_float("beta"),
                       .bias = c.attr_float("bias")});
    b.estimate = estimate_seconds(30.0 * static_cast<double>(shape.numel()), 0, layout.is_row() ? 0.3 : 0.2);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "channel_response",
    .summary = "local response normalisation in every layout",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_channel_response
