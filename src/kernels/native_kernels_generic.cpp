#include "kernels/native_kernels.h"

namespace assay::kernels {

const NativeKernels& native_kernels() noexcept {
  static constexpr NativeKernels kNone;
  return kNone;
}

}  // namespace assay::kernels
