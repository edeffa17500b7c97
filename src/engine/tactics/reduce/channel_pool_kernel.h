// Steps of the tactic channel_pool: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/conv/window_kernel.h"
#include "kernels/channel_window/pool.h"

namespace assay::engine::tactic_channel_pool {

using kernels::PoolKind;

struct StepFields {
  PoolKind kind = PoolKind::kMax;
  WindowFields window;

  void fields(FieldVisitor& visit) {
    visit("kind", kind, PoolKind::kAverageWithPads);
    window.fields(visit);
  }
};

/// The first and the last window overlap the image, so all do, unless taps are so far apart that a window
/// steps over it.
inline bool all_see_pixels(const kernels::Window& w, size_t axis) {
  for (int64_t o = 0; o < w.out[axis]; ++o) {
    const int64_t at = o * w.strides[axis] - w.begin[axis];
    const int64_t first = at >= 0 ? 0 : (-at + w.dilations[axis] - 1) / w.dilations[axis];
    if (first >= w.kernel[axis] || at + first * w.dilations[axis] >= w.in[axis]) return false;
  }
  return true;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_channel_pool
