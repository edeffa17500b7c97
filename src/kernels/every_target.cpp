#include "kernels/every_target.h"

#include <hwy/targets.h>
#include "kernels/simd_targets.h"

namespace assay::kernels {

void on_every_target(const std::function<void(const char*)>& run) {
  const int64_t all = hwy::SupportedTargets();
  for (const int64_t target : {int64_t{HWY_AVX3}, int64_t{HWY_AVX2}, int64_t{HWY_STATIC_TARGET}})
    if ((all & target) != 0) {
      hwy::GetChosenTarget().Update(target);
      run(hwy::TargetName(target));
    }
  hwy::GetChosenTarget().Update(all);
}

}  // namespace assay::kernels
