#include "engine/tactics/dnnl/dnnl_matmul_kernel.h"

namespace assay::engine::tactic_dnnl_matmul {
namespace {

/// A matrix that is all of `v`, perhaps with its axes in another order; `v` is null for one that was packed.
Matrix checked_matrix(const StepReader& r, const MatrixFields& given, const char* name, const PlanValue* v) {
  const Matrix m{Shape(given.shape), given.strides};
  StepReader::check(m.shape.size() >= 2 && m.shape.size() <= DNNL_MAX_NDIMS, "{} is of rank {}", name,
                    m.shape.rank());
  int64_t elements = 1;
  for (const int64_t extent : m.shape) elements = r.product({elements, std::max<int64_t>(extent, 1)});
  StepReader::check(m.shape.numel() > 0, "{} is empty", name);
  if (v == nullptr) return m;
  r.check_elements(*v, {elements});
  for (const int64_t stride : m.strides)
    StepReader::check(stride <= elements, "{} has the stride {}", name, stride);
  std::vector<std::pair<int64_t, int64_t>> order;
  for (size_t d = 0; d < m.shape.size(); ++d)
    if (m.shape[d] != 1) order.emplace_back(m.strides[d], m.shape[d]);
  std::sort(order.begin(), order.end());
  int64_t next = 1;
  for (const auto& [stride, extent] : order) {
    StepReader::check(stride == next, "the strides of {} are not those of a dense tensor", name);
    next *= extent;
  }
  return m;
}

/// Throws Error (kInvalidModel) unless out = a * b, with stacks that repeat or are as many.
void check_product(const MatrixOperands& p) {
  const Shape &a = p.a.shape, &b = p.b.shape, &out = p.out.shape;
  const size_t rank = out.size();
  bool fits = a.size() == rank && b.size() == rank && (rank == 2 || !p.packed);
  for (size_t d = 0; fits && d + 2 < rank; ++d)
    fits = (a[d] == out[d] || a[d] == 1) && (b[d] == out[d] || b[d] == 1) && std::max(a[d], b[d]) == out[d];
  fits = fits && a[rank - 2] == out[rank - 2] && a[rank - 1] == b[rank - 2] && b[rank - 1] == out[rank - 1];
  StepReader::check(fits, "{} times {} is not {}", a.str(), b.str(), out.str());
}

std::unique_ptr<Kernel> make_kernel(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, StepReader::kAnyNumber, 1, StepReader::May::kComputeInPlace);
  MatrixOperands p;
  const auto f = r.read<StepFields>();
  p.packed = f.packed;
  p.a = checked_matrix(r, f.a, "a", &r.row_input(0));
  p.b = checked_matrix(r, f.b, "b", p.packed ? nullptr : &r.row_input(1));
  p.out = checked_matrix(r, f.out, "out", &r.row_output(0));
  check_product(p);
  p.has_bias = r.optional_elements(2, {p.out.shape.back()});
  const auto bind = [&](DnnlKernel& kernel, const MatMul::primitive_desc& pd, const Box& part) {
    kernel.add_primitive(MatMul(pd));
    kernel.add_input(DNNL_ARG_SRC, pd.src_desc(), 0, bytes_before(p.a, operand_part(p.a, part, true, false)));
    if (!p.packed)
      kernel.add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, bytes_before(p.b, right_part(p, part)));
    if (p.has_bias)
      kernel.add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2,
                       part.begin.back() * static_cast<int64_t>(sizeof(float)));
    kernel.add_output(DNNL_ARG_DST, pd.dst_desc(), 0, bytes_before(p.out, part));
  };
  return make_fused_kernel<MatMul::primitive_desc>(
      r, post_op_spec(r, 3, p.out.shape, {}), p.out.shape, parts_of(p, r.read<DnnlFields>().threads),
      p.packed, [&](const Box& part, const PostOps& ops) { return describe(p, part, ops); }, weights_key,
      bind);
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return dnnl_kernel<make_kernel>(plan, step);
}

}  // namespace assay::engine::tactic_dnnl_matmul
