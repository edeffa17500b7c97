#include "ops/training/optimizer.h"

#include "tensor/convert.h"

namespace assay {
namespace {

/// The input whose new value output i is: the gradients have none.
size_t source_of(size_t i, size_t n) { return i < n ? 2 + i : 2 + n + i; }

size_t variable_count(const OpContext& c, size_t kinds) {
  const size_t given = c.input_count() < 2 ? 0 : c.input_count() - 2;
  c.check(given > 0 && given % kinds == 0, "{} tensors after R and T are given; every variable takes {}",
          given, kinds);
  const size_t n = given / kinds;
  c.check(c.output_count() <= n * (kinds - 1), "{} outputs for {} variables; there are {} for each",
          c.output_count(), n, kinds - 1);
  return n;
}

}  // namespace

void infer_update(InferContext& c, size_t states) {
  const size_t n = variable_count(c, states + 2);
  for (size_t i = 0; i < c.output_count(); ++i) c.set_output_type(i, c.input_type(source_of(i, n)));
}

UpdateStep::UpdateStep(const EvalContext& c) {
  c.check(c.input(0).numel() == 1 && c.input(1).numel() == 1, "R and T must be single numbers, not {} and {}",
          c.shape(0).str(), c.shape(1).str());
  c.check(is_float(c.input(0).dtype()) && is_integer(c.input(1).dtype()),
          "R must be a float and T an integer, not {} and {}", dtype_name(c.input(0).dtype()),
          dtype_name(c.input(1).dtype()));
  rate = to_float64(c.input(0)).data<double>()[0];
  count = static_cast<double>(c.input(1).to_int64()[0]);
}

namespace internal {

size_t check_variables(const EvalContext& c, size_t kinds) {
  const size_t n = variable_count(c, kinds);
  for (size_t i = 2; i < c.input_count(); ++i)
    c.check(c.input(i).dtype() == DType::kFloat64, "input {} must be of floats", i);
  for (size_t v = 0; v < n; ++v)
    for (size_t k = 1; k < kinds; ++k)
      c.check(c.shape(2 + k * n + v) == c.shape(2 + v), "variable {} has shape {}, but input {} has {}", v,
              c.shape(2 + v).str(), 2 + k * n + v, c.shape(2 + k * n + v).str());
  return n;
}

}  // namespace internal

void set_update(EvalContext& c, size_t states, const std::vector<std::vector<double>>& outputs) {
  const size_t n = variable_count(c, states + 2);
  for (size_t i = 0; i < c.output_count(); ++i)
    c.set_output(i, Tensor::from<double>(c.shape(source_of(i, n)), outputs[i]));
}

Tensor update_errors(const std::vector<Rounded>& output, const Shape& shape, double u) {
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  auto* out = t.mutable_data<double>();
  for (size_t i = 0; i < output.size(); ++i) out[i] = u * output[i].error;
  return t;
}

}  // namespace assay
