// MatMul and Gemm with their epilogues through oneDNN. A constant right operand is packed once; transposed
// operands and results are read and written with strides.
#include <algorithm>

#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/product/matrix_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_dnnl_matmul {
namespace {

using dnnl::memory;
using MatMul = dnnl::matmul;

constexpr std::string_view kOperators[] = {"MatMul", "Gemm"};

/// Multiplications that are worth waking a thread for.
constexpr int64_t kMinWork = 1 << 14;

/// A part of an operand, where the extents of the result that it shares are cut: `row` and `column` say which
/// of its last two are.
Box operand_part(const Matrix& m, const Box& part, bool row, bool column) {
  Box box = whole_box(m.shape);
  const size_t rank = m.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    const bool cut = d + 2 < rank ? m.shape[d] != 1 : d + 2 == rank ? row : column;
    if (!cut) continue;
    box.begin[d] = part.begin[d];
    box.size[d] = part.size[d];
  }
  return box;
}

/// oneDNN takes descriptions that differ in strides of extents of 1 alone for the same, and gives one the
/// primitive that was made for the other; but it asks these strides how to compute, and for how much scratch
/// memory. So they are always those of a dense tensor.
memory::desc desc_of(const Matrix& m, const Box& part) {
  std::vector<int64_t> strides = m.strides;
  for (size_t d = strides.size(); d-- > 0;)
    if (part.size[d] == 1) strides[d] = d + 1 < strides.size() ? strides[d + 1] * part.size[d + 1] : 1;
  return {to_dnnl(part.size.dims()), memory::data_type::f32, to_dnnl(strides)};
}

int64_t bytes_before(const Matrix& m, const Box& part) {
  int64_t offset = 0;
  for (size_t d = 0; d < m.shape.size(); ++d) offset += part.begin[d] * m.strides[d];
  return offset * static_cast<int64_t>(sizeof(float));
}

/// What each thread computes: matrices of a stack where there are enough, else rows or columns, of which
/// there are more.
std::vector<Box> parts_of(const MatrixProduct& p, int64_t threads) {
  const Shape& out = p.out.shape;
  const size_t rank = out.size();
  size_t axis = out[rank - 2] > out[rank - 1] ? rank - 2 : rank - 1;
  for (size_t d = rank - 2; d-- > 0;)
    if (out[d] >= threads) axis = d;
  // Whole vectors of columns, and rows as the kernels' tiles have them.
  const int64_t unit = axis == rank - 1 ? 16 : axis == rank - 2 ? 8 : 1;
  const int64_t work = out.numel() * p.a.shape.back();
  std::vector<Box> parts;
  const std::vector<int64_t> bounds =
      bounds_of(out[axis], std::min(threads, std::max<int64_t>(1, work / kMinWork)), unit);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    Box part = whole_box(out);
    part.begin[axis] = bounds[i];
    part.size[axis] = bounds[i + 1] - bounds[i];
    parts.push_back(std::move(part));
  }
  return parts;
}

Box right_part(const MatrixProduct& p, const Box& part) { return operand_part(p.b, part, false, true); }

MatMul::primitive_desc describe(const MatrixProduct& p, const Box& part, const PostOps& post_ops) {
  const Box right = right_part(p, part);
  const memory::desc a = desc_of(p.a, operand_part(p.a, part, true, false)), out = desc_of(p.out, part),
                     b = p.packed ? any_desc(right.size) : desc_of(p.b, right);
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  const OneThread alone;
  if (!p.has_bias) return {MatMul::desc(a, b, out), attributes, dnnl_engine()};
  Shape bias(std::vector<int64_t>(p.out.shape.size(), 1));
  bias[bias.size() - 1] = part.size.back();
  return {MatMul::desc(a, b, memory_desc(bias, {}), out), attributes, dnnl_engine()};
}

int64_t weights_key(const Box& part) { return part.begin.back(); }

Tensor scaled(const UnalignedTensor& t, double factor) {
  Tensor y = t.aligned();
  if (factor == 1) return y;
  for (float& x : y.mutable_span<float>()) x = static_cast<float>(x * factor);
  return y;
}

/// A matrix in a step.
struct MatrixFields {
  std::vector<int64_t> shape, strides;

  void fields(FieldVisitor& visit, const std::string& name) {
    visit(name + "_shape", shape);
    visit(name + "_strides", strides, shape.size(), {0});
  }
};
MatrixFields matrix_fields(const Matrix& m) { return {m.shape.dims(), m.strides}; }

struct StepFields {
  MatrixFields a, b, out;
  bool packed = false;

  void fields(FieldVisitor& visit) {
    a.fields(visit, "a");
    b.fields(visit, "b");
    out.fields(visit, "out");
    visit("packed", packed);
  }
};

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
void check_product(const MatrixProduct& p) {
  const Shape &a = p.a.shape, &b = p.b.shape, &out = p.out.shape;
  const size_t rank = out.size();
  bool fits = a.size() == rank && b.size() == rank && (rank == 2 || !p.packed);
  for (size_t d = 0; fits && d + 2 < rank; ++d)
    fits = (a[d] == out[d] || a[d] == 1) && (b[d] == out[d] || b[d] == 1) && std::max(a[d], b[d]) == out[d];
  fits = fits && a[rank - 2] == out[rank - 2] && a[rank - 1] == b[rank - 2] && b[rank - 1] == out[rank - 1];
  StepReader::check(fits, "{} times {} is not {}", a.str(), b.str(), out.str());
}

/// Of the library's rate. Around products of its own it adds operands one number at a time, but for one that
/// is added first, in place.
double efficiency_of(ImplementationRank rank, const EpilogueSpec& spec) {
  for (size_t i = 0; i < spec.entries.size(); ++i)
    if (rank == ImplementationRank::kProducts && spec.entries[i].position >= 0 &&
        (i > 0 || !spec.entries[i].may_accumulate))
      return 0.01;
  return 0.8;
}

/// Its products with packed weights where it has none of its own for the instruction set: measured beside
/// panel_matmul with AVX2, for 8 to 1,500 rows and 144 to 3,072 columns, 1.9 to 0.8 times its time.
constexpr double kProductsWithoutAvx512 = 0.62;

bool has_avx512() {
  const int avx512 = static_cast<int>(dnnl::cpu_isa::avx512_core);
  return (static_cast<int>(dnnl::get_effective_cpu_isa()) & avx512) == avx512;
}

/// Of a core.
constexpr double kCachedBytes = 1 << 20;

std::string propose(const Problem& problem, Proposals& proposals) {
  MatrixProduct p;
  if (std::string reason = read_product(problem, p); !reason.empty()) return reason;
  if (std::string reason = epilogue_refusal(p.epilogue); !reason.empty()) return reason;
  std::optional<FusedParts<MatMul::primitive_desc>> made;
  EpilogueSpec spec = epilogue_spec(problem, p.epilogue, {}, 3);
  for (EpilogueSpec::Entry& e : spec.entries) e.may_accumulate = e.may_accumulate && !p.rearranged;
  const std::vector<Box> parts = parts_of(p, problem.config().threads);
  const auto describe_part = [&](const Box& part, const PostOps& ops) { return describe(p, part, ops); };
  try {
    made.emplace(parts, spec, p.out.shape, -1, describe_part, weights_key);
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN has no implementation ({})", e.what());
  }
  const std::string implementation = made->descriptors[0].impl_info_str();
  if (rank_implementation(implementation) == ImplementationRank::kPlain)
    return fmt::format("oneDNN has only its plain implementation ({})", implementation);
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.left);
  if (p.packed) {
    const UnalignedTensor& weights = p.right->tensor();
    const std::string packing =
        fmt::format("{}{} x {} in {}", p.b.shape.str(), p.b.strides[0], p.weight_scale, made->weights.str());
    b.add_constant(p.right->name(), weights, packing, [weights, p, parts, packed = made->weights] {
      const Tensor all = scaled(weights, p.weight_scale);
      return packed.pack([&](int64_t column) {
        const auto part =
            std::find_if(parts.begin(), parts.end(), [&](const Box& x) { return weights_key(x) == column; });
        const Box right = right_part(p, *part);
        const char* from = static_cast<const char*>(all.data()) + bytes_before(p.b, right);
        return std::pair(Tensor::view(DType::kFloat32, right.size, from, nullptr), desc_of(p.b, right));
      });
    });
  } else {
    b.add_input(p.right);
  }
  if (p.bias != nullptr)
    b.add_constant(p.bias->name(), p.bias->tensor(), fmt::format("x {}", p.bias_scale),
                   [tensor = p.bias->tensor(), scale = p.bias_scale] { return scaled(tensor, scale); });
  else
    b.skip_input();
  b.add_output(problem.region().output());
  b.write(StepFields{
      .a = matrix_fields(p.a), .b = matrix_fields(p.b), .out = matrix_fields(p.out), .packed = p.packed});
  b.write(DnnlFields{.threads = problem.config().threads, .implementation = implementation});
  b.step.scratch_bytes = settle_accumulation(spec, *made, parts, p.out.shape, describe_part, weights_key);
  write_epilogue(p.epilogue, spec, b);
  const ImplementationRank rank = rank_implementation(implementation);
  const double right_bytes = 4.0 * static_cast<double>(p.b.shape.numel());
  const bool arranges = p.packed && rank == ImplementationRank::kProducts;
  double efficiency = efficiency_of(rank, spec);
  if (arranges && !has_avx512()) efficiency = std::min(efficiency, kProductsWithoutAvx512);
  b.estimate = estimate_seconds(2.0 * static_cast<double>(p.out.shape.numel() * p.a.shape.back()),
                                right_bytes, efficiency);
  // It arranges the right matrix anew in every run: beyond the caches that costs more than the products of
  // few rows.
  if (arranges) b.estimate += estimate_seconds(0, 3 * std::max(0.0, right_bytes - kCachedBytes), 1);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, StepReader::kAnyNumber, 1, StepReader::May::kComputeInPlace);
  MatrixProduct p;
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

constinit const TacticDef def = {
    .name = "dnnl_matmul",
    .summary = "oneDNN's matrix products",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_dnnl_matmul
