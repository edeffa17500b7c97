// OneHotEncoder: every element becomes a row with a one at its category's position; of a repeated category
// the last counts. An unknown category is an error unless `zeros` is set. Floating numbers are truncated to
// integers.
#include <cmath>
#include <unordered_map>

#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_ml_OneHotEncoder {
namespace {

int64_t category_count(const OpContext& c) {
  const size_t numbers = c.attr_ints("cats_int64s").size(), words = c.attr_strings("cats_strings").size();
  c.check((numbers == 0) != (words == 0),
          "exactly one of the attributes cats_int64s and cats_strings must have entries");
  return static_cast<int64_t>(numbers + words);
}

void infer(InferContext& c) {
  const int64_t count = category_count(c);
  c.set_output(0, DType::kFloat32);
  if (c.input_dims(0) == nullptr) return;
  Dims out = *c.input_dims(0);
  out.emplace_back(count);
  c.set_output(0, DType::kFloat32, std::move(out));
}

/// The integer that a number is looked up as; nothing for what no int64 holds.
std::optional<int64_t> whole(double x) {
  if (!(x > -0x1p63 && x < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(x);
}

/// Calls `mark(i, place)` for each element that has a category; throws Error for others unless they give
/// zeros.
template <typename T, typename Mark>
void find_categories(const EvalContext& c, const std::vector<T>& categories,
                     const std::vector<std::optional<T>>& x, Mark mark) {
  const bool zeros = c.attr_int("zeros") != 0;
  std::unordered_map<T, int64_t> places;
  for (size_t i = 0; i < categories.size(); ++i) places[categories[i]] = static_cast<int64_t>(i);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto it = x[i] ? places.find(*x[i]) : places.end();
    c.check(zeros || it != places.end(), "element {} is of no category, and 'zeros' is 0", i);
    if (it != places.end()) mark(static_cast<int64_t>(i), it->second);
  }
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const int64_t count = category_count(c);
  const std::vector<std::string> words = c.attr_strings("cats_strings");
  c.check(words.empty() == (x.dtype() != DType::kString), "the categories are {}, but the input is {}",
          words.empty() ? "integers" : "strings", dtype_name(x.dtype()));
  c.check(x.dtype() == DType::kString || is_float(x.dtype()) || is_integer(x.dtype()),
          "the input is {}; it must be strings or numbers", dtype_name(x.dtype()));
  Shape shape = x.shape();
  shape.push_back(count);
  check_output_size(DType::kFloat64, shape);
  Tensor y = Tensor::zeros(DType::kFloat64, shape);
  double* out = y.mutable_data<double>();
  const auto mark = [&](int64_t i, int64_t place) { out[i * count + place] = 1; };
  if (!words.empty()) {
    const auto s = x.span<std::string>();
    find_categories<std::string>(c, words, {s.begin(), s.end()}, mark);
  } else {
    std::vector<std::optional<int64_t>> numbers;
    if (is_float(x.dtype()))
      for (const double v : x.span<double>()) numbers.push_back(whole(v));
    else
      for (const int64_t v : x.to_int64()) numbers.emplace_back(v);
    find_categories<int64_t>(c, c.attr_ints("cats_int64s"), numbers, mark);
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr zeros: int = 1
attr cats_strings: strings
attr cats_int64s: ints
type T: string int64 int32 float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "OneHotEncoder", .versions = kVersions};

}  // namespace assay::op_ml_OneHotEncoder
