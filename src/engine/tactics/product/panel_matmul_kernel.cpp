#include "engine/tactics/product/panel_matmul_kernel.h"

#include "kernels/panel/bfloat16_rows.h"

namespace assay::engine::tactic_panel_matmul {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  const ProductSize size = r.read<ProductFields>().size;
  r.product({size.m, size.n, size.k});
  const DType type = left_type(r);
  r.check_elements(r.row_input(0, type), {size.m, size.k});
  const auto narrow = [k = size.k, type](const void* x, int64_t first, int64_t count, uint16_t* rows) {
    for (int64_t r = first; r < first + count; ++r, rows += narrow_length(k)) {
      if (type == DType::kBFloat16)
        std::copy_n(static_cast<const uint16_t*>(x) + r * k, k, rows);
      else
        kernels::round_to_bfloat16(static_cast<const float*>(x) + r * k, rows, static_cast<size_t>(k));
      if (k % 2 != 0) rows[k] = 0;
    }
  };
  return std::make_unique<PanelKernel>(
      r, size, RowProduct::Gathers{{size.k, 1, size.k}, RowProduct::Gather(), narrow});
}

}  // namespace assay::engine::tactic_panel_matmul
