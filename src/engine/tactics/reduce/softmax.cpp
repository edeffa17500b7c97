// Softmax and LogSoftmax through vector kernels, with the scale and mask of attention scores.
#include "kernels/softmax/softmax.h"

#include "analysis/match.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_softmax {
namespace {

constexpr std::string_view kOperators[] = {"Softmax", "LogSoftmax", "assay.Softmax"};

/// Where a mask lies over [batch, heads, queries, keys].
struct MaskFields {
  std::array<int64_t, 4> strides = {};
  int64_t heads = 1, queries = 1;

  void fields(FieldVisitor& visit) {
    visit("mask_strides", strides, {0});
    visit("heads", heads, kPositive);
    visit("queries", queries, kPositive);
  }
};

struct StepFields {
  int64_t outer = 1, count = 1, inner = 1;
  bool logarithm = false;
  float scale = 1;
  std::optional<MaskFields> mask;  ///< where the step has a second input

  void fields(FieldVisitor& visit) {
    visit("outer", outer, kPositive);
    visit("count", count, kPositive);
    visit("inner", inner, kPositive);
    visit("logarithm", logarithm);
    visit("scale", scale);
    if (mask) mask->fields(visit);
  }
};

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
  StepFields fields;
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
  fields.outer = shape.numel(0, axis);
  fields.count = coerced ? shape.numel(axis, shape.size()) : shape[axis];
  fields.inner = coerced ? 1 : shape.numel(axis + 1, shape.size());
  fields.logarithm = p.node().op_type == "LogSoftmax";
  if (region) fields.scale = static_cast<float>(float_attribute(p.node(), "scale", 1));
  b.add_input(p.node().input(0));
  if (region && int_attribute(p.node(), "has_mask", 0) != 0) {
    const Value* mask = p.node().input(1);
    Shape scores = shape, own = *p.shape(mask);
    while (scores.size() < 4) scores.insert_at(0, 1);
    while (own.size() < 4) own.insert_at(0, 1);
    const std::vector<int64_t> dense = own.strides();
    MaskFields& m = fields.mask.emplace(MaskFields{.heads = scores[1], .queries = scores[2]});
    for (size_t d = 0; d < 4; ++d) m.strides[d] = own[d] == 1 ? 0 : dense[d];
    b.add_input(mask);
  }
  b.add_output(p.node().output(0));
  b.step.in_place.emplace_back(0, 0);
  b.write(fields);
  // An exponential and its kin take as long as some 16 multiplications.
  const auto elements = static_cast<double>(shape.numel());
  b.estimate = estimate_seconds(32 * elements, 8 * elements, 0.8);
  return {};
}

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const StepReader& r)
      : p_(r.read(StepFields{.mask = r.has_input(1) ? std::optional(MaskFields()) : std::nullopt})) {
    r.check_elements(r.row_input(0), {p_.outer, p_.count, p_.inner});
    r.check_elements(r.row_output(0), {p_.outer, p_.count, p_.inner});
    r.check_in_place(0);
    if (!p_.mask) return;
    const auto& strides = p_.mask->strides;
    mask_ = {.heads = p_.mask->heads,
             .queries = p_.mask->queries,
             .batch_stride = strides[0],
             .head_stride = strides[1],
             .query_stride = strides[2],
             .key_stride = strides[3]};
    const int64_t images = p_.outer / r.product({mask_.heads, mask_.queries});
    StepReader::check(p_.inner == 1 && r.product({images, mask_.heads, mask_.queries}) == p_.outer,
                      "its mask has {} heads and {} queries for {} rows", mask_.heads, mask_.queries,
                      p_.outer);
    r.check_walk(r.row_input(1), {images, mask_.heads, mask_.queries, p_.count}, strides);
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    if (p_.mask) {
      mask_.data = static_cast<const float*>(args.inputs[1]);
      kernels::masked_softmax(in, out, p_.outer, p_.count, p_.scale, mask_);
    } else if (p_.logarithm) {
      kernels::log_softmax(in, out, p_.outer, p_.count, p_.inner);
    } else {
      kernels::softmax(in, out, p_.outer, p_.count, p_.inner, p_.scale);
    }
    return Status::kOk;
  }

 private:
  StepFields p_;
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
