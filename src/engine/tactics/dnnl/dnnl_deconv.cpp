// Transposed convolution through oneDNN, in blocked layouts. Post-ops of oneDNN's transposed convolutions are
// plain loops, so there is no epilogue.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl/dnnl_deconv_kernel.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_dnnl_deconv {
namespace {

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

/// The whole weights as oneDNN orders them, with strides over ONNX's order.
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

/// Returns why not, or nothing.
std::string add_candidate(const Problem& p, const Extents& e, const memory::desc& given,
                          const StepFields& fields, Proposals& proposals) {
  const std::vector<Box> parts = parts_of(e, p.config().threads);
  PackedWeights packed;
  int64_t scratch = 0;
  std::string implementation;
  try {
    for (const Box& part : parts) {
      const Deconvolution::primitive_desc pd = describe(e, part, fields);
      packed.add(weights_key(part), pd.weights_desc());
      scratch += scratch_bytes(pd.scratchpad_desc());
      implementation = pd.impl_info_str();
    }
  } catch (const dnnl::error& error) {
    return fmt::format("oneDNN has no implementation ({})", error.what());
  }
  const bool plain = rank_implementation(implementation) == ImplementationRank::kPlain;
  const auto part_of = [e, parts, given, fields](const Tensor& all, int64_t channel) {
    const Box& part =
        *std::find_if(parts.begin(), parts.end(), [&](const Box& x) { return weights_key(x) == channel; });
    const int64_t first = e.groups == 1 ? channel : channel / e.group_outputs();
    const dnnl_dim_t* given_strides = given.data.format_desc.blocking.strides;
    const memory::dims strides = {given_strides, given_strides + given.data.ndims};
    const Shape extents = part_weights(e, part, fields);
    const float* from = all.data<float>() + first * strides[0];
    return std::pair(Tensor::view(DType::kFloat32, extents, from, nullptr),
                     memory::desc(to_dnnl(extents.dims()), memory::data_type::f32, strides));
  };
  const UnalignedTensor& w = *p.input_constant(1);
  Candidate& b = proposals.add(e.layout.str(), NumericsClass::kReassociated);
  b.add_input(p.node().input(0), e.layout);
  b.add_constant(p.node().input(1)->name(), w, fmt::format("transposed convolution in {}", packed.str()),
                 [w, packed, part_of] {
                   const Tensor all = w.aligned();
                   return packed.pack([&](int64_t channel) { return part_of(all, channel); });
                 });
  p.has_input(2) ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(p.node().output(0), e.layout);
  b.step.scratch_bytes = scratch;
  b.estimate = estimate_seconds(2.0 * static_cast<double>(w.numel()) *
                                    static_cast<double>(e.in.numel() / std::max<int64_t>(e.in[1], 1)),
                                0, plain ? 0.01 : 0.5);
  b.write(fields);
  b.write(DnnlFields{.threads = p.config().threads, .implementation = implementation});
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Shape &in = *p.input_shape(0), &out = *p.output_shape(0);
  const UnalignedTensor& w = *p.input_constant(1);
  const WindowAttributes window =
      read_window(p.attributes(), in.size() - 2, {w.shape().begin() + 2, w.shape().end()});
  const int64_t groups = read_group(p.attributes(), in[1], out[1]);
  const memory::desc given = given_weights(w.shape(), groups);
  StepFields fields{.weights = {}, .window = {.strides = window.strides, .begin = window.begin}};
  for (size_t a = 0; a < window.kernel.size(); ++a) {
    fields.window.dilations.push_back(window.dilations[a] - 1);
    const int64_t reach = (window.kernel[a] - 1) * window.dilations[a] + 1;
    fields.window.end.push_back((in[a + 2] - 1) * window.strides[a] + reach - window.begin[a] - out[a + 2]);
  }
  const memory::dims weights = given.dims();
  fields.weights.assign(weights.begin(), weights.end());
  fields.groups = groups;
  std::string refusal;
  for (const Layout layout : p.layouts(DType::kFloat32, in)) {
    if (layout.is_channels_last() || !p.wants(layout.str())) continue;
    const Extents e{.in = in, .out = out, .layout = layout, .groups = groups, .has_bias = p.has_input(2)};
    if (std::string reason = add_candidate(p, e, given, fields, proposals); !reason.empty())
      refusal = std::move(reason);
  }
  return proposals.candidates().empty() ? refusal : std::string();
}

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_deconv",
    .summary = "oneDNN's transposed convolutions",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dnnl_deconv
