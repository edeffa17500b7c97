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

/// A convolution in a step that reads rows of its images, and how they are gathered.
struct GatheredConv {
  ProductSize size;
  RowProduct::Gathers gathers;
};
/// Throws Error (kInvalidModel) where the step has none, or one with groups.
GatheredConv read_gathered_conv(const StepReader& r);

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_panel_conv
