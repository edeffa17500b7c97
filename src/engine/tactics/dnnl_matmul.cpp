// MatMul and Gemm with their epilogues through oneDNN. A constant right operand is packed once; transposed
// operands and results are read and written with strides.
#include "engine/tactics/dnnl_epilogue.h"
#include "engine/tactics/matrix_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

using dnnl::memory;
using MatMul = dnnl::matmul;

constexpr std::string_view kOperators[] = {"MatMul", "Gemm", "assay.Fused"};

memory::desc desc_of(const Matrix& m) {
  return {to_dnnl(m.shape.dims()), memory::data_type::f32, to_dnnl(m.strides)};
}

MatMul::primitive_desc describe(const MatrixProduct& p, const PostOps& post_ops) {
  const memory::desc a = desc_of(p.a), out = desc_of(p.out),
                     b = p.packed ? any_desc(p.b.shape) : desc_of(p.b);
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  if (!p.has_bias) return {MatMul::desc(a, b, out), attributes, dnnl_engine()};
  Shape bias(std::vector<int64_t>(p.out.shape.size(), 1));
  bias[bias.size() - 1] = p.out.shape.back();
  return {MatMul::desc(a, b, desc_of(dense(bias)), out), attributes, dnnl_engine()};
}

Tensor scaled(const UnalignedTensor& t, double factor) {
  Tensor y = t.aligned();
  if (factor == 1) return y;
  for (float& x : y.mutable_span<float>()) x = static_cast<float>(x * factor);
  return y;
}

std::string supports(const Problem& problem) {
  MatrixProduct p;
  std::string reason = read_product(problem, p);
  return reason.empty() ? epilogue_refusal(p.epilogue) : reason;
}

void set_matrix(Parameters& parameters, const std::string& name, const Matrix& m) {
  parameters.set(name + "_shape", m.shape.dims());
  parameters.set(name + "_strides", m.strides);
}

Matrix get_matrix(const Parameters& parameters, const std::string& name) {
  return {Shape(parameters.numbers(name + "_shape")), parameters.numbers(name + "_strides")};
}

std::string lower(const Problem& problem, StepBuilder& b) {
  MatrixProduct p;
  read_product(problem, p);
  std::optional<MatMul::primitive_desc> pd;
  EpilogueSpec spec = epilogue_spec(problem, p.epilogue, {}, 3);
  for (EpilogueSpec::Entry& e : spec.entries) e.may_accumulate = e.may_accumulate && !p.rearranged;
  const auto describe_with = [&](const PostOps& post_ops) { return describe(p, post_ops); };
  try {
    pd = describe_with(make_post_ops(spec, p.out.shape));
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN has no implementation ({})", e.what());
  }
  if (rank_implementation(pd->impl_info_str()) == ImplementationRank::kPlain)
    return fmt::format("oneDNN has only its plain implementation ({})", pd->impl_info_str());
  const UnalignedTensor* weights = p.packed ? &p.right->tensor() : nullptr;
  b.add_input(p.left);
  if (weights != nullptr) {
    const std::string key = fmt::format("matmul {} {}{} {} {}", weights->data(), p.b.shape.str(),
                                        p.b.strides[0], p.weight_scale, p.a.shape.str());
    b.add_constant(key, p.right->name(),
                   [tensor = *weights, scale = p.weight_scale, given = desc_of(p.b),
                    packed = pd->weights_desc()] { return pack(scaled(tensor, scale), given, packed); });
  } else {
    b.add_input(p.right);
  }
  if (p.bias != nullptr)
    b.add_constant(fmt::format("bias {} {}", p.bias->tensor().data(), p.bias_scale), p.bias->name(),
                   [tensor = p.bias->tensor(), scale = p.bias_scale] { return scaled(tensor, scale); });
  else
    b.skip_input();
  b.add_output(problem.node().output(0));
  Parameters& parameters = b.step().parameters;
  set_matrix(parameters, "a", p.a);
  set_matrix(parameters, "b", p.b);
  set_matrix(parameters, "out", p.out);
  parameters.set("packed", int64_t{p.packed});
  parameters.set("implementation", std::string(pd->impl_info_str()));
  b.step().scratch_bytes = settle_accumulation(spec, p.out.shape, *pd, describe_with);
  lower_epilogue(problem, p.epilogue, spec, b);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  MatrixProduct p;
  p.a = get_matrix(step.parameters, "a");
  p.b = get_matrix(step.parameters, "b");
  p.out = get_matrix(step.parameters, "out");
  p.packed = step.parameters.number("packed") != 0;
  p.has_bias = step.inputs[2] >= 0;
  return make_fused_kernel(
      plan, step, p.out.shape, [&](const PostOps& post_ops) { return describe(p, post_ops); },
      [&](const MatMul::primitive_desc& pd) {
        auto kernel = std::make_unique<DnnlKernel>(MatMul(pd));
        kernel->add_input(DNNL_ARG_SRC, pd.src_desc(), 0);
        kernel->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1);
        if (p.has_bias) kernel->add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2);
        kernel->add_output(DNNL_ARG_DST, pd.dst_desc(), 0);
        return kernel;
      });
}

}  // namespace

constinit const TacticDef tactic_dnnl_matmul = {
    .name = "dnnl_matmul",
    .operators = kOperators,
    .supports = supports,
    .lower = lower,
    .factory = {.create = create},
};

}  // namespace assay::engine
