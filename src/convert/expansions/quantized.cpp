// Quantized products and roundings by ordinary ones. Integers of 8 bits and the sums of their products are
// exact in int32 and in double.
#include <numeric>

#include "base/diagnostics.h"
#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// x minus its zero point, in another type.
Value* centred(Rewrite& r, size_t x, size_t zero_point, DType type, bool per_row) {
  Value* v = cast(r, r.input(x), type);
  if (r.input(zero_point) == nullptr) return v;
  Value* zero = cast(r, r.input(zero_point), type);
  // One zero point for every row of a matrix; for columns the last axes align without reshaping.
  if (per_row && r.rank(zero_point) == 1 && r.rank(x) > 1)
    zero = r.add("Unsqueeze", {zero}, {{"axes", Ints{1}}});
  return r.add("Sub", {v, zero});
}

void expand_mat_mul_integer(Rewrite& r) {
  const bool has_row = r.input(2) != nullptr && r.rank(2) > 1;
  if (has_row || (r.input(3) != nullptr && r.rank(3) > 1)) no_equivalent("zero points of more than one axis");
  Value* a = centred(r, 0, 2, DType::kInt32, true);
  r.replace({r.add("MatMul", {a, centred(r, 1, 3, DType::kInt32, false)})});
}

/// A bound of a convolution's sums of 8-bit integers, including partial sums; nothing if not even the extents
/// of the weights are known. Constant weights give a tighter bound.
std::optional<int64_t> largest_sum(Rewrite& r) {
  constexpr int64_t kLargest = 255;  // of an element less its zero point
  const std::optional<Shape> shape = shape_of(r.input(1));
  if (!shape || shape->rank() < 2) return std::nullopt;
  const int64_t terms = shape->numel(1, shape->size());
  const Value* zero = r.input(3);
  const bool constant = r.input(1)->tensor().defined() && (zero == nullptr || zero->tensor().defined());
  if (!constant || terms == 0) return terms * kLargest * kLargest;
  const std::vector<int64_t> weights = r.input(1)->tensor().to_int64();
  const std::vector<int64_t> zeros = zero != nullptr ? zero->tensor().to_int64() : std::vector<int64_t>{0};
  if (zeros.size() != 1) return terms * kLargest * kLargest;
  int64_t largest = 0;
  for (auto w = weights.begin(); w != weights.end(); w += terms)
    largest = std::max(largest, std::accumulate(w, w + terms, int64_t{0}, [&](int64_t sum, int64_t e) {
                         return sum + std::abs(e - zeros[0]);
                       }));
  return largest * kLargest;
}

/// The narrowest float type in which the sums are exact: float32 up to 2^24, double up to 2^53, which no
/// tensor reaches. Few runtimes have a Conv of doubles.
DType exact_sums(Rewrite& r) {
  const std::optional<int64_t> largest = largest_sum(r);
  if (largest && *largest <= int64_t{1} << 24) return DType::kFloat32;
  diag::warning(
      "{} becomes a Conv of float64 in opset 9, since float32 does not hold its sums exactly; ONNX Runtime, "
      "for one, has no "
      "such Conv for CPUs.",
      r.node().label());
  return DType::kFloat64;
}

void expand_conv_integer(Rewrite& r) {
  const DType t = exact_sums(r);
  Value* w = centred(r, 1, 3, t, false);
  if (r.input(3) != nullptr && r.rank(3) > 0 && known_extent(r.input(3), 0) != 1)
    no_equivalent("a zero point for every channel");
  AttributeList attributes;
  for (const Attribute& a : r.node().attributes) attributes.emplace_back(a.name, a.data);
  r.replace({cast(r, r.add("Conv", {centred(r, 0, 2, t, false), w}, std::move(attributes)), DType::kInt32)});
}

void expand_dequantize_linear(Rewrite& r) {
  const DType t = DType::kFloat32;
  r.replace({r.add("Mul", {centred(r, 0, 2, t, false), r.input(1)})});
}

/// Rounded to even, moved by the zero point and saturated.
void expand_quantize_linear(Rewrite& r) {
  const DType t = DType::kFloat32, to = r.input(2) != nullptr ? r.dtype(2) : DType::kUInt8;
  if (!is_integer(to) || bit_width(to) < 8 || bit_width(to) > 16)
    no_equivalent("levels of type {}", dtype_name(to));
  r.set_opset(11);
  Value* level = r.add("Round", {r.add("Div", {cast(r, r.input(0), t), cast(r, r.input(1), t)})});
  r.set_opset(9);
  if (r.input(2) != nullptr) level = r.add("Add", {level, cast(r, r.input(2), t)});
  const auto span = static_cast<float>(int64_t{1} << bit_width(to));
  const float lowest = is_signed_integer(to) ? -span / 2 : 0;
  const AttributeList bounds = {{"min", lowest}, {"max", lowest + span - 1}};
  r.replace({cast(r, r.add("Clip", {level}, bounds), to)});
}

}  // namespace

constinit const Expansion expansion_onnx_ConvInteger = {"", "ConvInteger", 9, "Conv of floats",
                                                        expand_conv_integer};
constinit const Expansion expansion_onnx_DequantizeLinear = {"", "DequantizeLinear", 9, "Sub and Mul",
                                                             expand_dequantize_linear};
constinit const Expansion expansion_onnx_MatMulInteger = {"", "MatMulInteger", 9, "MatMul of int32",
                                                          expand_mat_mul_integer};
constinit const Expansion expansion_onnx_QuantizeLinear = {"", "QuantizeLinear", 9, "Round, Add and Clip",
                                                           expand_quantize_linear};

}  // namespace assay
