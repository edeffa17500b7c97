#include "engine/tactics/conv/int8_conv_kernel.h"

namespace assay::engine::tactic_int8_conv {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_int8_step(plan, step);
  const Int8Quantized levels = int8_quantized(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kTaken);
  auto end = scaled_end(r, conv.size.n);
  return int8_conv_kernel(r, std::move(conv), levels, std::move(end));
}

}  // namespace assay::engine::tactic_int8_conv
