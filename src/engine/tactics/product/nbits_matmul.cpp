// MatMulNBits: products with constant weights of a few bits, which are read as the model has them.
#include <algorithm>

#include "engine/tactics/product/nbits_matmul_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_nbits_matmul {
namespace {

constexpr std::string_view kOperators[] = {"com.microsoft.MatMulNBits"};

enum Operand : size_t { kA, kB, kScales, kZeros, kGroups, kBias };

kernels::NbitsWeights sizes_of(const OpContext& c) {
  return {c.attr_int("N"),
          c.attr_int("K"),
          c.attr_int("block_size"),
          static_cast<int>(c.attr_int("bits")),
          nullptr,
          nullptr,
          nullptr};
}

bool has_elements(const Problem& p, size_t i, DType dtype, int64_t count) {
  const Shape* s = p.input_shape(i);
  return s != nullptr && p.input_dtype(i) == dtype && s->numel() == count;
}

/// The accuracy level that allows the left operand to be rounded to 8 bits.
constexpr int64_t kRoundedRows = 4;

void add_candidate(const Problem& p, const StepFields& fields, Proposals& proposals) {
  const kernels::NbitsWeights& w = fields.w;
  Candidate& b = proposals.add(fields.rounds ? "rounded" : "", NumericsClass::kReassociated);
  if (fields.rounds) b.arithmetic = DType::kInt8;
  for (const size_t i : {kA, kB, kScales, kZeros, kBias})
    p.has_input(i) ? b.add_input(p.node().input(i)) : b.skip_input();
  b.add_output(p.node().output(0));
  b.write(fields);
  b.step.scratch_bytes = scratch_of(fields);
  b.estimate =
      estimate_seconds(2.0 * static_cast<double>(fields.m * w.n) * static_cast<double>(w.k),
                       static_cast<double>(w.n * w.blocks() * w.block_bytes()), fields.rounds ? 1 : 0.3);
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *a = p.input_shape(kA), *out = p.output_shape(0);
  if (a == nullptr || out == nullptr) return "the shape is not known before the run";
  const kernels::NbitsWeights w = sizes_of(p.attributes());
  if (p.input_dtype(kA) != DType::kFloat32) return "the left operand is not float32";
  if (!fits(w) || a->rank() < 1 || a->back() != w.k || a->numel() == 0)
    return "the operands are empty or do not fit";
  if (p.attributes().attr_int("weight_prepacked") != 0) return "the weights are packed for a device";
  if (!has_elements(p, kB, DType::kUInt8, w.n * w.blocks() * w.block_bytes()) ||
      !has_elements(p, kScales, DType::kFloat32, w.n * w.blocks()))
    return "the levels or the scales do not fit";
  if (p.has_input(kZeros) && !has_elements(p, kZeros, DType::kUInt8, w.n * w.zero_bytes()))
    return "the zero points are not packed levels";
  if (p.has_input(kGroups)) return "it says for every column to which block it belongs";
  if (p.has_input(kBias) && !has_elements(p, kBias, DType::kFloat32, w.n)) return "the bias does not fit";
  const int64_t m = a->numel() / w.k;
  add_candidate(p, {.m = m, .w = w}, proposals);
  // The model allows it.
  if (p.attributes().attr_int("accuracy_level") == kRoundedRows && kernels::has_rounded_nbits(w.bits, m))
    add_candidate(p, {.m = m, .w = w, .rounds = true}, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "nbits_matmul",
    .summary =
        "products with weights of 2, 4 or 8 bits in blocks, read as they are stored; in integers where rows "
        "may be "
        "rounded to 8 bits",
    .version = 5,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_nbits_matmul
