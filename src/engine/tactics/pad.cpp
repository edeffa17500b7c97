// Pad with a constant: the frame is filled and the inside copied.
#include <algorithm>
#include <cstring>

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/copy/strided_copy.h"
#include "passes/match.h"

namespace assay::engine::tactic_pad {
namespace {

constexpr std::string_view kOperators[] = {"Pad"};

/// Elements added before and after each axis, negative where they are cut off; nothing when not constant.
std::optional<std::vector<int64_t>> pads_of(const Problem& p) {
  const Node& n = p.node();
  const auto given = ints_parameter(n, n.find_attribute("paddings") != nullptr ? "paddings" : "pads", 1);
  const size_t rank = p.input_shape(0)->size();
  if (!given) return std::nullopt;
  std::vector<int64_t> pads(2 * rank);
  if (n.input(3) == nullptr) return given->size() == 2 * rank ? given : std::nullopt;
  const auto axes = integers_of(n.input(3));
  if (!axes || given->size() != 2 * axes->size()) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int>(rank)));
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes->size() + i];
  }
  return pads;
}

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (string_attribute(p.node(), "mode", "constant") != "constant")
    return "only constant padding is supported";
  if (p.node().input(2) != nullptr && !scalar_of(p.node().input(2)))
    return "the padding value is not a constant";
  const auto pads = pads_of(p);
  if (!pads) return "the padding is not a constant";
  if (std::any_of(pads->begin(), pads->end(), [](int64_t n) { return n < 0; })) return "elements are cut off";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  const Shape& out = *p.output_shape(0);
  const std::vector<int64_t> pads = *pads_of(p), strides = out.strides();
  int64_t offset = 0;
  for (size_t d = 0; d < out.size(); ++d) offset += pads[d] * strides[d];
  const double value =
      p.node().input(2) != nullptr ? *scalar_of(p.node().input(2)) : float_attribute(p.node(), "value", 0);
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  b.step.parameters.set("offset", offset);
  b.step.parameters.set("value", value);
  return {};
}

class PadKernel final : public Kernel {
 public:
  PadKernel(kernels::StridedCopy copy, int64_t elements, int64_t offset, float value)
      : copy_(std::move(copy)), elements_(elements), offset_(offset), value_(value) {}
  Status run(const KernelArgs& args) noexcept override {
    auto* out = static_cast<float*>(args.outputs[0]);
    std::fill_n(out, elements_, value_);
    copy_.run(args.inputs[0], out + offset_);
    return Status::kOk;
  }

 private:
  kernels::StridedCopy copy_;
  int64_t elements_, offset_;
  float value_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.row_input(0), &out = r.row_output(0);
  // How much comes before the input on each axis.
  const int64_t offset = in.shape.numel() == 0 ? 0 : r.number("offset");
  int64_t rest = offset;
  bool fits = in.shape.size() == out.shape.size();
  const std::vector<int64_t> strides = out.shape.strides();
  for (size_t d = 0; fits && in.shape.numel() > 0 && d < strides.size(); ++d) {
    fits = strides[d] > 0 && in.shape[d] <= out.shape[d] && rest / strides[d] <= out.shape[d] - in.shape[d];
    if (fits) rest %= strides[d];
  }
  StepReader::check(fits, "{} at {} is not a part of {}", in.shape.str(), offset, out.shape.str());
  return std::make_unique<PadKernel>(
      kernels::StridedCopy(in.shape, in.shape.strides(), out.shape.strides(), sizeof(float)),
      out.shape.numel(), offset, r.real("value"));
}

}  // namespace

constinit const TacticDef def = {
    .name = "pad",
    .summary = "padding by a number",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_pad
