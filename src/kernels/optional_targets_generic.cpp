#include "kernels/optional_targets.h"

namespace assay::kernels {

// Highway's targets for other architectures are those that the compiler may use anywhere (aarch64: NEON).
int64_t optional_targets() { return 0; }

}  // namespace assay::kernels
