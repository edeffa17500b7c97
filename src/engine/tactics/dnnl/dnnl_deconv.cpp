// Transposed convolution through oneDNN, in blocked layouts. Post-ops of oneDNN's transposed convolutions are
// plain loops, so there is no epilogue.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_dnnl_deconv {
namespace {

using dnnl::memory;
using Deconvolution = dnnl::deconvolution_forward;

constexpr std::string_view kOperators[] = {"ConvTranspose"};

struct StepFields {
  int64_t most_groups = 1;
  std::vector<int64_t> weights;  ///< their shape, the groups first where there are several
  DnnlWindowFields window;
  int64_t groups = 1;

  void fields(FieldVisitor& visit) {
    visit("weights", weights);
    window.fields(visit);
    visit("groups", groups, {1, most_groups});
  }
};

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

/// Extents besides those of the parameters.
struct Extents {
  Shape in, out;
  Layout layout;
  int64_t groups = 1;
  bool has_bias = false;

  int64_t group_inputs() const { return in[1] / groups; }
  int64_t group_outputs() const { return out[1] / groups; }
};

std::vector<Box> parts_of(const Extents& e, int64_t threads) {
  if (e.groups == 1) return channel_parts(e.out, e.layout, threads);
  const int64_t together =
      e.layout.is_blocked() ? e.layout.block / std::gcd(int64_t{e.layout.block}, e.group_inputs()) : 1;
  return channel_parts(e.out, e.layout, threads, e.group_outputs() * together);
}

Box input_part(const Extents& e, const Box& part) {
  Box in = whole_box(e.in);
  in.begin[0] = part.begin[0];
  in.size[0] = part.size[0];
  if (e.groups > 1) {
    in.begin[1] = part.begin[1] / e.group_outputs() * e.group_inputs();
    in.size[1] = part.size[1] / e.group_outputs() * e.group_inputs();
  }
  return in;
}

/// The weights of a part, as oneDNN orders them: output channels first, groups before them.
Shape part_weights(const Extents& e, const Box& part, const StepFields& p) {
  Shape weights(p.weights);
  weights[0] = e.groups == 1 ? part.size[1] : part.size[1] / e.group_outputs();
  return weights;
}

Deconvolution::primitive_desc describe(const Extents& e, const Box& part, const StepFields& p) {
  const memory::desc src = part_desc(e.in, e.layout, input_part(e, part)),
                     dst = part_desc(e.out, e.layout, part), weights = any_desc(part_weights(e, part, p));
  const DnnlWindowFields& w = p.window;
  const memory::dims strides = to_dnnl(w.strides), dilations = to_dnnl(w.dilations), begin = to_dnnl(w.begin),
                     end = to_dnnl(w.end);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::deconvolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  if (!e.has_bias)
    return {Deconvolution::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({part.size[1]}, {});
  return {Deconvolution::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

int64_t weights_key(const Box& part) { return part.begin[1]; }

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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3);
  const PlanValue &in = r.input(0), &out = r.output(0);
  const size_t rank = check_images(in.shape, out.shape), axes = rank - 2;
  const auto p = r.read(StepFields{.most_groups = in.shape[1], .weights = {}, .window = {axes}});
  const Extents e{.in = in.shape,
                  .out = out.shape,
                  .layout = in.layout,
                  .groups = p.groups,
                  .has_bias = r.optional_elements(2, {out.shape[1]})};
  StepReader::check(in.layout == out.layout, "it reads {} and writes {}", in.layout.str(), out.layout.str());
  const Shape weights(p.weights);
  StepReader::check(weights.size() == (e.groups == 1 ? rank : rank + 1),
                    "its parameter 'weights' has {} numbers, not {}", weights.size(),
                    e.groups == 1 ? rank : rank + 1);
  StepReader::check(e.groups == 1 || weights[0] == e.groups, "weights {} are for other groups",
                    weights.str());
  check_window_weights(r, weights, rank, e.groups, out.shape[1], in.shape[1]);
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  auto kernel = std::make_unique<DnnlKernel>();
  PackedWeights packed;
  for (const Box& part : parts_of(e, r.read<DnnlFields>().threads)) {
    const Deconvolution::primitive_desc pd = describe(e, part, p);
    kernel->add_primitive(Deconvolution(pd));
    kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0,
                      part_offset(e.in, e.layout, input_part(e, part)) * kWidth);
    kernel->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1,
                      packed.add(weights_key(part), pd.weights_desc()));
    if (e.has_bias) kernel->add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2, part.begin[1] * kWidth);
    kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(e.out, e.layout, part) * kWidth);
    kernel->add_scratch(pd.scratchpad_desc());
  }
  r.check_elements(r.row_input(1, DType::kUInt8), {packed.bytes()});
  r.check_scratch(kernel->scratch());
  return kernel;
}

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_deconv",
    .summary = "oneDNN's transposed convolutions",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_dnnl_deconv
