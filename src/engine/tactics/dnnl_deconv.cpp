// Transposed convolution through oneDNN, in blocked layouts. Post-ops of oneDNN's transposed convolutions are
// plain loops, so there is no epilogue.
#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/window.h"

namespace assay::engine {
namespace {

using dnnl::memory;
using Deconvolution = dnnl::deconvolution_forward;

constexpr std::string_view kOperators[] = {"ConvTranspose"};

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_constant(1) == nullptr) return "the weights are not constant";
  if (p.has_input(2) && p.input_constant(2) == nullptr) return "the bias is not a constant";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (out->numel() == 0) return "the result is empty";
  const OpContext c = p.attributes();
  if (c.has_attr("output_shape")) return "the output's extents are given instead of its padding";
  const std::string auto_pad = c.attr_string("auto_pad");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return "the padding is derived from the output";
  return {};
}

Deconvolution::primitive_desc describe(const Shape& in, const Shape& out, Layout layout, bool has_bias,
                                       const Parameters& p) {
  const memory::desc src = memory_desc(in, layout), dst = memory_desc(out, layout),
                     weights = any_desc(Shape(p.numbers("weights")));
  const memory::dims strides = to_dnnl(p.numbers("strides")), dilations = to_dnnl(p.numbers("dilations")),
                     begin = to_dnnl(p.numbers("pads_begin")), end = to_dnnl(p.numbers("pads_end"));
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::deconvolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!has_bias)
    return {Deconvolution::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({out[1]}, {});
  return {Deconvolution::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

/// The weights as oneDNN wants them: output channels first, groups before them; strides over ONNX's order.
memory::desc given_weights(const Shape& w, int64_t groups) {
  // ONNX: [groups * in, out, spatial...].
  Shape shape = {w[1], w[0] / groups};
  const std::vector<int64_t> dense = w.strides();
  std::vector<int64_t> strides = {dense[1], dense[0]};
  if (groups > 1) {
    shape.insert_at(0, groups);
    strides.insert(strides.begin(), dense[0] * (w[0] / groups));
  }
  for (size_t d = 2; d < w.size(); ++d) {
    shape.push_back(w[d]);
    strides.push_back(dense[d]);
  }
  return {to_dnnl(shape.dims()), memory::data_type::f32, to_dnnl(strides)};
}

std::string lower(const Problem& p, StepBuilder& b) {
  const Shape &in = *p.input_shape(0), &out = *p.output_shape(0);
  const UnalignedTensor& w = *p.input_constant(1);
  const WindowAttributes window =
      read_window(p.attributes(), in.size() - 2, {w.shape().begin() + 2, w.shape().end()});
  const int64_t groups = read_group(p.attributes(), in[1], out[1]);
  const memory::desc given = given_weights(w.shape(), groups);
  Parameters parameters;
  std::vector<int64_t> dilations, end;
  for (size_t a = 0; a < window.kernel.size(); ++a) {
    dilations.push_back(window.dilations[a] - 1);
    const int64_t reach = (window.kernel[a] - 1) * window.dilations[a] + 1;
    end.push_back((in[a + 2] - 1) * window.strides[a] + reach - window.begin[a] - out[a + 2]);
  }
  const memory::dims weights = given.dims();
  parameters.set("weights", std::vector<int64_t>(weights.begin(), weights.end()));
  parameters.set("strides", window.strides);
  parameters.set("dilations", dilations);
  parameters.set("pads_begin", window.begin);
  parameters.set("pads_end", end);
  const Layout layout{p.config().block};
  std::optional<Deconvolution::primitive_desc> pd;
  try {
    pd = describe(in, out, layout, p.has_input(2), parameters);
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN has no implementation ({})", e.what());
  }
  parameters.set("implementation", std::string(pd->impl_info_str()));
  b.add_input(p.node().input(0), layout);
  b.add_constant(fmt::format("deconv {} {} {}", w.data(), in.str(), out.str()), p.node().input(1)->name(),
                 [w, given, packed = pd->weights_desc()] { return pack(w.aligned(), given, packed); });
  p.has_input(2) ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(p.node().output(0), layout);
  b.step().parameters = std::move(parameters);
  b.step().scratch_bytes = static_cast<int64_t>(pd->scratchpad_desc().get_size());
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const PlanValue &in = plan.values[static_cast<size_t>(step.inputs[0])],
                  &out = plan.values[static_cast<size_t>(step.outputs[0])];
  const bool has_bias = step.inputs[2] >= 0;
  const Deconvolution::primitive_desc pd =
      describe(in.shape, out.shape, in.layout, has_bias, step.parameters);
  auto kernel = std::make_unique<DnnlKernel>(Deconvolution(pd));
  kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0);
  kernel->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1);
  if (has_bias) kernel->add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2);
  kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0);
  kernel->add_scratch(pd.scratchpad_desc());
  return kernel;
}

}  // namespace

constinit const TacticDef tactic_dnnl_deconv = {
    .name = "dnnl_deconv",
    .operators = kOperators,
    .supports = supports,
    .lower = lower,
    .factory = {.create = create},
};

}  // namespace assay::engine
