// LabelEncoder: every element looked up among keys, and replaced by the value at that place, or by a default.
// Of a repeated key the last counts (in version 2 the first, as in ONNX Runtime); from version 4 on NaN finds
// NaN. Version 1 has one list of strings, whose places are the integers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_ml_LabelEncoder {
namespace {

Tensor floats(const std::vector<double>& v) { return Tensor::vector(std::vector<float>(v.begin(), v.end())); }

/// The one of the lists keys_* (or values_*) that the node has.
Tensor read_list(const OpContext& c, const std::string& prefix) {
  std::vector<Tensor> lists;
  if (c.has_attr(prefix + "_strings")) lists.push_back(Tensor::vector(c.attr_strings(prefix + "_strings")));
  if (c.has_attr(prefix + "_int64s")) lists.push_back(Tensor::vector(c.attr_ints(prefix + "_int64s")));
  if (c.has_attr(prefix + "_floats")) lists.push_back(floats(c.attr_floats(prefix + "_floats")));
  if (c.since() >= 4 && c.has_attr(prefix + "_tensor"))
    lists.push_back(c.attr_tensor(prefix + "_tensor").aligned());
  c.check(lists.size() == 1, "exactly one of the attributes {}_* must be given, not {}", prefix,
          lists.size());
  const DType dtype = lists[0].dtype();
  c.check(dtype == DType::kString || ((is_float(dtype) || is_integer(dtype)) && !is_packed(dtype)),
          "the {} are {}; they must be strings or numbers", prefix, dtype_name(dtype));
  return lists[0];
}

/// One element of the values' type for what no key matches.
Tensor read_default(const OpContext& c, const Tensor& values) {
  if (c.since() >= 4 && c.has_attr("default_tensor")) {
    const Tensor t = c.attr_tensor("default_tensor").aligned();
    c.check(t.numel() == 1 && t.dtype() == values.dtype(),
            "default_tensor is {} of type {}; it must be one {}", t.shape().str(), dtype_name(t.dtype()),
            dtype_name(values.dtype()));
    return t;
  }
  if (values.dtype() == DType::kString) return Tensor::scalar(c.attr_string("default_string"));
  if (is_integer(values.dtype())) return convert(Tensor::scalar(c.attr_int("default_int64")), values.dtype());
  return convert(Tensor::scalar(c.attr_float("default_float")), values.dtype());
}

/// Keys, the values beside them, and the value for everything else.
struct Table {
  Tensor keys, values, otherwise;
  bool first_counts = false;  ///< of equal keys
  bool nan_is_key = false;
};

Table read_table(const OpContext& c, DType input) {
  if (c.since() > 1) {
    Table t{.keys = read_list(c, "keys"), .values = read_list(c, "values"), .otherwise = {}};
    c.check(t.keys.numel() == t.values.numel(), "{} keys for {} values", t.keys.numel(), t.values.numel());
    t.otherwise = read_default(c, t.values);
    t.first_counts = c.since() == 2;
    t.nan_is_key = c.since() >= 4;
    return t;
  }
  const Tensor words = Tensor::vector(c.attr_strings("classes_strings"));
  std::vector<int64_t> places(static_cast<size_t>(words.numel()));
  std::iota(places.begin(), places.end(), int64_t{0});
  if (input == DType::kString)
    return {words, Tensor::vector(places), Tensor::scalar(c.attr_int("default_int64"))};
  return {Tensor::vector(places), words, Tensor::scalar(c.attr_string("default_string"))};
}

void infer(InferContext& c) {
  const DType in = c.input_dtype(0);
  if (in == DType::kUndefined && c.since() == 1) return;
  const Table t = read_table(c, in);
  c.check(in == DType::kUndefined || in == t.keys.dtype(), "the keys are {}, but the input is {}",
          dtype_name(t.keys.dtype()), dtype_name(in));
  if (c.input_dims(0) != nullptr)
    c.set_output(0, t.values.dtype(), *c.input_dims(0));
  else
    c.set_output(0, t.values.dtype());
}

/// For each element of x the place of its key, or -1.
template <typename T>
std::vector<int64_t> find_keys(std::span<const T> keys, std::span<const T> x, bool first_counts) {
  std::unordered_map<T, int64_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto [it, fresh] = places.emplace(keys[i], static_cast<int64_t>(i));
    if (!fresh && !first_counts) it->second = static_cast<int64_t>(i);
  }
  std::vector<int64_t> found;
  for (const T& v : x) {
    const auto it = places.find(v);
    found.push_back(it == places.end() ? -1 : it->second);
  }
  return found;
}

/// The same for floats, with the place of a NaN among the keys for every NaN.
std::vector<int64_t> find_float_keys(std::span<const double> keys, std::span<const double> x) {
  std::vector<int64_t> found = find_keys(keys, x, false);
  const auto is_nan = [](double v) { return std::isnan(v); };
  const auto last_nan = std::find_if(keys.rbegin(), keys.rend(), is_nan);
  for (size_t i = 0; i < x.size(); ++i)
    if (is_nan(x[i])) found[i] = keys.rend() - last_nan - 1;
  return found;
}

std::vector<int64_t> places_of(const Tensor& x, const Table& table) {
  if (x.dtype() == DType::kString)
    return find_keys<std::string>(table.keys.span<std::string>(), x.span<std::string>(), table.first_counts);
  if (is_float(x.dtype())) {
    const Tensor k = to_float64(table.keys), v = to_float64(x);
    return table.nan_is_key ? find_float_keys(k.span<double>(), v.span<double>())
                            : find_keys<double>(k.span<double>(), v.span<double>(), table.first_counts);
  }
  const std::vector<int64_t> k = table.keys.to_int64(), v = x.to_int64();
  return find_keys<int64_t>(k, v, table.first_counts);
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Table t = read_table(c, x.dtype());
  const auto kind = [](DType d) { return d == DType::kString ? 0 : is_float(d) ? 1 : 2; };
  c.check(kind(x.dtype()) == kind(t.keys.dtype()), "the keys are {}, but the input is {}",
          dtype_name(t.keys.dtype()), dtype_name(x.dtype()));
  const std::vector<int64_t> places = places_of(x, t);
  Tensor y = Tensor::allocate(t.values.dtype(), x.shape());
  visit_elements(y.dtype(), [&]<typename E>() {
    const E *values = elements<E>(t.values), *otherwise = elements<E>(t.otherwise);
    E* out = mutable_elements<E>(y);
    for (size_t i = 0; i < places.size(); ++i) out[i] = places[i] < 0 ? *otherwise : values[places[i]];
  });
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr default_string: string = "_Unused"
attr default_int64: int = -1
attr classes_strings: strings
type T1: string int64
type T2: string int64)",
     infer, eval},
    {2, R"(
in  X: T1
out Y: T2
attr default_int64: int = -1
attr default_float: float = -0
attr default_string: string = "_Unused"
attr values_int64s: ints
attr values_strings: strings
attr keys_floats: floats
attr values_floats: floats
attr keys_int64s: ints
attr keys_strings: strings
type T1: string int64 float
type T2: string int64 float)",
     infer, eval},
    {4, R"(
in  X: T1
out Y: T2
attr default_tensor: tensor
attr default_int64: int = -1
attr default_float: float = -0
attr default_string: string = "_Unused"
attr values_int64s: ints
attr values_strings: strings
attr values_tensor: tensor
attr keys_floats: floats
attr keys_strings: strings
attr values_floats: floats
attr keys_int64s: ints
attr keys_tensor: tensor
type T1: string int64 float int32 int16 double
type T2: string int64 float int32 int16 double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LabelEncoder",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ml_LabelEncoder
