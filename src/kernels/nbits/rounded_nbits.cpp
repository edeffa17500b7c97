#include "kernels/nbits/rounded_nbits.h"

#include <algorithm>

#include "kernels/native_kernels.h"
#include "kernels/nbits/rounded_rows.h"

namespace assay::kernels {
namespace {

/// Beyond it the weights are worth being decoded once for all rows.
constexpr int64_t kMostRoundedRows = 16;

}  // namespace

bool has_rounded_nbits(int bits, int64_t m) noexcept {
  const NativeKernels& native = native_kernels();
  return native.rounded_nbits != nullptr && m <= kMostRoundedRows && bits <= native.rounded_nbits_bits;
}

int64_t rounded_nbits_scratch(const NbitsWeights& w, int64_t m) {
  return std::max(RoundedRows::bytes(w) * m,
                  nbits_scratch_rows(m) * w.filled() * static_cast<int64_t>(sizeof(float)));
}

void rounded_nbits_product(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                           void* scratch) {
  if (has_rounded_nbits(w.bits, m) && native_kernels().rounded_nbits(w, x, m, bias, y, scratch)) return;
  nbits_product(w, x, m, bias, y, static_cast<float*>(scratch));
}

}  // namespace assay::kernels
