#include "engine/tactics/tactic.h"

namespace assay::engine {
namespace {

DType dtype_in(const Value* v) {
  return v != nullptr && v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
}

}  // namespace

OpContext Problem::attributes(const Node& n) const {
  const BoundOp op = require_op(n, model_);
  return OpContext(n, *op.op, *op.version);
}

DType Problem::input_dtype(size_t i) const { return dtype_in(node_.input(i)); }
DType Problem::output_dtype(size_t i) const { return dtype_in(node_.output(i)); }

const UnalignedTensor* Problem::input_constant(size_t i) const {
  const Value* v = node_.input(i);
  return v != nullptr && v->tensor().defined() ? &v->tensor() : nullptr;
}

}  // namespace assay::engine
