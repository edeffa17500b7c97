// Local response normalisation through oneDNN.
#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

using Lrn = dnnl::lrn_forward;

constexpr std::string_view kOperators[] = {"LRN"};

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_shape(0)->rank() != 4) return "only images are supported";
  if (p.input_shape(0)->numel() == 0) return "the result is empty";
  if (p.attributes().attr_int("size") % 2 == 0) return "the window is not centred";
  return {};
}

/// An image needs all its channels, so threads share the images only.
std::vector<Box> parts_of(const Shape& shape, Layout layout, int64_t threads) {
  return channel_parts(shape, layout, threads, shape[1] + layout.block);
}

Lrn::primitive_desc describe(const Shape& shape, Layout layout, const Box& part, const Parameters& p) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {Lrn::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                    part_desc(shape, layout, part), p.number("size"), static_cast<float>(p.real("alpha")),
                    static_cast<float>(p.real("beta")), static_cast<float>(p.real("bias"))),
          attributes, dnnl_engine()};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const OpContext c = p.attributes();
  Parameters parameters;
  parameters.set("size", c.attr_int("size"));
  parameters.set("alpha", c.attr_float("alpha"));
  parameters.set("beta", c.attr_float("beta"));
  parameters.set("bias", c.attr_float("bias"));
  parameters.set("threads", int64_t{p.config().threads});
  const Shape& shape = *p.input_shape(0);
  std::string refusal;
  for (const Layout layout : p.layouts(DType::kFloat32, shape)) {
    Parameters own = parameters;
    int64_t scratch = 0;
    try {
      for (const Box& part : parts_of(shape, layout, p.config().threads)) {
        const Lrn::primitive_desc pd = describe(shape, layout, part, own);
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
    b.estimate = estimate_seconds(30.0 * static_cast<double>(shape.numel()), 0, 0.2);
  }
  return proposals.candidates().empty() ? refusal : std::string();
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const PlanValue& in = plan.values[static_cast<size_t>(step.inputs[0])];
  auto kernel = std::make_unique<DnnlKernel>();
  for (const Box& part : parts_of(in.shape, in.layout, step.parameters.number("threads"))) {
    const Lrn::primitive_desc pd = describe(in.shape, in.layout, part, step.parameters);
    const int64_t offset = part_offset(in.shape, in.layout, part) * static_cast<int64_t>(sizeof(float));
    kernel->add_primitive(Lrn(pd));
    kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0, offset);
    kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0, offset);
    kernel->add_scratch(pd.scratchpad_desc());
  }
  return kernel;
}

}  // namespace

constinit const TacticDef tactic_dnnl_lrn = {
    .name = "dnnl_lrn",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine
