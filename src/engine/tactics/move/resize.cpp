// Resize and Upsample of the two inner axes as a table of taps per output row and column. The tables are what
// the operator's plain evaluation makes of the identity, so every mode is right by construction.
#include <cmath>

#include "analysis/quantization.h"
#include "engine/tactics/move/resize_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/tensor/resize_plan.h"

namespace assay::engine::tactic_resize {
namespace {

constexpr std::string_view kOperators[] = {"Resize", "Upsample"};

/// The node's plan; its inputs besides the image must be constants.
ResizePlan plan_of(const Problem& p) {
  std::vector<Tensor> inputs = {Tensor::view(DType::kFloat64, *p.input_shape(0), nullptr, nullptr)};
  for (size_t i = 1; i < p.input_count(); ++i)
    inputs.push_back(p.has_input(i) ? p.input_constant(i)->aligned() : Tensor());
  const EvalContext c(p.node(), *p.op().op, *p.op().version, std::move(inputs));
  return p.node().op_type == "Resize" ? plan_resize(c) : plan_upsample(c);
}

/// The table of one axis: columns of the resized identity.
kernels::ResizeAxis taps_of(const ResizePlan& plan, size_t axis) {
  ResizePlan single = plan;
  const int64_t in = plan.axes[axis].in, out = plan.axes[axis].out;
  assay::ResizeAxis kept{.in = in, .out = in, .width = static_cast<double>(in)};
  single.axes = {kept, plan.axes[axis]};
  Tensor identity = Tensor::zeros(DType::kFloat64, {in, in});
  for (int64_t i = 0; i < in; ++i) identity.mutable_data<double>()[i * in + i] = 1;
  const Tensor weights = assay::resize(identity, single);  // [in, out]
  std::vector<std::vector<std::pair<int32_t, float>>> taps(static_cast<size_t>(out));
  kernels::ResizeAxis table;
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i)
      if (const double w = weights.data<double>()[i * out + o]; w != 0)
        taps[static_cast<size_t>(o)].emplace_back(static_cast<int32_t>(i), static_cast<float>(w));
    table.taps = std::max(table.taps, static_cast<int64_t>(taps[static_cast<size_t>(o)].size()));
  }
  for (auto& t : taps) {
    // Positions with fewer taps read one of theirs in halves: with a weight of 0, infinity would become NaN.
    if (t.empty()) t.emplace_back(0, 0.0F);
    while (static_cast<int64_t>(t.size()) < table.taps) {
      t.back().second /= 2;
      t.push_back(t.back());
    }
    for (const auto& [index, weight] : t) {
      table.index.push_back(index);
      table.weight.push_back(weight);
    }
  }
  return table;
}

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  const DType type = p.input_dtype(0);
  if (type != DType::kFloat32 && !has_whole_bytes(type))
    return fmt::format("{} is not moved", dtype_name(type));
  if (in->rank() < 2 || in->numel() == 0 || out->numel() == 0) return "there are no two axes of elements";
  for (size_t i = 1; i < p.input_count(); ++i)
    if (p.has_input(i) && p.input_constant(i) == nullptr) return "scales or sizes are not constant";
  const ResizePlan plan = plan_of(p);
  if (plan.coordinates == CoordinateMode::kTfCropAndResize) return "a cropped region is resized";
  for (size_t a = 0; a + 2 < plan.axes.size(); ++a)
    if (plan.resizes(plan.axes[a])) return "more than the two inner axes are resized";
  for (size_t a = plan.axes.size() - 2; a < plan.axes.size(); ++a) {
    if (plan.axes[a].in > 4096) return "too many inputs are mixed into one output";
    const kernels::ResizeAxis taps = taps_of(plan, a);
    if (taps.taps > kernels::kMaxResizeTaps) return "too many inputs are mixed into one output";
    if (type != DType::kFloat32 && !taps.selects())
      return fmt::format("{} is computed with", dtype_name(type));
  }
  return {};
}

TapFields tap_fields(const ResizePlan& plan, size_t axis) {
  const kernels::ResizeAxis table = taps_of(plan, axis);
  return {.taps = table.taps,
          .index = {table.index.begin(), table.index.end()},
          .weight = {table.weight.begin(), table.weight.end()}};
}

void add_candidate(const Problem& p, const ResizePlan& plan, Layout layout, Proposals& proposals) {
  Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
  b.add_input(p.node().input(0), layout);
  b.add_output(p.node().output(0), layout);
  b.write(StepFields{tap_fields(plan, plan.axes.size() - 2), tap_fields(plan, plan.axes.size() - 1)});
  b.estimate =
      estimate_seconds(8.0 * static_cast<double>(p.output_shape(0)->numel()), 0, layout.is_row() ? 0.1 : 0.2);
}

/// The region's QuantizeLinear: the result is quantized again, or why that is not done here.
std::string propose_bytes(const Problem& p, const ResizePlan& plan, Proposals& proposals) {
  const std::optional<Quantization> from = quantization_of(p.node().input(0)),
                                    to = read_quantization(*p.region().epilogue.back().node);
  if (!from || !to || p.region().epilogue.size() != 1) return "only 8 bits are quantized again here";
  if (!std::isnormal(from->scale / to->scale)) return "the scales are too different";
  if (p.input_shape(0)->rank() != 4) return "they are no images of two axes";
  Candidate& b = proposals.add("channels_last_int8", NumericsClass::kReassociated);
  b.add_input(p.node().input(0), {Layout::channels_last(), from->dtype});
  b.add_output(p.region().output(), Layout::channels_last());
  b.write(StepFields{tap_fields(plan, plan.axes.size() - 2), tap_fields(plan, plan.axes.size() - 1)});
  b.write(ByteFields{.x_scale = from->scale,
                     .y_scale = to->scale,
                     .x_zero_point = from->zero_point,
                     .y_zero_point = to->zero_point});
  b.estimate = estimate_seconds(12.0 * static_cast<double>(p.output_shape(0)->numel()), 0, 0.2);
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const ResizePlan plan = plan_of(p);
  if (!p.region().epilogue.empty()) return propose_bytes(p, plan, proposals);
  for (const Layout layout : p.layouts(p.input_dtype(0), *p.input_shape(0)))
    if (layout.is_row() || p.input_shape(0)->rank() == 4) add_candidate(p, plan, layout, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "resize",
    .summary = "nearest and linear resizing of images, also in 8 bits; of any type where pixels are selected",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_resize
