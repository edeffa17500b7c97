#include "kernels/panel/bfloat16_rows.h"

#include "kernels/convert/convert.h"
#include "kernels/native_kernels.h"

namespace assay::kernels {

void round_to_bfloat16(const float* from, uint16_t* to, size_t count) noexcept {
  if (native_kernels().bfloat16_rows != nullptr) return native_kernels().bfloat16_rows(from, to, count);
  narrow_row(DType::kBFloat16, from, to, count);
}

}  // namespace assay::kernels
