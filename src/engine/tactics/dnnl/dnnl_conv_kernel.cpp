#include "engine/tactics/dnnl/dnnl_conv_kernel.h"

namespace assay::engine::tactic_dnnl_conv {
namespace {

ConvShape shape_of(const StepReader& r) {
  ConvShape c;
  c.input = r.input(0).shape;
  c.output = r.output(0).shape;
  const size_t rank = check_images(c.input, c.output), axes = rank - 2;
  auto p = r.read(StepFields{.weights = {}, .window = {axes}});
  c.weights = Shape(p.weights);
  StepReader::check(c.weights.size() == rank || c.weights.size() == rank + 1, "it has weights {}",
                    c.weights.str());
  check_window_weights(r, c.weights, rank, groups_of(c), c.output[1], c.input[1]);
  c.strides = std::move(p.window.strides);
  c.dilations = std::move(p.window.dilations);
  c.begin = std::move(p.window.begin);
  c.end = std::move(p.window.end);
  c.has_bias = r.optional_elements(2, {c.output[1]});
  return c;
}

std::unique_ptr<Kernel> make_kernel(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, StepReader::kAnyNumber, 1, StepReader::May::kComputeInPlace);
  const ConvShape images = shape_of(r);
  const Layout in = r.input(0).layout, out = r.output(0).layout;
  StepReader::check(in == out || (in.is_row() && out.is_blocked()), "it reads {} and writes {}", in.str(),
                    out.str());
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  const EpilogueSpec spec = post_op_spec(r, 3, images.output, out);
  const ConvShape c = in_one_column(images, out, spec);
  const Describe describe_part{c, in, out};
  const auto bind = [&](DnnlKernel& kernel, const ConvForward::primitive_desc& pd, const Box& part) {
    kernel.add_primitive(ConvForward(pd));
    kernel.add_input(DNNL_ARG_SRC, pd.src_desc(), 0,
                     part_offset(c.input, in, input_part(c, part).box) * kWidth);
    if (c.has_bias) kernel.add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2, part.begin[1] * kWidth);
    kernel.add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(c.output, out, part) * kWidth);
  };
  return make_fused_kernel<ConvForward::primitive_desc>(r, spec, c.output,
                                                        parts_of(c, in, out, r.read<DnnlFields>().threads),
                                                        true, describe_part, weights_key, bind);
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return dnnl_kernel<make_kernel>(plan, step);
}

}  // namespace assay::engine::tactic_dnnl_conv
