// Local response normalisation through oneDNN.
#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_dnnl_lrn {
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

struct Numbers {
  int64_t size;
  float alpha, beta, bias;
};

Lrn::primitive_desc describe(const Shape& shape, Layout layout, const Box& part, const Numbers& n) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {Lrn::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                    part_desc(shape, layout, part), n.size, n.alpha, n.beta, n.bias),
          attributes, dnnl_engine()};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const OpContext c = p.attributes();
  const Numbers n{c.attr_int("size"), static_cast<float>(c.attr_float("alpha")),
                  static_cast<float>(c.attr_float("beta")), static_cast<float>(c.attr_float("bias"))};
  Parameters parameters;
  parameters.set("size", n.size);
  parameters.set("alpha", double{n.alpha});
  parameters.set("beta", double{n.beta});
  parameters.set("bias", double{n.bias});
  parameters.set("threads", int64_t{p.config().threads});
  const Shape& shape = *p.input_shape(0);
  return add_image_candidates(
      p, parameters, [&](Layout layout) { return parts_of(shape, layout, p.config().threads); },
      [&](Layout layout, const Box& part) { return describe(shape, layout, part, n); },
      30.0 * static_cast<double>(shape.numel()), [](Layout) { return 0.2; }, proposals);
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.input(0), &out = r.output(0);
  StepReader::check(
      in.shape.rank() == 4 && in.shape == out.shape && in.layout == out.layout && in.shape.numel() > 0,
      "it makes {} of {}", out.shape.str(), in.shape.str());
  const Numbers n{r.number("size", 1, kMostOfWindow), r.real("alpha"), r.real("beta"), r.real("bias")};
  return make_image_kernel<Lrn>(
      r, parts_of(in.shape, in.layout, r.threads()), [](const Box& part) { return part; },
      [&](Layout layout, const Box& part) { return describe(in.shape, layout, part, n); });
}

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_lrn",
    .summary = "oneDNN's local response normalisation",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_dnnl_lrn
