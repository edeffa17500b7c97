#include "ops/contrib/layer_norm.h"

#include "ops/contrib/hidden_vector.h"
#include "ops/infer_util.h"

namespace assay {
namespace {

/// One number per row in the shape of x with a last extent of 1.
void shape_rows(const Shape& x, Traced* t) {
  if (t == nullptr) return;
  Shape rows = x;
  rows[rows.size() - 1] = 1;
  *t = Steps::move(*t, [&](const Tensor& v) { return v.reshaped(rows); });
}

int64_t row_length(const EvalContext& c, const Shape& x) {
  c.check(!x.empty() && x.back() > 0, "an input of shape {} has no rows to normalise", x.str());
  return x.back();
}

}  // namespace

Traced layer_norm(const EvalContext& c, Steps& steps, const Traced& x, const LayerNormInputs& in,
                  Traced* mean, Traced* inverse) {
  const Shape& shape = x.value.shape();
  const int64_t n = row_length(c, shape);
  Traced y = steps.normalize(x, n, c.attr_float("epsilon"), true, mean, inverse);
  shape_rows(shape, mean);
  shape_rows(shape, inverse);
  y = steps.multiply(y, steps.given(hidden_vector(c, in.gamma, n)));
  return c.has_input(in.beta) ? steps.add(y, steps.given(hidden_vector(c, in.beta, n))) : y;
}

Traced rms_norm(const EvalContext& c, Steps& steps, const Traced& x, size_t gamma, Traced* inverse) {
  const Shape& shape = x.value.shape();
  const int64_t n = row_length(c, shape);
  const Traced y = steps.normalize(x, n, c.attr_float("epsilon"), false, nullptr, inverse);
  shape_rows(shape, inverse);
  return steps.multiply(y, steps.given(hidden_vector(c, gamma, n)));
}

Traced skip_sum(const EvalContext& c, Steps& steps, size_t bias) {
  const Shape& in = c.shape(0);
  c.check(in.size() == 2 || in.size() == 3, "the input has shape {} where 2 or 3 dimensions are needed",
          in.str());
  c.check(c.shape(1).size() <= in.size() && broadcast(in, c.shape(1)) == in && c.shape(1).size() > 0 &&
              c.shape(1).back() == in.back(),
          "skip of shape {} does not broadcast to {}", c.shape(1).str(), in.str());
  Traced sum = steps.add(steps.given(c.input(0)), steps.given(c.input(1)));
  if (c.has_input(bias)) sum = steps.add(sum, steps.given(hidden_vector(c, bias, in.back())));
  return sum;
}

void infer_skip_norm(InferContext& c) {
  for (size_t i = 2; i < c.input_count(); ++i) check_hidden_vector(c, i);
  const Dims *in = c.input_dims(0), *skip = c.input_dims(1);
  const DType dtype = c.input_dtype(0);
  c.check(in == nullptr || in->size() == 2 || in->size() == 3,
          "the input has {} dimensions where 2 or 3 are needed", in ? in->size() : 0);
  if (in != nullptr && skip != nullptr) {
    c.check(skip->size() <= in->size(), "skip has {} dimensions, the input {}", skip->size(), in->size());
    broadcast_dims(*in, *skip);
  }
  const auto set = [&](size_t i, DType type, bool rows) {
    if (in == nullptr) return c.set_output(i, type);
    Dims out = *in;
    if (rows) out.back() = Dim(1);
    c.set_output(i, type, std::move(out));
  };
  set(0, dtype, false);
  set(1, DType::kFloat32, true);
  set(2, DType::kFloat32, true);
  set(3, dtype, false);
}

}  // namespace assay
