// MatMul and Gemm with their epilogues through oneDNN. A constant right operand is packed once; transposed
// operands and results are read and written with strides.
#include <algorithm>
#include <numeric>

#include "engine/tactics/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "passes/match.h"

namespace assay::engine {
namespace {

using dnnl::memory;
using MatMul = dnnl::matmul;

constexpr std::string_view kOperators[] = {"MatMul", "Gemm", "assay.Fused"};

/// A matrix, or a stack of them, as oneDNN sees it: extents and strides in elements.
struct Matrix {
  Shape shape;
  std::vector<int64_t> strides;
};

Matrix dense(const Shape& shape) { return {shape, shape.strides()}; }

Matrix permuted(const Matrix& m, const std::vector<int64_t>& perm) {
  Matrix p;
  for (const int64_t axis : perm) {
    p.shape.push_back(m.shape[static_cast<size_t>(axis)]);
    p.strides.push_back(m.strides[static_cast<size_t>(axis)]);
  }
  return p;
}

std::vector<int64_t> permutation_of(const Node& transpose, size_t rank) {
  std::vector<int64_t> perm = ints_attribute(transpose, "perm");
  for (size_t i = 0; perm.size() < rank; ++i) perm.push_back(static_cast<int64_t>(rank - 1 - i));
  return perm;
}

std::vector<int64_t> swapped_last(size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

memory::desc desc_of(const Matrix& m) {
  return {to_dnnl(m.shape.dims()), memory::data_type::f32, to_dnnl(m.strides)};
}

/// A product ready for oneDNN.
struct Product {
  Matrix a, b, out;
  bool packed = false;  ///< b is a constant in a format of oneDNN's choice
  const Value* left = nullptr;
  const Value* right = nullptr;
  const Value* bias = nullptr;  ///< one constant per column
  bool has_bias = false;
  bool rearranged = false;  ///< the result is stored in another order than operands of the epilogue
  double bias_scale = 1;
  double weight_scale = 1;
  std::vector<EpilogueStep> epilogue;
};

/// Folds leading dimensions of a dense stack into the rows, so that a packed matrix multiplies it at once.
void flatten_rows(Product& p) {
  const int64_t k = p.a.shape.back(), n = p.out.shape.back();
  p.a = dense({p.a.shape.numel() / std::max<int64_t>(k, 1), k});
  p.out = dense({p.out.shape.numel() / std::max<int64_t>(n, 1), n});
}

bool is_dense(const Matrix& m) { return m.strides == m.shape.strides(); }

/// One number per column of the result.
bool is_column_vector(const Shape& s, int64_t columns) {
  return s.numel() == columns && !s.empty() && s.back() == columns;
}

/// The parts of a Gemm besides its epilogue. Returns why not, or nothing.
std::string read_gemm(const Problem& problem, const FusedView& view, Product& p) {
  const Node& g = *view.main;
  if (int_attribute(g, "transA", 0) != 0) p.a = permuted(p.a, swapped_last(2));
  if (int_attribute(g, "transB", 0) != 0) p.b = permuted(p.b, swapped_last(2));
  const double alpha = float_attribute(g, "alpha", 1), beta = float_attribute(g, "beta", 1);
  if (alpha != 1 && !p.packed) return "alpha with a right operand that is no constant";
  p.weight_scale = alpha;
  const Value* c = outer_value(problem.node(), g.input(2));
  if (c == nullptr || beta == 0) return {};
  const Shape* shape = problem.shape(c);
  if (shape == nullptr || !is_column_vector(*shape, p.b.shape[1]) || !c->tensor().defined())
    return "C is not one constant per column";
  p.bias = c;
  p.bias_scale = beta;
  return {};
}

/// Takes the first step as the bias when it adds one constant per column.
void take_bias(const Problem& problem, Product& p) {
  if (p.bias != nullptr || p.epilogue.empty() || p.epilogue[0].form.op != kernels::PointwiseOp::kAdd) return;
  const Value* v = outer_value(problem.node(), p.epilogue[0].operand);
  if (v == nullptr || !v->tensor().defined() || !is_column_vector(v->tensor().shape(), p.out.shape.back()))
    return;
  p.bias = v;
  p.epilogue.erase(p.epilogue.begin());
}

/// Returns why not, or nothing.
std::string read_product(const Problem& problem, Product& p) {
  const std::optional<FusedView> view = view_fused(problem.node());
  if (!view || (view->main->op_type != "MatMul" && view->main->op_type != "Gemm"))
    return "it is no matrix product";
  const Node& n = problem.node();
  const auto source = [&](size_t i) {
    const Node* t = view->transposed[i];
    return outer_value(n, t != nullptr ? t->input(0) : view->main->input(i));
  };
  p.left = source(0);
  p.right = source(1);
  const Shape *a = problem.shape(p.left), *b = problem.shape(p.right), *out = problem.output_shape(0);
  if (a == nullptr || b == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.left->type.dtype != DType::kFloat32 || p.right->type.dtype != DType::kFloat32)
    return "the operands are not float32";
  if (a->rank() < 2 || b->rank() < 2) return "an operand is a vector";
  if (out->numel() == 0 || a->numel() == 0) return "the result is empty";
  p.a = dense(*a);
  p.b = dense(*b);
  p.out = dense(*out);
  if (view->transposed[0] != nullptr) p.a = permuted(p.a, permutation_of(*view->transposed[0], a->size()));
  if (view->transposed[1] != nullptr) p.b = permuted(p.b, permutation_of(*view->transposed[1], b->size()));
  if (view->result_transposed != nullptr) {
    const std::vector<int64_t> perm = permutation_of(*view->result_transposed, out->size());
    std::vector<int64_t> inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    p.out = permuted(p.out, inverse);
    p.rearranged = true;
  }
  p.epilogue = view->epilogue;
  p.packed = p.right->tensor().defined() && p.b.shape.rank() == 2;
  if (is_op(*view->main, "Gemm"))
    if (std::string reason = read_gemm(problem, *view, p); !reason.empty()) return reason;
  take_bias(problem, p);
  p.has_bias = p.bias != nullptr;
  if (p.packed && p.a.shape.rank() > 2) {
    if (!is_dense(p.a) || !is_dense(p.out)) return "a transposed stack meets a packed matrix";
    flatten_rows(p);
  }
  if (p.a.shape.rank() != p.b.shape.rank() || p.a.shape.rank() != p.out.shape.rank())
    return "the operands differ in rank";
  return epilogue_refusal(p.epilogue);
}

MatMul::primitive_desc describe(const Product& p, const PostOps& post_ops) {
  const memory::desc a = desc_of(p.a), out = desc_of(p.out),
                     b = p.packed ? any_desc(p.b.shape) : desc_of(p.b);
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  if (!p.has_bias) return {MatMul::desc(a, b, out), attributes, dnnl_engine()};
  Shape bias(std::vector<int64_t>(p.out.shape.size(), 1));
  bias[bias.size() - 1] = p.out.shape.back();
  return {MatMul::desc(a, b, desc_of(dense(bias)), out), attributes, dnnl_engine()};
}

Tensor scaled(const Tensor& t, double factor) {
  if (factor == 1) return t.aligned();
  Tensor y = t;
  for (float& x : y.mutable_span<float>()) x = static_cast<float>(x * factor);
  return y;
}

std::string supports(const Problem& problem) {
  Product p;
  return read_product(problem, p);
}

void set_matrix(Parameters& parameters, const std::string& name, const Matrix& m) {
  parameters.set(name + "_shape", m.shape.dims());
  parameters.set(name + "_strides", m.strides);
}

Matrix get_matrix(const Parameters& parameters, const std::string& name) {
  return {Shape(parameters.numbers(name + "_shape")), parameters.numbers(name + "_strides")};
}

std::string lower(const Problem& problem, StepBuilder& b) {
  Product p;
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
  const Tensor* weights = p.packed ? &p.right->tensor() : nullptr;
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
  Product p;
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
