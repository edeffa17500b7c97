// Steps of the tactic channel_pool: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/conv/window_kernel.h"
#include "engine/tactics/product/int8_product_kernel.h"
#include "kernels/channel_window/pool.h"
#include "kernels/pool/byte_average_pool.h"
#include "kernels/pool/byte_max_pool.h"

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

/// Of steps that quantize averages of 8-bit integers again.
struct ResultFields {
  bool is_signed = false;
  float scale = 1;
  int64_t zero_point = 0;

  void fields(FieldVisitor& visit) {
    visit("y_scale", scale);
    visit("y_zero_point", zero_point, {is_signed ? -128 : 0, is_signed ? 127 : 255});
  }
};

/// Whether vectors of 8-bit channels can be averaged: rows that follow each other in memory count as one.
inline bool averages_bytes(const kernels::Window& w) {
  bool is_whole = true;
  for (size_t a = 0; a < w.rank(); ++a)
    is_whole = is_whole && w.kernel[a] == w.in[a] && w.out[a] == 1 && w.dilations[a] == 1 && w.begin[a] == 0;
  return w.rank() <= 3 && w.taps() <= kernels::kMaxByteTaps &&
         (is_whole || w.taps() / w.kernel.back() <= kernels::kMaxByteRows);
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_channel_pool
