// Steps of the tactic nbits_matmul: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/nbits/rounded_nbits.h"

namespace assay::engine::tactic_nbits_matmul {

/// Beyond these a quantized row has more bits than can be counted.
inline constexpr int64_t kMaxBlock = 1 << 20, kMaxExtent = int64_t{1} << 40;

struct StepFields {
  int64_t m = 1;
  kernels::NbitsWeights w{1, 1, 16, 2, nullptr, nullptr, nullptr};
  bool rounds = false;  ///< rows to 8 bits, block by block

  void fields(FieldVisitor& visit) {
    visit("m", m, {1, kMaxExtent});
    visit("n", w.n, {1, kMaxExtent});
    visit("k", w.k, {1, kMaxExtent});
    visit("block", w.block, {16, kMaxBlock});
    visit("bits", w.bits, {2, 8});
    visit("rounds", rounds);
  }
};

inline bool fits(const kernels::NbitsWeights& w) {
  return w.n > 0 && w.k > 0 && w.n <= kMaxExtent && w.k <= kMaxExtent && w.block >= 16 &&
         w.block <= kMaxBlock && (w.block & (w.block - 1)) == 0 &&
         (w.bits == 2 || w.bits == 4 || w.bits == 8);
}

/// Of a step that fits.
inline int64_t scratch_of(const StepFields& p) {
  return p.rounds ? kernels::rounded_nbits_scratch(p.w, p.m)
                  : kernels::nbits_scratch_rows(p.m) * p.w.filled() * static_cast<int64_t>(sizeof(float));
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_nbits_matmul
