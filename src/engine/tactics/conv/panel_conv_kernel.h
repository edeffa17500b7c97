// Steps of the tactic panel_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/convert/convert.h"
#include "kernels/image_rows.h"

namespace assay::engine::tactic_panel_conv {

/// The rows are the image's pixels, in place.
inline bool is_pointwise(const kernels::Window& w) {
  for (size_t a = 0; a < w.rank(); ++a)
    if (w.kernel[a] != 1 || w.strides[a] != 1 || w.begin[a] != 0 || w.out[a] != w.in[a]) return false;
  return true;
}

/// Gathers rows of k numbers from images that lie so; empty where rows are pixels.
PanelKernel::Gather row_gather(const std::shared_ptr<const kernels::Window>& window,
                               const kernels::ImagePlaces& places, int64_t k);

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_panel_conv
