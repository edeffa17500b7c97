#include "engine/tactics/product/integer_matmul_kernel.h"

namespace assay::engine::tactic_integer_matmul {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_integer_step(plan, step);
  const ProductSize size = r.read(ProductFields{.most_k = kernels::kMaxInt8Sum}).size;
  r.product({size.m, size.n, size.k});
  return int8_matmul_kernel(r, size, quantized_integers(r), integer_end(r, size.n));
}

}  // namespace assay::engine::tactic_integer_matmul
