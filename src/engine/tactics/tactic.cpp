#include "engine/tactics/tactic.h"

#include <algorithm>

#include "kernels/panel/panel_product.h"

namespace assay::engine {
namespace {

DType dtype_in(const Value* v) {
  return v != nullptr && v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
}

/// Of a common core: float32 operations and bytes from memory in a second, and what a step costs that does
/// nothing.
constexpr double kOperationRate = 60e9, kMemoryRate = 12e9, kStepSeconds = 1e-6;

}  // namespace

DType stored_type(const Value* v, Format format) {
  return format.dtype == DType::kUndefined ? dtype_in(v) : format.dtype;
}

OpContext Problem::attributes() const {
  const BoundOp bound = require_op(node(), model_);
  return OpContext(node(), *bound.op, *bound.version);
}

DType Problem::input_dtype(size_t i) const { return dtype_in(node().input(i)); }
DType Problem::output_dtype(size_t i) const { return dtype_in(region_.output(i)); }

const UnalignedTensor* Problem::input_constant(size_t i) const {
  const Value* v = node().input(i);
  return v != nullptr && v->tensor().defined() ? &v->tensor() : nullptr;
}

std::vector<Layout> Problem::layouts(DType dtype, const Shape& shape) const {
  std::vector<Layout> layouts = {Layout()};
  if (dtype == DType::kFloat32 && shape.rank() >= 3 && shape.rank() <= 5)
    layouts.insert(layouts.end(), config_.layouts.begin(), config_.layouts.end());
  if ((dtype == DType::kUInt8 || dtype == DType::kInt8) && shape.rank() >= 3)
    layouts.push_back(Layout::channels_last());
  return layouts;
}

bool Problem::stores_bfloat16() const {
  return config_.precisions.bfloat16 && kernels::multiplies_bfloat16();
}

bool may_be_stored_in(const Problem& p, const Value* v, DType narrow) {
  if (narrow == DType::kUndefined || v == nullptr || dtype_in(v) != DType::kFloat32) return false;
  const auto& outputs = p.model().graph->outputs;
  return v->producer() != nullptr && std::find(outputs.begin(), outputs.end(), v) == outputs.end();
}

double estimate_seconds(double operations, double bytes, double efficiency) {
  return kStepSeconds + std::max(operations / (kOperationRate * efficiency), bytes / kMemoryRate);
}

double estimate_with_weights(double operations, double weight_bytes, double efficiency) {
  return kStepSeconds + operations / (kOperationRate * efficiency) + weight_bytes / kMemoryRate;
}

Candidate& Proposals::add(std::string variant, NumericsClass numerics) {
  Candidate& c = candidates_.emplace_back();
  c.variant = std::move(variant);
  c.numerics = numerics;
  return c;
}

}  // namespace assay::engine
