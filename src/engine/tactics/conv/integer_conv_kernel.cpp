#include "engine/tactics/conv/integer_conv_kernel.h"

namespace assay::engine::tactic_integer_conv {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_integer_step(plan, step);
  const Int8Quantized levels = quantized_integers(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kTaken);
  auto end = integer_end(r, conv.size.n);
  return int8_conv_kernel(r, std::move(conv), levels, std::move(end));
}

}  // namespace assay::engine::tactic_integer_conv
