// Convolution with its epilogue through oneDNN, in blocked layouts where its kernels want them.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine {
namespace {

using dnnl::memory;
using ConvForward = dnnl::convolution_forward;

constexpr std::string_view kOperators[] = {"Conv", "assay.Fused"};

/// Input images of so few channels are read row-major by the first layer's kernels.
constexpr int64_t kImageChannels = 4;

std::optional<FusedView> view_of(const Problem& p) {
  std::optional<FusedView> view = view_fused(p.node());
  if (!view || view->main->op_type != "Conv" || view->result_transposed != nullptr) return std::nullopt;
  return view;
}

std::string supports(const Problem& p) {
  const std::optional<FusedView> view = view_of(p);
  if (!view) return "it is no convolution";
  const Node& n = p.node();
  const Value *x = outer_value(n, view->main->input(0)), *w = outer_value(n, view->main->input(1)),
              *bias = outer_value(n, view->main->input(2));
  if (p.shape(x) == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (x->type.dtype != DType::kFloat32) return "the input is not float32";
  if (!w->tensor().defined()) return "the weights are no constant";
  if (bias != nullptr && !bias->tensor().defined()) return "the bias is no constant";
  if (p.shape(x)->rank() < 3 || p.shape(x)->rank() > 5) return "only one to three spatial axes are supported";
  if (p.output_shape(0)->numel() == 0) return "the result is empty";
  return epilogue_refusal(view->epilogue);
}

/// Everything that oneDNN needs to know, from a problem or from a step.
struct ConvShape {
  Shape input, output, weights;  // weights with the groups as first axis when there are several
  std::vector<int64_t> strides, dilations, begin, end;
  bool has_bias = false;
};

ConvShape shape_of(const Problem& p, const FusedView& view) {
  ConvShape c;
  const Node& n = p.node();
  c.input = *p.shape(outer_value(n, view.main->input(0)));
  const Shape weights = outer_value(n, view.main->input(1))->tensor().shape();
  const OpContext attributes = p.attributes(*view.main);
  const ConvPlan plan = plan_conv(attributes, c.input, weights);
  const kernels::Window& window = plan.window;
  c.output = plan.output;
  const int64_t groups = read_group(attributes, c.input[1], weights[0]);
  c.weights = weights;
  if (groups > 1) {
    c.weights[0] /= groups;
    c.weights.insert_at(0, groups);
  }
  c.strides = window.strides;
  c.begin = window.begin;
  c.end = window.end;
  for (const int64_t d : window.dilations) c.dilations.push_back(d - 1);
  c.has_bias = view.main->input(2) != nullptr;
  return c;
}

ConvShape shape_of(const Plan& plan, const Step& step) {
  ConvShape c;
  c.input = plan.values[static_cast<size_t>(step.inputs[0])].shape;
  c.output = plan.values[static_cast<size_t>(step.outputs[0])].shape;
  c.weights = Shape(step.parameters.numbers("weights"));
  c.strides = step.parameters.numbers("strides");
  c.dilations = step.parameters.numbers("dilations");
  c.begin = step.parameters.numbers("pads_begin");
  c.end = step.parameters.numbers("pads_end");
  c.has_bias = step.inputs[2] >= 0;
  return c;
}

int64_t groups_of(const ConvShape& c) { return c.weights.rank() > c.input.rank() ? c.weights[0] : 1; }

/// What each thread computes. The channels of a group stay together, and so do the groups whose input channels share a block.
std::vector<Box> parts_of(const ConvShape& c, Layout in, Layout out, int64_t threads) {
  const int64_t groups = groups_of(c), outputs = c.output[1] / groups, inputs = c.input[1] / groups;
  if (groups == 1) return channel_parts(c.output, out, threads);
  const int64_t together = in.is_blocked() ? in.block / std::gcd(int64_t{in.block}, inputs) : 1;
  return channel_parts(c.output, out, threads, outputs * together);
}

/// The part of the input that a part of the result is computed from.
Box input_part(const ConvShape& c, const Box& part) {
  Box in = whole_box(c.input);
  in.begin[0] = part.begin[0];
  in.size[0] = part.size[0];
  if (const int64_t groups = groups_of(c); groups > 1) {
    in.begin[1] = part.begin[1] / (c.output[1] / groups) * (c.input[1] / groups);
    in.size[1] = part.size[1] / (c.output[1] / groups) * (c.input[1] / groups);
  }
  return in;
}

/// Throws dnnl::error when there is no implementation.
ConvForward::primitive_desc describe(const ConvShape& c, Layout in, Layout out, const Box& part, const PostOps& post_ops) {
  Shape kernel = c.weights;
  // With groups, their number comes first.
  kernel[0] = groups_of(c) == 1 ? part.size[1] : part.size[1] / (c.output[1] / groups_of(c));
  const memory::desc src = part_desc(c.input, in, input_part(c, part)), dst = part_desc(c.output, out, part),
                     weights = any_desc(kernel);
  const memory::dims strides = to_dnnl(c.strides), dilations = to_dnnl(c.dilations), begin = to_dnnl(c.begin),
                     end = to_dnnl(c.end);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  const OneThread alone;
  if (!c.has_bias)
    return {ConvForward::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({part.size[1]}, {});
  return {ConvForward::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

int64_t weights_key(const Box& part) { return part.begin[1]; }

struct Choice {
  Layout in, out;
};

/// Layouts to try, the likely best first.
std::vector<Choice> choices(const ConvShape& c, int32_t block) {
  const Layout blocked{block}, row{};
  const bool grouped = c.weights.rank() > c.input.rank();
  if (!grouped && c.input[1] <= kImageChannels) return {{row, blocked}, {blocked, blocked}, {row, row}};
  return {{blocked, blocked}, {row, row}};
}

/// The weights of the output channels of a part, and their descriptor.
std::pair<Tensor, memory::desc> weights_of(const ConvShape& c, const Tensor& all, const Box& part) {
  Shape kernel = c.weights;
  const int64_t groups = groups_of(c), first = groups == 1 ? part.begin[1] : part.begin[1] / (c.output[1] / groups);
  kernel[0] = groups == 1 ? part.size[1] : part.size[1] / (c.output[1] / groups);
  const float* from = all.data<float>() + first * c.weights.numel(1, c.weights.size());
  return {Tensor::view(DType::kFloat32, kernel, from, nullptr), memory_desc(kernel, {})};
}

std::string lower(const Problem& p, StepBuilder& b) {
  const FusedView view = *view_of(p);
  const ConvShape c = shape_of(p, view);
  std::optional<Choice> chosen;
  std::optional<FusedParts<ConvForward::primitive_desc>> made;
  ImplementationRank rank = ImplementationRank::kPlain;
  EpilogueSpec spec;
  std::vector<Box> parts;
  for (const Choice& choice : choices(c, p.config().block)) {
    try {
      EpilogueSpec wanted = epilogue_spec(p, view.epilogue, choice.out, 3);
      std::vector<Box> shares = parts_of(c, choice.in, choice.out, p.config().threads);
      FusedParts<ConvForward::primitive_desc> candidate(
          shares, wanted, c.output, -1,
          [&](const Box& part, const PostOps& ops) { return describe(c, choice.in, choice.out, part, ops); }, weights_key);
      const ImplementationRank candidate_rank = rank_implementation(candidate.descriptors[0].impl_info_str());
      if (made && candidate_rank >= rank) continue;
      made = std::move(candidate);
      rank = candidate_rank;
      chosen = choice;
      spec = std::move(wanted);
      parts = std::move(shares);
      if (rank == ImplementationRank::kTailored) break;
    } catch (const dnnl::error&) {
      continue;
    }
  }
  if (!made) return "oneDNN has no implementation";
  const Node& n = p.node();
  const Value *w = outer_value(n, view.main->input(1)), *bias = outer_value(n, view.main->input(2));
  b.add_input(outer_value(n, view.main->input(0)), chosen->in);
  const std::string key = fmt::format("conv {} {} {}{} {}{} {}", w->tensor().data(), c.weights.str(), c.input.str(), chosen->in.str(),
                                      c.output.str(), chosen->out.str(), parts.size());
  b.add_constant(key, w->name(), [tensor = w->tensor(), weights = made->weights, c, parts] {
    const Tensor all = tensor.aligned();
    return weights.pack([&](int64_t channel) {
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const Box& x) { return weights_key(x) == channel; });
      return weights_of(c, all, *part);
    });
  });
  bias != nullptr ? b.add_input(bias) : b.skip_input();
  b.add_output(n.output(0), chosen->out);
  Parameters& parameters = b.step().parameters;
  parameters.set("weights", c.weights.dims());
  parameters.set("strides", c.strides);
  parameters.set("dilations", c.dilations);
  parameters.set("pads_begin", c.begin);
  parameters.set("pads_end", c.end);
  parameters.set("threads", int64_t{p.config().threads});
  parameters.set("implementation", std::string(made->descriptors[0].impl_info_str()));
  b.step().scratch_bytes = settle_accumulation(
      spec, *made, parts, c.output,
      [&](const Box& part, const PostOps& ops) { return describe(c, chosen->in, chosen->out, part, ops); }, weights_key);
  lower_epilogue(p, view.epilogue, spec, b);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const ConvShape c = shape_of(plan, step);
  const Layout in = plan.values[static_cast<size_t>(step.inputs[0])].layout, out = plan.values[static_cast<size_t>(step.outputs[0])].layout;
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  const auto describe_part = [&](const Box& part, const PostOps& ops) { return describe(c, in, out, part, ops); };
  const auto bind = [&](DnnlKernel& kernel, const ConvForward::primitive_desc& pd, const Box& part) {
    kernel.add_primitive(ConvForward(pd));
    kernel.add_input(DNNL_ARG_SRC, pd.src_desc(), 0, part_offset(c.input, in, input_part(c, part)) * kWidth);
    if (c.has_bias) kernel.add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2, part.begin[1] * kWidth);
    kernel.add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(c.output, out, part) * kWidth);
  };
  return make_fused_kernel<ConvForward::primitive_desc>(plan, step, c.output, parts_of(c, in, out, step.parameters.number("threads")), true,
                                                        describe_part, weights_key, bind);
}

}  // namespace

constinit const TacticDef tactic_dnnl_conv = {
    .name = "dnnl_conv",
    .operators = kOperators,
    .supports = supports,
    .lower = lower,
    .factory = {.create = create},
};

}  // namespace assay::engine
