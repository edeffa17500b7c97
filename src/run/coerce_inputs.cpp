#include "run/coerce_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/hash.h"
#include "base/similar_name.h"
#include "compare/match_shape.h"
#include "compare/report.h"
#include "graph/metadata_text.h"
#include "run/shape_fits.h"
#include "tensor/convert.h"
#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// The tensor of that name; else the first whose name contains it or is contained in it, case ignored; else
/// the one at that position; else null.
const NamedTensor* find_similar(const TensorList& tensors, const std::string& name, size_t index) {
  if (index < tensors.size() && tensors[index].name == name) return &tensors[index];  // most often
  for (const NamedTensor& t : tensors)
    if (t.name == name) return &t;
  for (const NamedTensor& t : tensors)
    if (is_similar_name(name, t.name)) return &t;
  return index < tensors.size() ? &tensors[index] : nullptr;
}

struct Limits {
  double low, high;
};

/// The range of finite values of a type; nothing for types whose range does not matter here.
std::optional<Limits> limits_of(DType t) {
  if (t == DType::kFloat16) return Limits{-65504, 65504};
  if (t == DType::kFloat32)
    return Limits{-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  if (!is_integer(t) || is_packed(t)) return std::nullopt;
  const int bits = bit_width(t) - (is_signed_integer(t) ? 1 : 0);
  const double high = std::ldexp(1.0, bits);
  return Limits{is_signed_integer(t) ? -high : 0, high - 1};
}

bool has_values_outside(const Tensor& tensor, const Limits& limits) {
  const Tensor numbers = to_float64(tensor);
  const auto values = numbers.span<double>();
  return std::any_of(values.begin(), values.end(),
                     [&](double v) { return v < limits.low || v > limits.high; });
}

Tensor cast(const Tensor& tensor, const TensorInfo& input) {
  const DType wanted = input.type.dtype;
  diag::warning(
      "Input tensor: {} | Buffer dtype ({}) does not match expected input dtype ({}), attempting to cast. ",
      input.name, dtype_name(tensor.dtype()), dtype_name(wanted));
  if (const auto limits = limits_of(wanted); limits && tensor.dtype() != DType::kString &&
                                             !is_complex(tensor.dtype()) &&
                                             has_values_outside(tensor, *limits))
    diag::warning("Some values in this input are out of range of {}. Unexpected behavior may ensue!",
                  dtype_name(wanted));
  return convert(tensor, wanted, /*saturate=*/false);
}

Tensor match_shape(const Tensor& tensor, const TensorInfo& input) {
  diag::warning(
      "Input tensor: {} | Buffer shape ({}) does not match expected input shape ({}). Attempting to "
      "transpose/reshape.",
      input.name, tensor.shape().str(), bounded_shape_text(*input.type.dims));
  std::vector<int64_t> dims;
  for (const Dim& d : *input.type.dims) dims.push_back(d.value());
  std::vector<ShapeStep> steps;
  Tensor matched = try_match_shape(tensor, dims, steps);
  print_shape_steps(steps);
  return matched;
}

}  // namespace

Tensor coerce_input(const TensorList& data, const TensorInfo& input, size_t index) {
  const NamedTensor* found = find_similar(data, input.name, index);
  if (found == nullptr)
    throw Misfit{fmt::format("Input tensor: {} | Does not exist in the provided input data.", input.name)};
  if (found->name != input.name)
    diag::warning("Input tensor: {} | Buffer name ({}) does not match expected input name ({}).", input.name,
                  found->name, input.name);
  Tensor tensor = found->tensor;
  if (tensor.dtype() != input.type.dtype) tensor = cast(tensor, input);
  if (!shape_fits(tensor.shape(), input.type.dims)) tensor = match_shape(tensor, input);
  if (!shape_fits(tensor.shape(), input.type.dims))
    throw Misfit{
        fmt::format("Input tensor: {} | Cannot reuse input data due to mismatch in shape or data type.\n"
                    "Note: Provided input: [dtype={}, shape={}], Requested input: [dtype={}, shape={}]",
                    input.name, dtype_name(tensor.dtype()), tensor.shape().str(),
                    dtype_name(input.type.dtype), bounded_shape_text(*input.type.dims))};
  return tensor;
}

std::vector<Tensor> coerce_inputs(const TensorList& data, const std::vector<TensorInfo>& inputs) {
  std::vector<Tensor> feed;
  for (size_t i = 0; i < inputs.size(); ++i) try {
      feed.push_back(coerce_input(data, inputs[i], i));
    } catch (const Misfit& misfit) {
      fail_expected(ErrorCode::kInvalidArgument, "{}", misfit.message);
    }
  return feed;
}

void require_tensors(const std::vector<TensorInfo>& inputs) {
  for (const TensorInfo& i : inputs)
    require(i.type.is_tensor() && i.type.dtype != DType::kUndefined, ErrorCode::kUnsupported,
            "input '{}' is of type {}, and only tensors can be fed", i.name, i.type.str());
}

std::string fingerprint_of(TensorList data) {
  std::sort(data.begin(), data.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  HashStream hash;
  for (const NamedTensor& input : data)
    for_each_tensor(input.name, input.tensor, [&](const std::string& name, const Tensor& t) {
      hash.add(fmt::format("{} {} {}\n", name, dtype_name(t.dtype()), t.shape().str()));
      if (t.dtype() == DType::kString)
        for (const std::string& s : t.span<std::string>()) hash.add(fmt::format("{} {}\n", s.size(), s));
      else
        hash.add({static_cast<const char*>(t.data()), t.nbytes()});
    });
  return fmt::format("xxh3:{:016x}", hash.value());
}

}  // namespace assay
