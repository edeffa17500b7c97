// MatMul and Gemm with a constant matrix in panels of 32 or 16 bits.
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/convert/convert.h"

namespace assay::engine::tactic_panel_matmul {
namespace {

constexpr std::string_view kOperators[] = {"MatMul", "Gemm"};

std::string propose(const Problem& problem, Proposals& proposals) {
  MatrixProduct p;
  if (std::string reason = read_matrix_product(problem, p); !reason.empty()) return reason;
  const ProductSize size{p.out.shape[0], p.b.shape[1], p.b.shape[0]};
  const PanelSource source{.weights = p.right,
                           .row_stride = p.b.strides[0],
                           .column_stride = p.b.strides[1],
                           .packing = fmt::format("{} by {}", p.b.shape.str(), p.b.strides[0]),
                           .arrange = {},
                           .bias = p.bias,
                           .bias_scale = p.bias_scale};
  propose_panels(
      problem, p.left, source, size, false, p.epilogue, {}, 0.6,
      [&](Candidate& b) { b.write(ProductFields{.size = size}); }, proposals);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  const ProductSize size = r.read<ProductFields>().size;
  r.product({size.m, size.n, size.k});
  r.check_elements(r.row_input(0), {size.m, size.k});
  return std::make_unique<PanelKernel>(
      r, size, kernels::ImagePlaces{size.k, 1, size.k}, nullptr,
      [k = size.k](const float* x, int64_t first, int64_t count, uint16_t* rows) {
        for (int64_t r = first; r < first + count; ++r, rows += k + k % 2) {
          kernels::narrow_row(kernels::NarrowType::kBfloat16, x + r * k, rows, static_cast<size_t>(k));
          if (k % 2 != 0) rows[k] = 0;
        }
      });
}

}  // namespace

constinit const TacticDef def = {
    .name = "panel_matmul",
    .summary = "products with a constant matrix in panels of 32 or 16 bits",
    .version = 9,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_panel_matmul
