#include "ops/reduce/cumulate.h"

#include "ops/infer_util.h"

namespace assay {
namespace {

size_t checked_axis(const OpContext& c, const Tensor& axis, int rank) {
  c.check(axis.numel() == 1, "the axis must be one number, not of shape {}", axis.shape().str());
  return static_cast<size_t>(normalize_axis(axis.to_int64()[0], rank));
}

}  // namespace

void infer_cumulate(InferContext& c) {
  infer_same_as_input(c);
  if (c.input_value(1) != nullptr && c.input_rank(0) >= 0)
    checked_axis(c, *c.input_value(1), c.input_rank(0));
}

size_t cumulated_axis(const EvalContext& c) { return checked_axis(c, c.input(1), c.input(0).rank()); }

int64_t cumulated_count(EvalContext& c) { return c.shape(0)[cumulated_axis(c)]; }

}  // namespace assay
