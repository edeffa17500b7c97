#include "ops/contrib/fused_operands.h"

#include <algorithm>
#include <numeric>

#include "ops/contrib/standard.h"
#include "ops/eval_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/nn/window.h"
#include "ops/tensor/strided_copy.h"

namespace assay {
namespace {

bool asked(const OpContext& c, std::string_view attribute, size_t operand) {
  const std::string name = std::string(attribute) + (operand == 0 ? "A" : "B");
  return knows_attr(c, name) && c.attr_int(name) != 0;
}

}  // namespace

std::vector<size_t> fused_operand_order(const OpContext& c, size_t operand, size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (rank < 2) return order;
  if (asked(c, "transBatch", operand)) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (asked(c, "trans", operand)) std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

namespace {

/// A context with the operands transposed.
class TransposedContext final : public ForwardingContext {
 public:
  explicit TransposedContext(InferContext& c) : ForwardingContext(c) {
    for (size_t i = 0; i < 2; ++i) {
      types_[i] = c.input_type(i);
      if (!types_[i].has_shape()) continue;
      const Dims in = *types_[i].dims;
      const std::vector<size_t> from = fused_operand_order(c, i, in.size());
      for (size_t d = 0; d < in.size(); ++d) (*types_[i].dims)[d] = in[from[d]];
    }
  }
  const Type& input_type(size_t i) const override { return types_[i]; }
  const Tensor* input_value(size_t) const override { return nullptr; }
  const Dims* input_extents(size_t) const override { return nullptr; }

 private:
  Type types_[2];
};

Tensor operand(const EvalContext& c, size_t i) {
  const std::vector<size_t> from = fused_operand_order(c, i, c.shape(i).size());
  return std::is_sorted(from.begin(), from.end()) ? c.input(i) : permuted(c.input(i), from);
}

}  // namespace

void infer_fused_product(InferContext& c) {
  const TransposedContext turned(c);
  std::optional<Dims> dims = infer_product_dims(turned, 0, 1);
  if (dims)
    c.set_output(0, c.input_dtype(0), std::move(*dims));
  else
    c.set_output(0, c.input_dtype(0));
}

void eval_fused_product(EvalContext& c) {
  const Tensor y = matrix_product(operand(c, 0), operand(c, 1));
  const double alpha = c.attr_float("alpha");
  c.set_output(0, alpha == 1 ? y : map_elements<double>(y, [=](double x) { return alpha * x; }));
}

int64_t fused_product_terms(EvalContext& c) { return operand(c, 0).shape().back() + 1; }

}  // namespace assay
