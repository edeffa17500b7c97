// Convolution with its epilogue through oneDNN, in blocked layouts where its kernels want them.
#include <algorithm>

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
  if (!view) return "it is not a convolution";
  const Node& n = p.node();
  const Value *x = outer_value(n, view->main->input(0)), *w = outer_value(n, view->main->input(1)),
              *bias = outer_value(n, view->main->input(2));
  if (p.shape(x) == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (x->type.dtype != DType::kFloat32) return "the input is not float32";
  if (!w->tensor().defined()) return "the weights are not constant";
  if (bias != nullptr && !bias->tensor().defined()) return "the bias is not a constant";
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

/// Throws dnnl::error when there is no implementation.
ConvForward::primitive_desc describe(const ConvShape& c, Layout in, Layout out,
                                     const dnnl::primitive_attr& attributes) {
  const memory::desc src = memory_desc(c.input, in), dst = memory_desc(c.output, out),
                     weights = any_desc(c.weights);
  const memory::dims strides = to_dnnl(c.strides), dilations = to_dnnl(c.dilations), begin = to_dnnl(c.begin),
                     end = to_dnnl(c.end);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::convolution_direct;
  if (!c.has_bias)
    return {ConvForward::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({c.output[1]}, {});
  return {ConvForward::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

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

memory::desc dense_weights(const ConvShape& c) {
  return {to_dnnl(c.weights.dims()), memory::data_type::f32, to_dnnl(c.weights.strides())};
}

std::string lower(const Problem& p, StepBuilder& b) {
  const FusedView view = *view_of(p);
  const ConvShape c = shape_of(p, view);
  std::optional<Choice> chosen;
  std::optional<ConvForward::primitive_desc> pd;
  ImplementationRank rank = ImplementationRank::kPlain;
  EpilogueSpec spec;
  for (const Choice& choice : choices(c, p.config().block)) {
    try {
      EpilogueSpec wanted = epilogue_spec(p, view.epilogue, choice.out, 3);
      ConvForward::primitive_desc candidate =
          describe(c, choice.in, choice.out, make_attributes(make_post_ops(wanted, c.output)));
      const ImplementationRank candidate_rank = rank_implementation(candidate.impl_info_str());
      if (pd && candidate_rank >= rank) continue;
      pd = candidate;
      rank = candidate_rank;
      chosen = choice;
      spec = std::move(wanted);
      if (rank == ImplementationRank::kTailored) break;
    } catch (const dnnl::error&) {
      continue;
    }
  }
  if (!pd) return "oneDNN has no implementation";
  const Node& n = p.node();
  const Value *w = outer_value(n, view.main->input(1)), *bias = outer_value(n, view.main->input(2));
  b.add_input(outer_value(n, view.main->input(0)), chosen->in);
  const memory::desc packed = pd->weights_desc();
  const std::string key = fmt::format("conv {} {} {}{} {}{}", w->tensor().data(), c.weights.str(),
                                      c.input.str(), chosen->in.str(), c.output.str(), chosen->out.str());
  b.add_constant(key, w->name(), [tensor = w->tensor(), given = dense_weights(c), packed] {
    return pack(tensor.aligned(), given, packed);
  });
  bias != nullptr ? b.add_input(bias) : b.skip_input();
  b.add_output(n.output(0), chosen->out);
  Parameters& parameters = b.step().parameters;
  parameters.set("weights", c.weights.dims());
  parameters.set("strides", c.strides);
  parameters.set("dilations", c.dilations);
  parameters.set("pads_begin", c.begin);
  parameters.set("pads_end", c.end);
  parameters.set("implementation", std::string(pd->impl_info_str()));
  b.step().scratch_bytes = settle_accumulation(spec, c.output, *pd, [&](const PostOps& post_ops) {
    return describe(c, chosen->in, chosen->out, make_attributes(post_ops));
  });
  lower_epilogue(p, view.epilogue, spec, b);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const ConvShape c = shape_of(plan, step);
  const auto describe_step = [&](const PostOps& post_ops) {
    return describe(c, plan.values[static_cast<size_t>(step.inputs[0])].layout,
                    plan.values[static_cast<size_t>(step.outputs[0])].layout, make_attributes(post_ops));
  };
  return make_fused_kernel(plan, step, c.output, describe_step, [&](const ConvForward::primitive_desc& pd) {
    auto kernel = std::make_unique<DnnlKernel>(ConvForward(pd));
    kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0);
    kernel->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1);
    if (c.has_bias) kernel->add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2);
    kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0);
    return kernel;
  });
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
