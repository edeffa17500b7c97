// MatMul and Gemm with a constant matrix in panels of 32 or 16 bits.
#include "engine/tactics/product/panel_matmul_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

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

}  // namespace

constinit const TacticDef def = {
    .name = "panel_matmul",
    .summary = "products with a constant matrix in panels of 32 or 16 bits",
    .version = 10,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_panel_matmul
