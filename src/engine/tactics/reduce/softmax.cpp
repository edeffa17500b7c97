// Softmax and LogSoftmax through vector kernels, with the scale and mask of attention scores.
#include "kernels/softmax/softmax.h"

#include "analysis/match.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_softmax {
namespace {

constexpr std::string_view kOperators[] = {"Softmax", "LogSoftmax", "assay.Softmax"};

std::string supports(const Problem& p) {
  if (p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.output_shape(0)->numel() == 0 || p.output_shape(0)->empty()) return "the result is empty or a scalar";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const Shape& shape = *p.output_shape(0);
  Parameters parameters;
  size_t axis = shape.size() - 1;
  bool coerced = false;
  const bool region = is_region(p.node());
  if (!region) {
    // Before opset 13 everything from the axis on is one dimension; in version 1 it may be nothing.
    coerced = p.attributes().since() < 13;
    const int64_t given = p.attributes().attr_int("axis");
    axis = coerced && given == shape.rank() ? shape.size()
                                            : static_cast<size_t>(normalize_axis(given, shape.rank()));
  }
  parameters.set("outer", shape.numel(0, axis));
  parameters.set("count", coerced ? shape.numel(axis, shape.size()) : shape[axis]);
  parameters.set("inner", coerced ? int64_t{1} : shape.numel(axis + 1, shape.size()));
  parameters.set("logarithm", int64_t{p.node().op_type == "LogSoftmax"});
  parameters.set("scale", region ? float_attribute(p.node(), "scale", 1) : 1.0);
  b.add_input(p.node().input(0));
  if (region && int_attribute(p.node(), "has_mask", 0) != 0) {
    // The mask's strides over [batch, heads, queries, keys].
    const Value* mask = p.node().input(1);
    Shape scores = shape, own = *p.shape(mask);
    while (scores.size() < 4) scores.insert_at(0, 1);
    while (own.size() < 4) own.insert_at(0, 1);
    const std::vector<int64_t> dense = own.strides();
    std::vector<int64_t> strides;
    for (size_t d = 0; d < 4; ++d) strides.push_back(own[d] == 1 ? 0 : dense[d]);
    b.add_input(mask);
    parameters.set("mask_strides", strides);
    parameters.set("heads", scores[1]);
    parameters.set("queries", scores[2]);
  }
  b.add_output(p.node().output(0));
  b.step.in_place.emplace_back(0, 0);
  b.step.parameters = std::move(parameters);
  // An exponential and its kin take as long as some 16 multiplications.
  const auto elements = static_cast<double>(shape.numel());
  b.estimate = estimate_seconds(32 * elements, 8 * elements, 0.8);
  return {};
}

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const StepReader& r)
      : outer_(r.number("outer", 1)),
        count_(r.number("count", 1)),
        inner_(r.number("inner", 1)),
        scale_(r.real("scale")),
        logarithm_(r.flag("logarithm")) {
    r.check_elements(r.row_input(0), {outer_, count_, inner_});
    r.check_elements(r.row_output(0), {outer_, count_, inner_});
    r.check_in_place(0);
    masked_ = r.has_input(1);
    if (!masked_) return;
    const auto& strides = r.numbers("mask_strides", 4, 0);
    mask_ = {.heads = r.number("heads", 1),
             .queries = r.number("queries", 1),
             .batch_stride = strides[0],
             .head_stride = strides[1],
             .query_stride = strides[2],
             .key_stride = strides[3]};
    const int64_t images = outer_ / r.product({mask_.heads, mask_.queries});
    StepReader::check(inner_ == 1 && r.product({images, mask_.heads, mask_.queries}) == outer_,
                      "its mask has {} heads and {} queries for {} rows", mask_.heads, mask_.queries, outer_);
    r.check_walk(r.row_input(1), {images, mask_.heads, mask_.queries, count_}, strides);
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    if (masked_) {
      mask_.data = static_cast<const float*>(args.inputs[1]);
      kernels::masked_softmax(in, out, outer_, count_, scale_, mask_);
    } else if (logarithm_) {
      kernels::log_softmax(in, out, outer_, count_, inner_);
    } else {
      kernels::softmax(in, out, outer_, count_, inner_, scale_);
    }
    return Status::kOk;
  }

 private:
  int64_t outer_, count_, inner_;
  float scale_;
  bool logarithm_, masked_ = false;
  kernels::SoftmaxMask mask_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<SoftmaxKernel>(StepReader(plan, step, 1, 2, 1, StepReader::May::kComputeInPlace));
}

}  // namespace

constinit const TacticDef def = {
    .name = "softmax",
    .summary = "Softmax and LogSoftmax of rows",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_softmax
