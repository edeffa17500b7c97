// CastMap: the values of a map with integer keys as a row, [1, n]: in ascending order of their keys (DENSE),
// or at the positions that the keys name (SPARSE), of `max_map`. Numbers become strings with six decimals,
// and a missing string is "0.f", as in ONNX Runtime; the specification says neither.
#include <algorithm>
#include <numeric>

#include "ops/ml/map_value.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_ml_CastMap {
namespace {

DType read_target(const OpContext& c) {
  const std::string& name = c.attr_string("cast_to");
  if (name == "TO_FLOAT") return DType::kFloat32;
  if (name == "TO_INT64") return DType::kInt64;
  c.check(name == "TO_STRING", "attribute 'cast_to' is '{}'; it must be TO_FLOAT, TO_INT64 or TO_STRING",
          name);
  return DType::kString;
}

/// The length of a sparse row; nothing for a dense one.
std::optional<int64_t> read_length(const OpContext& c) {
  const std::string& form = c.attr_string("map_form");
  if (form == "DENSE") return std::nullopt;
  c.check(form == "SPARSE", "attribute 'map_form' is '{}'; it must be DENSE or SPARSE", form);
  const int64_t length = c.attr_int("max_map");
  c.check(length > 0, "attribute 'max_map' is {}; it must be positive", length);
  return length;
}

void infer(InferContext& c) {
  infer_map_values(c);
  const std::optional<int64_t> length = read_length(c);
  c.set_output(0, read_target(c), {Dim(1), length ? Dim(*length) : Dim()});
}

/// The map's values as the target type; floats as float64.
Tensor cast_values(const Tensor& values, DType target) {
  if (target == DType::kFloat32) return to_float64(values);
  if (target == DType::kInt64 || values.dtype() == DType::kString) return convert(values, target);
  Tensor text = Tensor::allocate(DType::kString, values.shape());
  const Tensor numbers = to_float64(values);
  for (int64_t i = 0; i < text.numel(); ++i)
    text.mutable_data<std::string>()[i] = fmt::format("{:.6f}", numbers.data<double>()[i]);
  return text;
}

/// For each value its position in the row.
std::vector<int64_t> places_of(const EvalContext& c, const std::vector<int64_t>& keys,
                               std::optional<int64_t> length) {
  std::vector<int64_t> places(keys.size());
  if (length) {
    for (size_t i = 0; i < keys.size(); ++i) {
      c.check(keys[i] >= 0 && keys[i] < *length, "the key {} is outside [0, {})", keys[i], *length);
      places[i] = keys[i];
    }
    return places;
  }
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int64_t>(i);
  return places;
}

void eval(EvalContext& c) {
  const MapValue map(c);
  c.check(is_integer(map.keys.dtype()), "the keys are {}; they must be integers",
          dtype_name(map.keys.dtype()));
  const std::optional<int64_t> length = read_length(c);
  const Tensor values = cast_values(map.values, read_target(c));
  const std::vector<int64_t> places = places_of(c, map.keys.to_int64(), length);
  const Shape shape = {1, length.value_or(values.numel())};
  check_output_size(values.dtype(), shape);
  Tensor y = Tensor::zeros(values.dtype(), shape);
  if (length && y.dtype() == DType::kString) fill_elements(y, Tensor::scalar(std::string("0.f")));
  visit_elements(y.dtype(), [&]<typename E>() {
    for (size_t i = 0; i < places.size(); ++i) mutable_elements<E>(y)[places[i]] = elements<E>(values)[i];
  });
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr max_map: int = 1
attr map_form: string = "DENSE"
attr cast_to: string = "TO_FLOAT"
type T1: map(int64, string) map(int64, float)
type T2: string float int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "CastMap", .versions = kVersions};

}  // namespace assay::op_ml_CastMap
