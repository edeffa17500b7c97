// Interpolation along one axis after the other, and its rounding errors.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/grid_copy.h"
#include "ops/tensor/resize_plan.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// The inputs and weights that make up each element of an axis: `width` of them for each.
struct Taps {
  int64_t width = 0;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<bool> extrapolated;
};

/// The interpolation kernel at distance t.
double kernel(const ResizePlan& plan, double t) {
  t = std::abs(t);
  if (plan.interpolation == Interpolation::kLinear) return t < 1 ? 1 - t : 0;
  const double a = plan.cubic_a;
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// The steepest slope of the kernel.
double kernel_slope(const ResizePlan& plan) {
  if (plan.interpolation == Interpolation::kLinear) return 1;
  // |kernel'| is largest at 1 or where the second derivative
  // of the inner piece vanishes, if that is inside.
  const double a = plan.cubic_a, vertex = (a + 3) / (3 * (a + 2));
  const double inner = vertex > 0 && vertex < 1 ? std::abs((a + 3) * vertex) : 0;
  return std::max(std::abs(a), inner);
}

/// The kernel's derivative at t, which may be negative.
double kernel_derivative(const ResizePlan& plan, double t) {
  const double size = std::abs(t), sign = t < 0 ? -1 : 1, a = plan.cubic_a;
  if (plan.interpolation == Interpolation::kLinear) return size < 1 ? -sign : 0;
  if (size <= 1) return sign * (3 * (a + 2) * size - 2 * (a + 3)) * size;
  return size < 2 ? sign * ((3 * a * size - 10 * a) * size + 8 * a) : 0;
}

/// The size of what is rounded while the kernel is evaluated at t by Horner's rule: the root of the sum of
/// the squares of all intermediate results.
double kernel_intermediates(const ResizePlan& plan, double t) {
  t = std::abs(t);
  if (plan.interpolation == Interpolation::kLinear) return t < 1 ? 1 - t : 0;
  const double a = plan.cubic_a;
  double squares = 0;
  const auto rounded = [&](double x) {
    squares += x * x;
    return x;
  };
  if (t <= 1)
    rounded(rounded(rounded(rounded(rounded((a + 2) * t) - (a + 3)) * t) * t) + 1);
  else if (t < 2)
    rounded(rounded(rounded(rounded(rounded(rounded(a * t) - 5 * a) * t) + 8 * a) * t) - 4 * a);
  return std::sqrt(squares);
}

/// Bounds the roundings in one evaluation of the kernel, in units of u.
double kernel_roundings(const ResizePlan& plan) {
  return plan.interpolation == Interpolation::kLinear ? 2 : 200 * (1 + std::abs(plan.cubic_a));
}

/// With u > 0 the taps of an upper bound: magnitudes of the weights, and of the neighbours just outside the
/// kernel, enlarged by all that coordinates and weights may be off by in an arithmetic with unit roundoff u.
Taps make_taps(const ResizePlan& plan, const ResizeAxis& axis, double u) {
  if (axis.out == 0) return {};  // and the scale may be as small as it likes
  const bool bound = u > 0;
  const double stretch = plan.antialias ? std::min(axis.scale(), 1.0) : 1.0;
  const double radius = (plan.interpolation == Interpolation::kLinear ? 1.0 : 2.0) / stretch;
  const int64_t reach = static_cast<int64_t>(std::ceil(radius)) + (bound ? 1 : 0);
  Taps taps{.width = 2 * reach + 1, .index = {}, .weight = {}, .extrapolated = {}};
  for (int64_t at = 0; at < axis.out; ++at) {
    const double x = plan.source(axis, at);
    const double slip =
        kernel_slope(plan) * stretch * plan.source_error(axis, x, u) + kernel_roundings(plan) * u;
    taps.extrapolated.push_back(plan.is_extrapolated(axis, x));
    const double centre = std::clamp(std::floor(x), -1e15, 1e15);
    const size_t first = taps.weight.size();
    double sum = 0;
    for (int64_t k = -reach; k <= reach; ++k) {
      const double position = centre + static_cast<double>(k);
      const bool outside = position < 0 || position >= static_cast<double>(axis.in);
      const double w = outside && plan.exclude_outside ? 0 : kernel(plan, (position - x) * stretch);
      sum += w;
      taps.weight.push_back(w);
      taps.index.push_back(static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(axis.in - 1))));
    }
    const double norm = (plan.antialias || plan.exclude_outside) && sum != 0 ? sum : 1;
    for (size_t i = first; i < taps.weight.size(); ++i) {
      const double w = taps.weight[i] / norm;
      taps.weight[i] = bound ? std::abs(w) + u * static_cast<double>(taps.width + 2) * std::abs(w) +
                                   2 * slip / std::abs(norm)
                             : w;
    }
  }
  return taps;
}

/// One axis of a float64 tensor resampled.
Tensor apply_taps(const Tensor& x, size_t axis, const Taps& taps, double extrapolation_value) {
  Shape shape = x.shape();
  const auto out = static_cast<int64_t>(taps.extrapolated.size());
  const int64_t in = shape[axis], inner = shape.numel(axis + 1, shape.size());
  shape[axis] = out;
  Tensor y = checked_allocation(DType::kFloat64, shape);
  const double* from = x.data<double>();
  double* to = y.mutable_data<double>();
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, inner * taps.width));
  parallel_for(inner == 0 ? 0 : y.numel() / inner, grain, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const int64_t at = r % out;
      const double* plane = from + r / out * in * inner;
      double* row = to + r * inner;
      std::fill_n(row, inner, taps.extrapolated[static_cast<size_t>(at)] ? extrapolation_value : 0.0);
      if (taps.extrapolated[static_cast<size_t>(at)]) continue;
      for (int64_t k = at * taps.width; k < (at + 1) * taps.width; ++k) {
        const double w = taps.weight[static_cast<size_t>(k)];
        if (w == 0) continue;
        const double* source = plane + taps.index[static_cast<size_t>(k)] * inner;
        for (int64_t i = 0; i < inner; ++i) row[i] += w * source[i];
      }
    }
  });
  return y;
}

/// Every axis in turn; with u > 0 the bound's taps on magnitudes.
Tensor interpolate(Tensor x, const ResizePlan& plan, double u = 0) {
  for (size_t d = 0; d < plan.axes.size(); ++d)
    if (plan.resizes(plan.axes[d]))
      x = apply_taps(x, d, make_taps(plan, plan.axes[d], u), u > 0 ? 0 : plan.extrapolation_value);
  return x;
}

/// Taps of an axis, the neighbours just outside the kernel included, with other weights: weight(x, position)
/// for the source coordinate x and each position around it.
template <typename F>
Taps other_taps(const ResizePlan& plan, const ResizeAxis& axis, F weight) {
  Taps taps = make_taps(plan, axis, 0);
  const int64_t reach = taps.width / 2 + 1;
  taps.width = 2 * reach + 1;
  taps.index.clear();
  taps.weight.clear();
  for (int64_t at = 0; at < axis.out; ++at) {
    const double x = plan.source(axis, at), centre = std::clamp(std::floor(x), -1e15, 1e15);
    for (int64_t k = -reach; k <= reach; ++k) {
      const double position = centre + static_cast<double>(k);
      taps.index.push_back(static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(axis.in - 1))));
      taps.weight.push_back(weight(x, position));
    }
  }
  return taps;
}

/// One axis by these taps, the others as they are resized.
Tensor with_axis(Tensor x, const ResizePlan& plan, size_t axis, const Taps& taps, bool magnitudes) {
  for (size_t d = 0; d < plan.axes.size(); ++d) {
    if (!plan.resizes(plan.axes[d])) continue;
    Taps own = d == axis ? taps : make_taps(plan, plan.axes[d], 0);
    if (magnitudes)
      for (double& w : own.weight) w = std::abs(w);
    x = apply_taps(x, d, own, 0);
  }
  return x;
}

int64_t nearest_index(const ResizePlan& plan, const ResizeAxis& axis, double x) {
  NearestMode mode = plan.nearest;
  if (mode == NearestMode::kByScale) mode = axis.scale() < 1 ? NearestMode::kCeil : NearestMode::kFloor;
  double at = 0;
  switch (mode) {
    case NearestMode::kFloor:
      at = std::floor(x);
      break;
    case NearestMode::kCeil:
      at = std::ceil(x);
      break;
    case NearestMode::kRoundPreferCeil:
      at = std::floor(x + 0.5);
      break;
    default:
      at = std::ceil(x - 0.5);
      break;
  }
  return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.in - 1)));
}

/// True when a coordinate at an integer or half an integer is computed without error: the scale is a float32
/// number, so that the one division gives such a quotient exactly.
bool has_exact_ties(const ResizePlan& plan, const ResizeAxis& axis) {
  const double scale = axis.scale();
  const bool by_scale = plan.coordinates == CoordinateMode::kAsymmetric ||
                        plan.coordinates == CoordinateMode::kHalfPixel ||
                        plan.coordinates == CoordinateMode::kPytorchHalfPixel;
  return by_scale && scale * axis.scale_den == axis.scale_num &&
         static_cast<double>(static_cast<float>(scale)) == scale;
}

/// The source index of each element. With u != 0 the coordinates are as far off as an arithmetic with unit
/// roundoff |u| may bring them, downwards when u < 0.
std::vector<int64_t> nearest_table(const ResizePlan& plan, const ResizeAxis& axis, double u) {
  const bool exact_ties = has_exact_ties(plan, axis);
  std::vector<int64_t> table;
  for (int64_t at = 0; at < axis.out; ++at) {
    double x = plan.source(axis, at);
    const bool outside = plan.is_extrapolated(axis, x);
    if (!exact_ties || 2 * x != std::floor(2 * x))
      x += std::copysign(plan.source_error(axis, x, std::abs(u)), u);
    table.push_back(outside ? kOutside : plan.resizes(axis) ? nearest_index(plan, axis, x) : at);
  }
  return table;
}

/// One u for each axis, as in nearest_table.
Tensor resize_nearest(const Tensor& x, const ResizePlan& plan, const std::vector<double>& u) {
  std::vector<std::vector<int64_t>> tables;
  for (size_t d = 0; d < plan.axes.size(); ++d) tables.push_back(nearest_table(plan, plan.axes[d], u[d]));
  const bool numeric = is_float(x.dtype()) || is_integer(x.dtype()) || x.dtype() == DType::kBool;
  const Tensor fill =
      numeric ? convert(Tensor::scalar(plan.extrapolation_value), x.dtype()) : Tensor::zeros(x.dtype(), {});
  return copy_grid(x, tables, fill);
}

/// A coordinate close to a tie may fall to either side: the bound is the distance to the element there.
Tensor nearest_error_bound(const Tensor& x, const ResizePlan& plan, double u, const Tensor& y) {
  Tensor bound = Tensor::zeros(DType::kFloat64, y.shape());
  std::vector<size_t> open;
  for (size_t d = 0; d < plan.axes.size(); ++d)
    if (nearest_table(plan, plan.axes[d], -u) != nearest_table(plan, plan.axes[d], u)) open.push_back(d);
  if (open.empty()) return bound;
  double* b = bound.mutable_data<double>();
  for (size_t choice = 0; choice < (size_t{1} << open.size()); ++choice) {
    std::vector<double> signs(plan.axes.size(), 0.0);
    for (size_t i = 0; i < open.size(); ++i) signs[open[i]] = choice >> i & 1 ? u : -u;
    const Tensor other = resize_nearest(x, plan, signs);
    const double* o = other.data<double>();
    for (int64_t i = 0; i < y.numel(); ++i) b[i] = std::max(b[i], std::abs(o[i] - y.data<double>()[i]));
  }
  return bound;
}

/// Rounds to nearest even and clamps to the range of T.
template <typename T>
Tensor to_integers(const Tensor& x) {
  return map_elements<double, T>(x, [](double v) {
    constexpr auto kMin = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    v = std::nearbyint(v);
    return v >= kMax  ? std::numeric_limits<T>::max()
           : v > kMin ? static_cast<T>(v)
                      : std::numeric_limits<T>::min();
  });
}

}  // namespace

Tensor resize(const Tensor& x, const ResizePlan& plan) {
  check_output_size(unpacked_dtype(x.dtype()), plan.output_shape());
  for (const ResizeAxis& a : plan.axes)
    require(a.in > 0 || a.out == 0, ErrorCode::kInvalidModel,
            "an axis without elements cannot be resized to {}", a.out);
  if (plan.interpolation == Interpolation::kNearest)
    return resize_nearest(x, plan, std::vector<double>(plan.axes.size(), 0.0));
  Tensor y = interpolate(to_float64(x), plan);
  if (is_float(x.dtype())) return y;
  visit_numeric(x.dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) y = to_integers<T>(y);
  });
  return y;
}

Tensor resize_error_bound(const Tensor& input, const ResizePlan& plan, double u, const Tensor& y) {
  const Tensor x = to_float64(input);
  if (plan.interpolation == Interpolation::kNearest) return nearest_error_bound(x, plan, u, to_float64(y));
  const Tensor magnitudes = map_elements<double>(x, [](double v) { return std::abs(v); });
  // The same sums with widened weights, less the sums themselves, bound the error of the weights.
  Tensor wide = interpolate(magnitudes, plan, u);
  const Tensor narrow = interpolate(magnitudes, plan, 1e-300);
  double* b = wide.mutable_data<double>();
  // ONNX does not say how integers are rounded.
  const double rounding = is_float(input.dtype()) ? 0 : 1;
  for (int64_t i = 0; i < wide.numel(); ++i) b[i] += rounding - narrow.data<double>()[i];
  return wide;
}

Tensor resize_expected_error(const Tensor& input, const ResizePlan& plan, double u, const Tensor& y) {
  if (plan.interpolation == Interpolation::kNearest || plan.antialias || plan.exclude_outside ||
      !is_float(input.dtype()))
    return resize_error_bound(input, plan, u, y);
  const Tensor x = to_float64(input), sizes = map_elements<double>(x, [](double v) { return std::abs(v); });
  Tensor out = map_elements<double>(to_float64(y), [u](double v) { return u * std::abs(v); });
  auto* e = out.mutable_data<double>();
  for (size_t d = 0; d < plan.axes.size(); ++d) {
    const ResizeAxis& axis = plan.axes[d];
    if (!plan.resizes(axis)) continue;
    // An inexact coordinate moves along the slope, towards its error.
    const auto slope = [&](double side) {
      return with_axis(x, plan, d,
                       other_taps(plan, axis,
                                  [&](double at, double position) {
                                    const double slip = plan.source_error(axis, at, u);
                                    return slip / 2 * kernel_derivative(plan, position - (at + side * slip));
                                  }),
                       false);
    };
    const Tensor below = slope(-1), above = slope(1);
    const Tensor weights =
        with_axis(sizes, plan, d,
                  other_taps(plan, axis,
                             [&](double at, double position) {
                               const double t = position - at;
                               return u * (std::abs(kernel(plan, t)) + kernel_intermediates(plan, t));
                             }),
                  true);
    const double *pb = below.data<double>(), *pa = above.data<double>(), *pw = weights.data<double>();
    for (int64_t i = 0; i < out.numel(); ++i) e[i] += std::max(std::abs(pb[i]), std::abs(pa[i])) + pw[i];
  }
  return out;
}

}  // namespace assay
