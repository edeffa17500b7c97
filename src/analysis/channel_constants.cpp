#include "analysis/channel_constants.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "analysis/match.h"
#include "analysis/quantization.h"
#include "analysis/stored_weights.h"
#include "base/parallel.h"
#include "base/resident_memory.h"
#include "tensor/convert.h"

namespace assay {

std::optional<std::vector<double>> channel_constant(const Value* v, int rank, int64_t channels) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || !is_float(t->dtype()) || t->rank() > rank || rank < 2) return std::nullopt;
  std::vector<double> numbers = to_doubles(*t);
  if (numbers.size() == 1) return std::vector<double>(static_cast<size_t>(channels), numbers[0]);
  // The channel axis, counted from the end; every other extent must be 1.
  const int from_end = rank - 1;
  if (t->rank() < from_end || static_cast<int64_t>(numbers.size()) != channels) return std::nullopt;
  if (t->dim(static_cast<size_t>(t->rank() - from_end)) != channels) return std::nullopt;
  return numbers;
}

std::optional<ChannelAffine> normalization_of(const Node& n) {
  if (!is_op(n, "BatchNormalization") || int_attribute(n, "training_mode", 0) != 0 ||
      int_attribute(n, "spatial", 1) == 0)
    return std::nullopt;
  // Before opset 14 it trains when it has more than one.
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.output(i) != nullptr) return std::nullopt;
  std::vector<double> numbers[4];
  for (size_t i = 0; i < 4; ++i) {
    const UnalignedTensor* c = constant_of(n.input(i + 1));
    if (c == nullptr) return std::nullopt;
    numbers[i] = to_doubles(*c);
    if (numbers[i].size() != numbers[0].size()) return std::nullopt;
  }
  const auto& [scale, shift, mean, variance] = numbers;
  const double epsilon = float_attribute(n, "epsilon", 1e-5F);
  ChannelAffine a;
  for (size_t c = 0; c < scale.size(); ++c) {
    a.factors.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
    a.shifts.push_back(shift[c] - mean[c] * a.factors[c]);
    if (!std::isfinite(a.factors.back()) || !std::isfinite(a.shifts.back())) return std::nullopt;
  }
  return a;
}

std::vector<double> to_doubles(const UnalignedTensor& t) {
  const Tensor wide = to_float64(t);
  return std::vector<double>(wide.span<double>().begin(), wide.span<double>().end());
}

namespace {

/// Of a floating type: bits of the significand, and the smallest normal and the largest number.
struct FloatRange {
  int digits;
  double least, most;
};

std::optional<FloatRange> float_range(DType t) {
  switch (t) {
    case DType::kFloat16:
      return FloatRange{11, 0x1p-14, 65504};
    case DType::kBFloat16:
      return FloatRange{8, 0x1p-126, 0x1.fep127};
    case DType::kFloat32:
      return FloatRange{24, 0x1p-126, std::numeric_limits<float>::max()};
    case DType::kFloat64:
      return FloatRange{53, 0x1p-1022, std::numeric_limits<double>::max()};
    default:
      return std::nullopt;
  }
}

}  // namespace

bool all_finite(const UnalignedTensor& t) {
  if (t.dtype() != DType::kFloat32) {
    const std::vector<double> numbers = to_doubles(t);
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  }
  const auto* const from = static_cast<const char*>(t.data());
  bool finite = true;
  for (int64_t i = 0; i < t.numel(); ++i) {
    float x;
    std::memcpy(&x, from + static_cast<size_t>(i) * sizeof x, sizeof x);
    finite = finite && std::isfinite(x);
  }
  drop_after_use(t.data(), t.nbytes());
  return finite;
}

bool are_in_range(const std::vector<double>& numbers, DType dtype) {
  const std::optional<FloatRange> range = float_range(dtype);
  return range &&
         std::all_of(numbers.begin(), numbers.end(), [&](double x) { return std::abs(x) <= range->most; });
}

bool is_normal_in(double x, DType dtype) {
  const std::optional<FloatRange> range = float_range(dtype);
  return range && (x == 0 || (std::abs(x) >= range->least && std::abs(x) <= range->most));
}

bool is_lost_in_largest(double x, DType dtype) {
  const std::optional<FloatRange> range = float_range(dtype);
  return range && std::abs(x) < std::ldexp(range->most, -range->digits - 1);
}

bool is_no_rounding_trick(double a, double b, DType dtype) {
  const std::optional<FloatRange> range = float_range(dtype);
  if (!range) return false;
  const double larger = std::max(std::abs(a), std::abs(b));
  // Leaves half the digits for the other addend.
  const bool rounds = larger >= std::ldexp(1, range->digits / 2 - 1);
  return !rounds || std::abs(a + b) * 8 >= larger;
}

Tensor float_vector(const std::vector<double>& values, DType dtype) {
  return convert(Tensor::vector(values), dtype);
}

namespace {

/// True when `y`, a product of `x` and a non-zero factor, has full precision.
bool is_whole(double x, double y, const FloatRange& range) {
  return x == 0 || (std::abs(y) >= range.least && std::abs(y) <= range.most);
}

/// float32, in one pass: each element of a channel times the channel's factor.
std::optional<Tensor> scaled_floats(const LinearNode& linear, const std::vector<double>& factors) {
  const UnalignedTensor& t = *linear.weight;
  Tensor scaled = Tensor::allocate(DType::kFloat32, t.shape());
  const int64_t inner = t.shape().numel(linear.channel_axis + 1, t.shape().size()),
                extent = t.dim(linear.channel_axis);
  const auto* const from = static_cast<const char*>(t.data());
  auto* y = scaled.mutable_data<float>();
  constexpr int64_t kGrain = 1 << 15;
  const FloatRange range = *float_range(DType::kFloat32);
  std::atomic<bool> are_whole = true;
  parallel_for(inner == 0 ? 0 : t.numel() / inner, kGrain / std::max<int64_t>(inner, 1) + 1,
               [&](int64_t first, int64_t last) {
                 bool whole = true;
                 for (int64_t row = first; row < last; ++row) {
                   const double factor = factors[static_cast<size_t>(row % extent)];
                   for (int64_t i = row * inner; i < (row + 1) * inner; ++i) {
                     float x;
                     std::memcpy(&x, from + static_cast<size_t>(i) * sizeof x, sizeof x);
                     const double product = x * factor;
                     whole = whole && (factor == 0 ? std::isfinite(x) : is_whole(x, product, range));
                     y[i] = static_cast<float>(product);
                   }
                 }
                 if (!whole) are_whole = false;
               });
  drop_after_use(linear.weight->data(), linear.weight->nbytes());
  if (!are_whole) return std::nullopt;
  return scaled;
}

}  // namespace

std::optional<Tensor> scaled_weight(const LinearNode& linear, const std::vector<double>& factors) {
  const UnalignedTensor& t = *linear.weight;
  const std::optional<FloatRange> range = float_range(t.dtype());
  if (!range || is_kept_stored(linear.node->input(1))) return std::nullopt;
  if (t.dtype() == DType::kFloat32 && linear.groups == 1) return scaled_floats(linear, factors);
  Tensor wide = to_float64(t);
  const int64_t inner = t.shape().numel(linear.channel_axis + 1, t.shape().size()),
                extent = t.dim(linear.channel_axis);
  // Axis 0 of a transposed convolution's weights goes through the groups.
  const int64_t group = t.numel() / linear.groups;
  double* x = wide.mutable_data<double>();
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const double factor =
        factors[static_cast<size_t>(i / group * extent * (linear.groups > 1) + i / inner % extent)];
    const double product = x[i] * factor;
    if (!(factor == 0 ? std::isfinite(x[i]) : is_whole(x[i], product, *range))) return std::nullopt;
    x[i] = product;
  }
  return convert(wide, t.dtype());
}

namespace {

/// Reads where the channels are; false for a product that is scaled.
bool read_gemm(const Node& n, LinearNode& linear) {
  linear.channel_axis = int_attribute(n, "transB", 0) != 0 ? 0 : 1;
  return linear.weight->rank() == 2 && float_attribute(n, "alpha", 1) == 1 &&
         float_attribute(n, "beta", 1) == 1;
}

/// The same for Conv and ConvTranspose; false for weights that are none of theirs.
bool read_convolution(const Node& n, LinearNode& linear) {
  const UnalignedTensor& weight = *linear.weight;
  const bool is_transposed = is_op(n, "ConvTranspose");
  linear.channel_axis = is_transposed ? 1 : 0;
  if (is_transposed) linear.groups = int_attribute(n, "group", 1);
  return weight.rank() >= 3 && linear.groups >= 1 && weight.numel() != 0 &&
         weight.dim(0) % linear.groups == 0;
}

/// Whether there is a number for each channel, or no bias.
bool has_usable_bias(const LinearNode& linear) {
  const UnalignedTensor* bias = linear.bias;
  return bias == nullptr ||
         (bias->rank() == 1 && bias->numel() == linear.channels && bias->dtype() == linear.weight->dtype());
}

}  // namespace

std::optional<LinearNode> linear_node(const Node& n) {
  const bool gemm = is_op(n, "Gemm");
  if (!gemm && !is_op(n, "Conv") && !is_op(n, "ConvTranspose")) return std::nullopt;
  if (quantization_of(n.input(0))) return std::nullopt;
  const UnalignedTensor* weight = constant_of(n.input(1));
  const UnalignedTensor* bias = constant_of(n.input(2));
  if (weight == nullptr || !is_float(weight->dtype()) || (n.input(2) != nullptr && bias == nullptr))
    return std::nullopt;
  LinearNode linear{&n, weight, 0, 0, bias};
  if (gemm ? !read_gemm(n, linear) : !read_convolution(n, linear)) return std::nullopt;
  linear.channels = weight->dim(linear.channel_axis) * linear.groups;
  return has_usable_bias(linear) ? std::optional(linear) : std::nullopt;
}

}  // namespace assay
