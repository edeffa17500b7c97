#include "engine/tactics/dnnl/dnnl_deconv_kernel.h"

namespace assay::engine::tactic_dnnl_deconv {
namespace {

std::unique_ptr<Kernel> make_kernel(const Plan& plan, const Step& step) {
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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return dnnl_kernel<make_kernel>(plan, step);
}

}  // namespace assay::engine::tactic_dnnl_deconv
