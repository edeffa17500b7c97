// Unique: the distinct elements (or, along an axis, subtensors) in ascending order or in that of their first
// occurrence, where each occurs first, which of them every entry of the input is, and how often each occurs.
// NaN equals NaN and comes last.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_Unique {
namespace {

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  for (size_t i = 1; i < c.output_count(); ++i) c.set_output(i, DType::kInt64, {Dim()});
  if (!c.has_attr("axis")) return c.set_output(0, c.input_dtype(0), {Dim()});
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out = *in;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(out.size())));
  if (c.output_count() > 2) c.set_output(2, DType::kInt64, {out[axis]});
  out[axis] = Dim();
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// -1, 0 or 1.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) - std::isnan(b);
  return a < b ? -1 : b < a;
}
template <typename T>
int compare(const std::complex<T>& a, const std::complex<T>& b) {
  const int real = compare(a.real(), b.real());
  return real != 0 ? real : compare(a.imag(), b.imag());
}

template <typename T>
int compare_rows(const T* a, const T* b, int64_t length) {
  for (int64_t i = 0; i < length; ++i)
    if (const int order = compare(a[i], b[i]); order != 0) return order;
  return 0;
}

/// The distinct rows of a matrix.
struct Distinct {
  std::vector<int64_t> first;    ///< where each occurs first
  std::vector<int64_t> inverse;  ///< for each row of the matrix, which it is
  std::vector<int64_t> count;
};

template <typename T>
Distinct distinct_rows(const T* rows, int64_t count, int64_t length) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return compare_rows(rows + a * length, rows + b * length, length) < 0;
  });
  Distinct d;
  d.inverse.resize(order.size());
  for (const int64_t row : order) {
    // The order is stable: the first row of a run of equals is the one that occurs first.
    if (d.first.empty() || compare_rows(rows + d.first.back() * length, rows + row * length, length) != 0) {
      d.first.push_back(row);
      d.count.push_back(0);
    }
    d.inverse[static_cast<size_t>(row)] = static_cast<int64_t>(d.first.size()) - 1;
    ++d.count.back();
  }
  return d;
}

Distinct distinct_rows(const Tensor& matrix) {
  const int64_t count = matrix.dim(0), length = matrix.dim(1);
  if (matrix.dtype() == DType::kComplex64)
    return distinct_rows(static_cast<const std::complex<float>*>(matrix.data()), count, length);
  if (matrix.dtype() == DType::kComplex128)
    return distinct_rows(static_cast<const std::complex<double>*>(matrix.data()), count, length);
  return visit_dtype<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t,
                     bool, std::string>(
      matrix.dtype(), [&]<typename T>() { return distinct_rows(matrix.data<T>(), count, length); });
}

/// Ascending order becomes order of first occurrence.
Distinct by_occurrence(const Distinct& d) {
  std::vector<size_t> order(d.first.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return d.first[a] < d.first[b]; });
  Distinct out{{}, d.inverse, {}};
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int64_t>(i);
    out.first.push_back(d.first[order[i]]);
    out.count.push_back(d.count[order[i]]);
  }
  for (int64_t& i : out.inverse) i = place[static_cast<size_t>(i)];
  return out;
}

void eval(EvalContext& c) {
  const bool flat = !c.has_attr("axis");
  Tensor x = flat ? c.input(0).reshaped({c.input(0).numel()}) : c.input(0);
  const auto axis = static_cast<size_t>(flat ? 0 : normalize_axis(c.attr_int("axis"), x.rank()));
  std::vector<size_t> to_front(x.shape().size());
  std::iota(to_front.begin(), to_front.end(), size_t{0});
  std::rotate(to_front.begin(), to_front.begin() + static_cast<std::ptrdiff_t>(axis),
              to_front.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  x = permuted(x, to_front);
  const int64_t rows = x.dim(0), length = x.shape().numel(1, x.shape().size());
  Distinct d = distinct_rows(x.reshaped({rows, length}));
  if (c.attr_int("sorted") == 0) d = by_occurrence(d);
  Shape shape = x.shape();
  shape[0] = static_cast<int64_t>(d.first.size());
  Tensor y = Tensor::allocate(x.dtype(), shape);
  visit_elements(x.dtype(), [&]<typename E>() {
    E* to = mutable_elements<E>(y);
    for (const int64_t row : d.first) to = std::copy_n(elements<E>(x) + row * length, length, to);
  });
  std::vector<size_t> back(to_front.size());
  for (size_t i = 0; i < back.size(); ++i) back[to_front[i]] = i;
  c.set_output(0, permuted(y, back));
  c.set_output(1, Tensor::vector(d.first));
  c.set_output(2, Tensor::vector(d.inverse));
  c.set_output(3, Tensor::vector(d.count));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  X: T
out Y: T
out indices: int64 ?
out inverse_indices: int64 ?
out counts: int64 ?
attr axis: int
attr sorted: int = 1
type T: @all)",
     infer, eval},
    {28, R"(
in  X: T
out Y: T
out indices: int64 ?
out inverse_indices: int64 ?
out counts: int64 ?
attr axis: int
attr sorted: int = 1
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Unique",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_onnx_Unique
