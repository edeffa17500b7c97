// MaxPool of any element type, and with the places of the maxima.
#include "kernels/pool/max_pool.h"

#include "engine/tactics/tactic_list.h"
#include "engine/tactics/window_parameters.h"
#include "graph/read.h"
#include "kernels/pool/window_rows.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_max_pool {
namespace {

constexpr std::string_view kOperators[] = {"MaxPool"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not pooled", dtype_name(p.input_dtype(0)));
  if (in->rank() < 3 || in->size() > 2 + kernels::kMostWindowAxes)
    return "it has no spatial axes, or too many";
  if (p.input_dtype(0) == DType::kFloat32 && n.output(1) == nullptr && in->rank() <= 5)
    return "oneDNN pools float32 where only the maxima are wanted";
  const Shape spatial = spatial_shape(*in);
  if (in->numel() == 0 || out->numel() == 0 || spatial.numel() > kMostOfWindow)
    return "the planes are empty or too large";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(n.input(0));
  for (size_t i = 0; i < 2; ++i) n.output(i) != nullptr ? b.add_output(n.output(i)) : b.skip_output();
  const kernels::Window window = read_window(p.attributes(), spatial.size()).over(spatial);
  write_window(window, b.step.parameters);
  b.step.parameters.set("by_columns", int64_t{int_attribute(n, "storage_order", 0) != 0});
  b.estimate = estimate_seconds(2.0 * static_cast<double>(out->numel() * window.taps()),
                                static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 0.05);
  return {};
}

class MaxPoolKernel final : public Kernel {
 public:
  explicit MaxPoolKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    const PlanValue& out = r.row_output(0, type_);
    window_ = read_window_over(r, in.shape, out.shape, kernels::kMostWindowAxes);
    StepReader::check(kernels::is_number(type_) && in.shape[0] == out.shape[0] &&
                          in.shape[1] == out.shape[1] && in.shape.numel() > 0 && out.shape.numel() > 0,
                      "it makes {} of {}", out.shape.str(), in.shape.str());
    StepReader::check(!r.has_output(1) || r.row_output(1, DType::kInt64).shape == out.shape,
                      "it gives places of another shape than {}", out.shape.str());
    by_columns_ = r.flag("by_columns");
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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<MaxPoolKernel>(StepReader(plan, step, 1, 1, 2));
}

}  // namespace

constinit const TacticDef def = {
    .name = "max_pool",
    .summary = "largest elements of windows, of any type, and where they lie",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_max_pool
