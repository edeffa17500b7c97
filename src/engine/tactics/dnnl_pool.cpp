// Pooling through oneDNN, in the layout that the input has.
#include <algorithm>

#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/window.h"

namespace assay::engine {
namespace {

using Pool = dnnl::pooling_v2_forward;

constexpr std::string_view kOperators[] = {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"};

bool is_global(const Node& n) { return n.op_type.starts_with("Global"); }
bool is_max(const Node& n) { return n.op_type == "MaxPool" || n.op_type == "GlobalMaxPool"; }

kernels::Window window_of(const Problem& p) {
  const Shape spatial = spatial_shape(*p.input_shape(0));
  if (!is_global(p.node())) return read_window(p.attributes(), spatial.size()).over(spatial);
  const std::vector<int64_t> ones(spatial.size(), 1), zeros(spatial.size(), 0);
  return {.in = spatial.dims(),
          .out = ones,
          .kernel = spatial.dims(),
          .strides = ones,
          .dilations = ones,
          .begin = zeros,
          .end = zeros};
}

bool counts_padding(const Problem& p) {
  return p.node().op_type == "AveragePool" && p.attributes().attr_int("count_include_pad", 0) != 0;
}

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (out->numel() == 0) return "the result is empty";
  if (p.output_count() > 1 && p.node().output(1) != nullptr) return "the indices of the maxima are wanted";
  const kernels::Window w = window_of(p);
  for (size_t a = 0; a < w.rank(); ++a) {
    // Padding that no window is allowed to lie in whole, and windows that reach past it.
    if (w.begin[a] >= w.reach(a) || w.end[a] >= w.reach(a)) return "the padding is as wide as the window";
    const int64_t overhang = (w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a] - w.end[a];
    if (overhang > 0 && counts_padding(p)) return "a window reaches past the padding that is to be counted";
  }
  return {};
}

/// Images and channels are pooled each on its own.
std::vector<Box> parts_of(const Shape& out, Layout layout, int64_t threads) {
  return channel_parts(out, layout, threads);
}

/// What a part of the result is computed from.
Box input_part(const Shape& in, const Box& part) {
  Box box = whole_box(in);
  for (const size_t d : {0, 1}) {
    box.begin[d] = part.begin[d];
    box.size[d] = part.size[d];
  }
  return box;
}

Pool::primitive_desc describe(const Shape& in, const Shape& out, Layout layout, const Box& part,
                              const Parameters& p) {
  const auto algorithm = p.text("kind") == "max" ? dnnl::algorithm::pooling_max
                         : p.text("kind") == "average_with_pads"
                             ? dnnl::algorithm::pooling_avg_include_padding
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {
      Pool::desc(dnnl::prop_kind::forward_inference, algorithm, part_desc(in, layout, input_part(in, part)),
                 part_desc(out, layout, part), to_dnnl(p.numbers("strides")), to_dnnl(p.numbers("kernel")),
                 to_dnnl(p.numbers("dilations")), to_dnnl(p.numbers("pads_begin")),
                 to_dnnl(p.numbers("pads_end"))),
      attributes, dnnl_engine()};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const kernels::Window w = window_of(p);
  Parameters parameters;
  parameters.set("kind", std::string(is_max(p.node())    ? "max"
                                     : counts_padding(p) ? "average_with_pads"
                                                         : "average"));
  parameters.set("kernel", w.kernel);
  parameters.set("strides", w.strides);
  std::vector<int64_t> dilations, end;
  for (size_t a = 0; a < w.rank(); ++a) {
    dilations.push_back(w.dilations[a] - 1);
    // oneDNN derives the output from the padding; a window that ends early leaves some of it unused.
    end.push_back((w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a]);
  }
  parameters.set("dilations", dilations);
  parameters.set("pads_begin", w.begin);
  parameters.set("pads_end", end);
  parameters.set("threads", int64_t{p.config().threads});
  std::string refusal;
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0))) {
    Parameters own = parameters;
    int64_t scratch = 0;
    try {
      for (const Box& part : parts_of(*p.output_shape(0), layout, p.config().threads)) {
        const Pool::primitive_desc pd = describe(*p.input_shape(0), *p.output_shape(0), layout, part, own);
        scratch += scratch_bytes(pd.scratchpad_desc());
        own.set("implementation", std::string(pd.impl_info_str()));
      }
    } catch (const dnnl::error& e) {
      refusal = fmt::format("oneDNN has no implementation ({})", e.what());
      continue;
    }
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    b.step.parameters = std::move(own);
    b.step.scratch_bytes = scratch;
    b.estimate = estimate_seconds(static_cast<double>(p.output_shape(0)->numel() * Shape(w.kernel).numel()),
                                  0, layout.is_blocked() ? 0.2 : 0.1);
  }
  return proposals.candidates().empty() ? refusal : std::string();
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const PlanValue &in = plan.values[static_cast<size_t>(step.inputs[0])],
                  &out = plan.values[static_cast<size_t>(step.outputs[0])];
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  auto kernel = std::make_unique<DnnlKernel>();
  for (const Box& part : parts_of(out.shape, out.layout, step.parameters.number("threads"))) {
    const Pool::primitive_desc pd = describe(in.shape, out.shape, in.layout, part, step.parameters);
    kernel->add_primitive(Pool(pd));
    kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0,
                      part_offset(in.shape, in.layout, input_part(in.shape, part)) * kWidth);
    kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(out.shape, out.layout, part) * kWidth);
    kernel->add_scratch(pd.scratchpad_desc());
  }
  return kernel;
}

}  // namespace

constinit const TacticDef tactic_dnnl_pool = {
    .name = "dnnl_pool",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine
