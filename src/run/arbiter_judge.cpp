#include "run/arbiter_judge.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "ops/eval_util.h"
#include "tensor/convert.h"
#include "tensor/narrow_float.h"

namespace assay {
namespace {

/// Elements whose spreads are pooled at least: trailing dimensions are taken until they hold so many.
constexpr int64_t kPoolElements = 64;

int64_t pool_size(const Shape& shape) {
  int64_t n = 1;
  for (size_t i = shape.size(); i-- > 0 && n < kPoolElements;) n *= shape[i];
  return std::max<int64_t>(n, 1);
}

/// Smallest positive and largest finite number of a floating type.
struct FloatRange {
  double smallest, largest;
};

template <typename Format>
FloatRange range_of() {
  constexpr int kMantissa = Format::kMantissaBits, kExponent = (Format::kMax >> kMantissa) - Format::kBias;
  constexpr uint32_t kFraction = Format::kMax & ((1u << kMantissa) - 1);
  return {std::ldexp(1, 1 - Format::kBias - kMantissa),
          std::ldexp(static_cast<double>((1u << kMantissa) + kFraction), kExponent - kMantissa)};
}

FloatRange float_range(DType t) {
  switch (t) {
    case DType::kFloat64:
      return {0x1p-1074, 0x1.fffffffffffffp1023};
    case DType::kFloat16:
      return range_of<Float16Format>();
    case DType::kBFloat16:
      return range_of<BFloat16Format>();
    case DType::kFloat8E4M3FN:
      return range_of<Float8E4M3FNFormat>();
    case DType::kFloat8E4M3FNUZ:
      return range_of<Float8E4M3FNUZFormat>();
    case DType::kFloat8E5M2:
      return range_of<Float8E5M2Format>();
    case DType::kFloat8E5M2FNUZ:
      return range_of<Float8E5M2FNUZFormat>();
    case DType::kFloat4E2M1:
      return range_of<Float4E2M1Format>();
    case DType::kFloat6E2M3:
      return range_of<Float6E2M3Format>();
    case DType::kFloat6E3M2:
      return range_of<Float6E3M2Format>();
    case DType::kFloat8E8M0:
      return {0x1p-127, 0x1p127};
    default:
      return {0x1p-149, 0x1.fffffep127};
  }
}

/// The square of a lane's distance from the exact value. Equal specials are not a distance; a special beside a
/// number is an infinite one.
double squared_distance(double lane, double exact) {
  if (std::isfinite(lane) && std::isfinite(exact)) return (lane - exact) * (lane - exact);
  return lane == exact || (std::isnan(lane) && std::isnan(exact)) ? 0 : HUGE_VAL;
}

/// Mean squares of the elements that are finite.
struct Pool {
  double spread = 0, value = 0;
};

/// Writes each element's mean square of the distances to `squares`; pool p holds elements [p * size, ...).
std::vector<Pool> measure_pools(std::span<const Tensor> lanes, int64_t size, double* squares) {
  const double* y = lanes[0].data<double>();
  const int64_t count = lanes[0].numel();
  const auto samples = static_cast<double>(std::max<size_t>(lanes.size() - 1, 1));
  std::vector<Pool> pools(static_cast<size_t>((count + size - 1) / size));
  parallel_for(static_cast<int64_t>(pools.size()), std::max<int64_t>(1, kElementGrain / size),
               [&](int64_t first, int64_t last) {
                 for (int64_t p = first; p < last; ++p) {
                   const int64_t begin = p * size, end = std::min(count, begin + size);
                   Pool& pool = pools[static_cast<size_t>(p)];
                   for (int64_t i = begin; i < end; ++i) {
                     squares[i] = 0;
                     for (const Tensor& lane : lanes.subspan(1))
                       squares[i] += squared_distance(lane.data<double>()[i], y[i]) / samples;
                     if (std::isfinite(squares[i])) pool.spread += squares[i];
                     if (std::isfinite(y[i])) pool.value += y[i] * y[i];
                   }
                   pool.spread /= static_cast<double>(end - begin);
                   pool.value /= static_cast<double>(end - begin);
                 }
               });
  return pools;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

/// Medians over the pools, of mean squares: the spread, and the spread relative to the value.
struct TypicalSpread {
  double absolute, relative;
  explicit TypicalSpread(const std::vector<Pool>& pools) {
    std::vector<double> spreads, ratios;
    for (const Pool& p : pools) {
      spreads.push_back(p.spread);
      if (p.value > 0 && std::isfinite(p.spread / p.value)) ratios.push_back(p.spread / p.value);
    }
    absolute = median(std::move(spreads));
    relative = median(std::move(ratios));
  }
  /// At the size of a pool's values.
  double at(const Pool& p) const { return std::min(absolute, relative * p.value); }
};

/// What rounding explains for each element: kExplainedFactor times the largest of its own spread, that of its
/// pool, and the tensor's typical spread. Few lanes estimate the spread of elements whose errors have one
/// source badly, pooled or not; then the tensor's helps.
Tensor explained_by_noise(std::span<const Tensor> lanes, double u, double floor) {
  Tensor out = Tensor::allocate(DType::kFloat64, lanes[0].shape());
  const double* y = lanes[0].data<double>();
  auto* e = out.mutable_data<double>();
  const int64_t size = pool_size(out.shape()), count = out.numel();
  const std::vector<Pool> pools = measure_pools(lanes, size, e);
  const TypicalSpread typical(pools);
  parallel_for(count, kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Pool& pool = pools[static_cast<size_t>(i / size)];
      const double square = std::max({e[i], pool.spread, typical.at(pool)});
      const bool special = !std::isfinite(y[i]) || !std::isfinite(square);
      e[i] = special ? e[i] : kExplainedFactor * std::sqrt(square) + u * std::abs(y[i]) + floor;
    }
  });
  return out;
}

/// Error against explanation over all elements.
struct Deviation {
  double max_error = 0, exact = 0;
  double ratio = 0;
  int64_t at = -1;
  bool rounded = true;  ///< every error within u |y| (1 + u)
  int64_t overflows = 0;
};

void merge(Deviation& into, const Deviation& d) {
  if (d.max_error > into.max_error) into.max_error = d.max_error, into.exact = d.exact;
  if (d.at >= 0 && (into.at < 0 || d.ratio > into.ratio)) into.ratio = d.ratio, into.at = d.at;
  into.rounded = into.rounded && d.rounded;
  into.overflows += d.overflows;
}

/// Where one of both is not finite: equal specials are right, and anything is where the noisy evaluations
/// have both numbers and specials. An exact value that the type cannot hold, given what rounding may add to
/// it, may be infinite.
bool same_special(double result, double exact, double explained, double largest, Deviation& d) {
  if (result == exact || (std::isnan(exact) && std::isnan(result)) || std::isinf(explained)) return true;
  const bool overflow = std::isinf(result) && std::isfinite(exact) &&
                        std::signbit(result) == std::signbit(exact) && std::abs(exact) + explained >= largest;
  d.overflows += overflow;
  return overflow;
}

Deviation deviation(const Tensor& result, const Tensor& exact, const Tensor& explained, DType declared) {
  const double u = unit_roundoff(declared);
  const FloatRange range = float_range(declared);
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = explained.data<double>();
  Deviation total;
  std::mutex mutex;
  parallel_for(exact.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    Deviation d;
    for (int64_t i = first; i < last; ++i) {
      double error = std::abs(r[i] - y[i]), ratio = 0;
      if (!std::isfinite(r[i]) || !std::isfinite(y[i])) {
        if (same_special(r[i], y[i], e[i], range.largest * (1 - u), d)) continue;
        error = ratio = HUGE_VAL;
      } else if (error > 0) {
        ratio = e[i] > 0 ? error / e[i] : HUGE_VAL;
        if (error > u * std::abs(y[i]) * (1 + u) + range.smallest) d.rounded = false;
      }
      if (error > d.max_error) d.max_error = error, d.exact = y[i];
      if (ratio > d.ratio || d.at < 0) d.ratio = ratio, d.at = i;
    }
    if (std::isinf(d.max_error)) d.rounded = false;
    const std::lock_guard lock(mutex);
    merge(total, d);
  });
  return total;
}

void judge_floats(const Tensor& result, std::span<const Tensor> lanes, DType declared, ArbiterVerdict& out) {
  const Tensor explained = explained_by_noise(lanes, unit_roundoff(declared), float_range(declared).smallest);
  const Tensor wide = to_float64(result);
  const Deviation d = deviation(wide, lanes[0], explained, declared);
  out.max_error = d.max_error;
  out.exact = d.exact;
  out.worst_ratio = d.ratio;
  out.worst_at = d.at;
  out.overflows = d.overflows;
  if (d.at >= 0) {
    out.worst_exact = lanes[0].data<double>()[d.at];
    out.worst_result = wide.data<double>()[d.at];
    out.worst_error = std::abs(out.worst_result - out.worst_exact);
    out.worst_explained = explained.data<double>()[d.at];
  }
  out.verdict = d.ratio > 1 ? Verdict::kWrong : d.rounded ? Verdict::kAgrees : Verdict::kRounding;
}

struct Differences {
  int64_t count = 0, first = -1;
};

/// Elements that differ between two tensors of one type and shape that holds no floats.
Differences differences(const Tensor& a, const Tensor& b) {
  Differences d;
  const auto scan = [&](auto differs) {
    for (int64_t i = 0; i < a.numel(); ++i) {
      if (!differs(i)) continue;
      if (d.count++ == 0) d.first = i;
    }
  };
  if (a.dtype() == DType::kString) {
    scan([x = a.span<std::string>(), y = b.span<std::string>()](int64_t i) {
      return x[static_cast<size_t>(i)] != y[static_cast<size_t>(i)];
    });
  } else if (is_packed(a.dtype())) {
    return differences(convert(a, DType::kInt8), convert(b, DType::kInt8));
  } else {
    const auto size = static_cast<int64_t>(bit_width(a.dtype()) / 8);
    scan([=, x = static_cast<const char*>(a.data()), y = static_cast<const char*>(b.data())](int64_t i) {
      return !std::equal(x + i * size, x + (i + 1) * size, y + i * size);
    });
  }
  return d;
}

/// Integers, booleans and strings: equal, or no more often different than the noisy evaluations are.
void judge_exact(const Tensor& result, std::span<const Tensor> lanes, ArbiterVerdict& out) {
  const Differences d = differences(result, lanes[0]);
  if (d.count == 0) return;
  int64_t undecided = 0;
  for (const Tensor& lane : lanes.subspan(1))
    undecided = std::max(undecided, differences(lane, lanes[0]).count);
  out.worst_at = d.first;
  const bool explained = static_cast<double>(d.count) <= kExplainedFactor * static_cast<double>(undecided);
  out.verdict = explained ? Verdict::kRounding : Verdict::kWrong;
  out.problem = fmt::format("{} of {} values differ", d.count, result.numel());
  if (undecided > 0) out.problem += fmt::format(", where rounding decides about {}", undecided);
}

}  // namespace

ArbiterVerdict judge_result(const std::string& runner, const std::string& output, const StoredTensor& result,
                            std::span<const Tensor> lanes, DType declared) {
  const Tensor& exact = lanes[0];
  ArbiterVerdict out{
      .runner = runner, .output = output, .problem = {}, .dtype = result.dtype(), .shape = exact.shape()};
  const bool comparable =
      std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) { return t.shape() == exact.shape(); });
  // The lanes hold floats as float64; what is declared no type is as good in any.
  const DType expected = is_float(exact.dtype()) ? declared : exact.dtype();
  if (expected == DType::kUndefined ? !is_float(result.dtype()) : result.dtype() != expected) {
    out.verdict = Verdict::kWrong;
    out.problem = fmt::format("its type is {}, not {}", dtype_name(result.dtype()),
                              expected == DType::kUndefined ? "a floating one" : dtype_name(expected));
  } else if (result.shape() != exact.shape()) {
    // Where rounding decides the shape itself, another shape is not an error.
    out.verdict = comparable ? Verdict::kWrong : Verdict::kRounding;
    out.problem = fmt::format("its shape is {}, not {}", result.shape().str(), exact.shape().str());
  } else if (!comparable) {
    out.verdict = Verdict::kRounding;
    out.problem = "rounding decides its shape, so its values cannot be judged";
  } else if (is_float(exact.dtype())) {
    judge_floats(result.load(), lanes, result.dtype(), out);
  } else {
    judge_exact(result.load(), lanes, out);
  }
  return out;
}

double ratio_to_bound(const Tensor& result, const Tensor& exact, const Tensor& bound, DType declared) {
  const double u = unit_roundoff(declared), floor = float_range(declared).smallest;
  const Tensor storing = map_elements<double>(exact, [=](double y) { return u * std::abs(y) + floor; });
  return deviation(result, exact,
                   map_broadcast<double>(storing, bound, [](double a, double b) { return a + b; }), declared)
      .ratio;
}

}  // namespace assay
