// MatMul and Gemm with their epilogues through oneDNN. A constant right operand is packed once; transposed
// operands and results are read and written with strides.
#include <algorithm>

#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/dnnl/dnnl_matmul_kernel.h"
#include "engine/tactics/product/matrix_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_dnnl_matmul {
namespace {

constexpr std::string_view kOperators[] = {"MatMul", "Gemm"};

Tensor scaled(const UnalignedTensor& t, double factor) {
  Tensor y = t.aligned();
  if (factor == 1) return y;
  for (float& x : y.mutable_span<float>()) x = static_cast<float>(x * factor);
  return y;
}

MatrixFields matrix_fields(const Matrix& m) { return {m.shape.dims(), m.strides}; }

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

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_matmul",
    .summary = "oneDNN's matrix products",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dnnl_matmul
