#include "ops/contrib/q_linear_unary.h"

#include "ops/infer_util.h"

namespace assay {

void infer_q_linear_unary(InferContext& c) {
  check_quantized(c, {0, 1, 2});
  check_quantized(c, {0, 3, 4});
  infer_same_as_input(c);
}

}  // namespace assay
