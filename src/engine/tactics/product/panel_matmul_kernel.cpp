#include "engine/tactics/product/panel_matmul_kernel.h"

namespace assay::engine::tactic_panel_matmul {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  const ProductSize size = r.read<ProductFields>().size;
  r.product({size.m, size.n, size.k});
  r.check_elements(r.row_input(0), {size.m, size.k});
  return std::make_unique<PanelKernel>(
      r, size, kernels::ImagePlaces{size.k, 1, size.k}, nullptr,
      [k = size.k](const float* x, int64_t first, int64_t count, uint16_t* rows) {
        for (int64_t r = first; r < first + count; ++r, rows += k + k % 2) {
          kernels::narrow_row(DType::kBFloat16, x + r * k, rows, static_cast<size_t>(k));
          if (k % 2 != 0) rows[k] = 0;
        }
      });
}

}  // namespace assay::engine::tactic_panel_matmul
