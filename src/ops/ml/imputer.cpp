// Imputer: replaces the elements that equal one value (NaN equals NaN) by another, one for all or one for
// each entry of the last axis.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ml_Imputer {
namespace {

template <typename T>
void impute(EvalContext& c, T replaced, const std::vector<T>& values) {
  const Tensor& x = c.input(0);
  const int64_t width = x.rank() == 0 ? 1 : x.shape().back(), count = static_cast<int64_t>(values.size());
  c.check(count == 1 || count == width, "{} imputed values for {} features", count, width);
  const auto is_missing = [replaced](T v) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(replaced)) return std::isnan(v);
    return v == replaced;
  };
  Tensor y = Tensor::allocate(dtype_of<T>(), x.shape());
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  parallel_for(x.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      out[i] = is_missing(in[i]) ? values[static_cast<size_t>(count == 1 ? 0 : i % width)] : in[i];
  });
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) {
  const DType dtype = c.input(0).dtype();
  const std::vector<double> floats = c.attr_floats("imputed_value_floats");
  const std::vector<int64_t> numbers = c.attr_ints("imputed_value_int64s");
  if (dtype == DType::kFloat64) {
    c.check(!floats.empty(), "attribute 'imputed_value_floats' is empty, but the input is of floats");
    return impute<double>(c, c.attr_float("replaced_value_float"), floats);
  }
  c.check(!numbers.empty(), "attribute 'imputed_value_int64s' is empty, but the input is of integers");
  const int64_t replaced = c.attr_int("replaced_value_int64");
  if (dtype == DType::kInt64) return impute<int64_t>(c, replaced, numbers);
  std::vector<int32_t> narrow;
  for (const int64_t v : numbers) {
    c.check(v >= INT32_MIN && v <= INT32_MAX, "the imputed value {} does not fit int32", v);
    narrow.push_back(static_cast<int32_t>(v));
  }
  c.check(dtype == DType::kInt32, "the input is {}; it must be floats, int64 or int32", dtype_name(dtype));
  if (replaced < INT32_MIN || replaced > INT32_MAX) return c.set_output(0, c.input(0));
  impute<int32_t>(c, static_cast<int32_t>(replaced), narrow);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr replaced_value_int64: int = 0
attr imputed_value_int64s: ints
attr replaced_value_float: float = 0
attr imputed_value_floats: floats
type T: float double int64 int32)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "Imputer", .versions = kVersions};

}  // namespace assay::op_ml_Imputer
