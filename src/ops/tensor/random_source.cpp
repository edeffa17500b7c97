#include "ops/tensor/random_source.h"

#include <cmath>

#include "base/hash.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay {

uint32_t seed_by_name(const EvalContext& c) {
  const auto& outputs = c.node().outputs();
  return outputs.empty() || outputs[0] == nullptr ? 0 : static_cast<uint32_t>(hash_of(outputs[0]->name()));
}

RandomState random_source(const EvalContext& c) {
  if (!c.has_attr("seed")) return RandomState(seed_by_name(c));
  const double seed = c.attr_float("seed");
  c.check(std::abs(seed) < 0x1p63, "the seed {} is out of range", seed);
  return RandomState(static_cast<uint32_t>(static_cast<int64_t>(seed)));
}

DType random_dtype(const OpContext& c, DType otherwise) {
  constexpr int64_t kNotGiven = INT64_MIN;
  const int64_t dtype = c.attr_int("dtype", kNotGiven);
  if (dtype == kNotGiven) return otherwise;
  require(is_known_dtype(dtype), ErrorCode::kUnsupported,
          "the attribute 'dtype' names the unknown element type {}", dtype);
  return static_cast<DType>(dtype);
}

void infer_random_like(InferContext& c) {
  const DType dtype = random_dtype(c, c.input_dtype(0));
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, dtype, *in);
  else
    c.set_output(0, dtype);
}

void set_random_output(EvalContext& c, Tensor samples, DType dtype) {
  c.set_output(0, is_float(dtype) ? std::move(samples) : convert(samples, dtype));
}

Shape random_shape(const OpContext& c) {
  const Shape shape(c.attr_ints("shape"));
  for (const int64_t d : shape) c.check(d >= 0, "the shape has the negative extent {}", d);
  check_output_size(DType::kFloat64, shape);
  return shape;
}

Tensor draw_normal(const EvalContext& c, const Shape& shape) {
  return random_source(c).normal(c.attr_float("mean"), c.attr_float("scale"), shape);
}

Tensor draw_uniform(const EvalContext& c, const Shape& shape) {
  return random_source(c).uniform(c.attr_float("low"), c.attr_float("high"), shape);
}

}  // namespace assay
