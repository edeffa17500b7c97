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
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const size_t i : {kA, kB, kScales, kZeros, kBias})
    p.has_input(i) ? b.add_input(p.node().input(i)) : b.skip_input();
  b.add_output(p.node().output(0));
  const int64_t m = a->numel() / w.k;
  b.write(StepFields{.m = m, .w = w});
  b.step.scratch_bytes = kernels::nbits_scratch_rows(m) * w.filled() * static_cast<int64_t>(sizeof(float));
  b.estimate = estimate_seconds(2.0 * static_cast<double>(m * w.n) * static_cast<double>(w.k),
                                static_cast<double>(w.n * w.blocks() * w.block_bytes()), 0.3);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "nbits_matmul",
    .summary = "products with weights of 2, 4 or 8 bits in blocks, read as they are stored",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_nbits_matmul
