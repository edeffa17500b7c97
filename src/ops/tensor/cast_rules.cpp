#include "ops/tensor/cast_rules.h"

#include <cmath>

#include "ops/eval_util.h"
#include "ops/tensor/axes.h"
#include "tensor/convert.h"
#include "tensor/narrow_float.h"

namespace assay {
namespace {

E8M0Rounding e8m0_rounding(const OpContext& c) {
  if (c.since() < 24) return E8M0Rounding::kUp;
  const std::string& mode = c.attr_string("round_mode");
  c.check(mode == "up" || mode == "down" || mode == "nearest", "the round_mode '{}' is unknown", mode);
  if (mode == "up") return E8M0Rounding::kUp;
  return mode == "down" ? E8M0Rounding::kDown : E8M0Rounding::kNearest;
}

Tensor cast(const OpContext& c, const Tensor& x, DType to) {
  const bool saturate = c.since() < 19 || c.attr_int("saturate") != 0;
  if (to == DType::kFloat8E8M0) return convert_to_e8m0(x, saturate, e8m0_rounding(c));
  return convert(x, to, saturate);
}

/// The values themselves, except those that the type cannot hold.
Tensor keep_in_range(const Tensor& x, const Tensor& rounded, double u) {
  return map_broadcast<double>(x, rounded, [u](double v, double r) {
    const bool overflows = std::abs(v) > 1 && !(std::abs(r) >= std::abs(v) * (1 - 2 * u) && std::isfinite(r));
    return overflows ? r : v;
  });
}

}  // namespace

void infer_cast(InferContext& c, DType to) {
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, to, *in);
  else
    c.set_output(0, to);
  // A 32-bit or wider integer holds any extent that occurs.
  if (is_integer(to) && bit_width(to) >= 32) propagate_integers(c);
}

Tensor stored_input(const EvalContext& c) {
  const Tensor& x = c.input(0);
  if (!c.ideal || !is_float(x.dtype())) return x;
  const Value* declared = c.node().input(0);
  c.check(declared != nullptr && declared->type.is_tensor() && declared->type.dtype != DType::kUndefined,
          "the element type of the input is not known");
  return convert(x, declared->type.dtype);
}

void eval_cast(EvalContext& c, DType to) {
  Tensor y = cast(c, to == DType::kString ? stored_input(c) : c.input(0), to);
  // Numbers are not rounded to powers of two but changed, by a factor of at most two, in the requested
  // direction.
  if (c.ideal && to == DType::kFloat8E8M0)
    y = to_float64(y);
  else if (c.ideal && is_float(to) && to != DType::kFloat64)
    y = keep_in_range(to_float64(c.input(0)), to_float64(y), unit_roundoff(to));
  c.set_output(0, std::move(y));
}

}  // namespace assay
