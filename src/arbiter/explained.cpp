#include "arbiter/explained.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

/// Elements whose spreads are pooled at least: trailing dimensions are taken until they hold so many.
constexpr int64_t kPoolElements = 64;
/// An element whose spread is so many times (squared) the usual one among its neighbours has jumped: it says
/// nothing of them.
constexpr double kJump = 1e4;
/// Results below the normal numbers may be flushed to zero at every step through a network.
constexpr double kFlushes = 1024;

int64_t pool_size(const Shape& shape) {
  int64_t n = 1;
  for (size_t i = shape.size(); i-- > 0 && n < kPoolElements;) n *= shape[i];
  return std::max<int64_t>(n, 1);
}

/// The mean square of the distances of the noisy lanes from the exact value, of those that are numbers.
/// Infinite where none is. Where the exact value is no number there are no distances.
double mean_square(std::span<const Tensor> lanes, int64_t i) {
  const double y = lanes[0].data<double>()[i];
  if (lanes.size() < 2 || !std::isfinite(y)) return 0;
  double sum = 0;
  int count = 0;
  for (const Tensor& lane : lanes.subspan(1)) {
    const double d = lane.data<double>()[i] - y;
    if (!std::isfinite(d)) continue;
    sum += d * d;
    ++count;
  }
  return count > 0 ? sum / count : HUGE_VAL;
}

unsigned kind_of(double x) {
  if (std::isnan(x)) return kNotANumber;
  if (std::isinf(x)) return x > 0 ? kPlusInfinity : kMinusInfinity;
  return kNumber;
}

/// The numbers among the lanes at an element: their mean, and the largest distance from it.
struct Numbers {
  Numbers(std::span<const Tensor> lanes, int64_t i) {
    double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
    int count = 0;
    for (const Tensor& lane : lanes.subspan(1)) {
      const double x = lane.data<double>()[i];
      if (!std::isfinite(x)) continue;
      sum += x, low = std::min(low, x), high = std::max(high, x);
      ++count;
    }
    if (count == 0) return;
    mean = sum / count;
    distance = std::max(high - mean, mean - low);
  }
  double mean = std::nan(""), distance = 0;
};

bool has_special(const Tensor& t) {
  std::atomic<bool> any = false;
  const double* x = t.data<double>();
  parallel_for(t.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    int special = 0;
#pragma omp simd reduction(+ : special)
    for (int64_t i = first; i < last; ++i) special += std::abs(x[i]) < HUGE_VAL ? 0 : 1;
    if (special > 0) any = true;
  });
  return any;
}

bool have_special(std::span<const Tensor> lanes) {
  return std::ranges::any_of(lanes, [&](const Tensor& t) {
    return (&t == &lanes[0] || !t.shares_storage(lanes[0])) && has_special(t);
  });
}

/// Fills in what the lanes show beside numbers next to an exact number.
void set_others(std::span<const Tensor> lanes, double u, double factor, Explained& out) {
  if (!have_special(lanes)) return;
  out.others = Tensor::zeros(DType::kFloat64, lanes[0].shape());
  out.another = Tensor::allocate(DType::kFloat64, lanes[0].shape());
  out.room = Tensor::zeros(DType::kFloat64, lanes[0].shape());
  auto *bits = out.others.mutable_data<double>(), *another = out.another.mutable_data<double>(),
       *room = out.room.mutable_data<double>();
  for (int64_t i = 0; i < lanes[0].numel(); ++i) {
    another[i] = std::nan("");
    const unsigned exact = kind_of(lanes[0].data<double>()[i]);
    unsigned others = 0;
    for (const Tensor& lane : lanes.subspan(1)) others |= kind_of(lane.data<double>()[i]);
    if ((others & ~exact) == 0) continue;
    bits[i] = (others & kNumber) == 0 && exact == kNumber ? others | kUntold : others;
    if (exact == kNumber || (others & kNumber) == 0) continue;
    const Numbers numbers(lanes, i);
    another[i] = numbers.mean;
    room[i] = factor * (numbers.distance + u * std::abs(numbers.mean));
  }
}

/// The same of sums that may overflow.
void add_overflow(const NodeError& error, double u, Explained& out) {
  if (!error.overflow.defined()) return;
  out.others = !out.others.defined()
                   ? error.overflow
                   : map_broadcast<double>(out.others, error.overflow, [](double a, double b) -> double {
                       return static_cast<unsigned>(a) | static_cast<unsigned>(b);
                     });
  if (!error.collapsed.defined() || out.another.defined()) return;
  out.another = map_broadcast<double>(error.collapsed, error.overflow,
                                      [](double x, double bits) { return bits != 0 ? x : std::nan(""); });
  out.room = map_elements<double>(error.collapsed, [u](double x) { return kOwnFactor * u * std::abs(x); });
}

double median(std::vector<double>& x) {
  if (x.empty()) return 0;
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

/// Mean squares of the elements that are finite and have not jumped.
struct Pool {
  double spread = 0, value = 0;
};

Pool measure_pool(std::span<const double> squares, std::span<const double> y) {
  std::vector<double> moving;
  for (const double s : squares)
    if (s > 0 && std::isfinite(s)) moving.push_back(s);
  const double most = kJump * median(moving);
  Pool pool;
  for (size_t i = 0; i < squares.size(); ++i) {
    if (squares[i] <= most) pool.spread += squares[i];
    if (std::isfinite(y[i])) pool.value += y[i] * y[i];
  }
  pool.spread /= static_cast<double>(squares.size());
  pool.value /= static_cast<double>(squares.size());
  return pool;
}

/// Writes each element's mean square of the distances to `squares`; pool p holds elements [p * size, ...).
std::vector<Pool> measure_pools(std::span<const Tensor> lanes, int64_t size, double* squares) {
  const double* y = lanes[0].data<double>();
  const int64_t count = lanes[0].numel();
  std::vector<Pool> pools(static_cast<size_t>((count + size - 1) / size));
  parallel_for(static_cast<int64_t>(pools.size()), std::max<int64_t>(1, kElementGrain / size),
               [&](int64_t first, int64_t last) {
                 for (int64_t p = first; p < last; ++p) {
                   const int64_t begin = p * size, end = std::min(count, begin + size);
                   for (int64_t i = begin; i < end; ++i) squares[i] = mean_square(lanes, i);
                   const auto n = static_cast<size_t>(end - begin);
                   pools[static_cast<size_t>(p)] = measure_pool({squares + begin, n}, {y + begin, n});
                 }
               });
  return pools;
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
    absolute = median(spreads);
    relative = median(ratios);
  }
  /// At the size of a pool's values.
  double at(const Pool& p) const { return std::min(absolute, relative * p.value); }
};

/// Spread of each element. Few lanes estimate the spread of elements whose errors have one source badly,
/// pooled or not; then the tensor's helps.
Tensor spread(std::span<const Tensor> lanes) {
  Tensor out = Tensor::allocate(DType::kFloat64, lanes[0].shape());
  auto* e = out.mutable_data<double>();
  const int64_t size = pool_size(out.shape()), count = out.numel();
  const std::vector<Pool> pools = measure_pools(lanes, size, e);
  const TypicalSpread typical(pools);
  parallel_for(count, kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Pool& pool = pools[static_cast<size_t>(i / size)];
      e[i] = std::sqrt(std::max({e[i], pool.spread, typical.at(pool)}));
    }
  });
  return out;
}

/// Whether results below the normal numbers are kept or flushed to zero is the backend's choice. In float16
/// they are kept by all that compute in float32.
bool keeps_subnormals(DType dtype) { return dtype == DType::kFloat16; }

bool differ(std::span<const Tensor> lanes) {
  return std::any_of(lanes.begin(), lanes.end(),
                     [&](const Tensor& t) { return !t.shares_storage(lanes[0]); });
}

}  // namespace

double explained_steps(double spread, double factor) {
  constexpr double kNearly = 1e-9;  // of a step, that squares and roots lose
  return std::max(1.0, std::floor(factor * std::min(spread * spread, spread) + kNearly));
}

Explained explained_by_spread(std::span<const Tensor> lanes, DType dtype, double factor, const Tensor& step) {
  const FloatRange range = float_range(dtype);
  const double u = unit_roundoff(dtype),
               floor = dtype == DType::kFloat16 ? range.smallest : kFlushes * range.normal;
  const Tensor sigma = spread(lanes);
  Explained out{
      .most = map_broadcast<double>(
          sigma, lanes[0],
          [=](double s, double y) { return std::isfinite(y) ? factor * s + u * std::abs(y) + floor : s; }),
      .possible = {}};
  if (step.defined()) {
    // Below that it is the product with the scale that is rounded.
    constexpr double kJumps = 0.01;
    const Tensor steps = map_broadcast<double>(sigma, step, [=](double s, double d) {
      return std::isfinite(s) && s > kJumps * d ? d * (explained_steps(s / d, factor) + kJumps) : HUGE_VAL;
    });
    out.most = map_broadcast<double>(out.most, steps, [](double e, double s) { return std::min(e, s); });
  }
  set_others(lanes, u, factor, out);
  return out;
}

namespace {

/// Of a node that rounds nothing: what is below the normal numbers may be zero, and inputs may have been
/// others.
Explained explained_without_rounding(std::span<const Tensor> lanes, DType dtype, bool keeps_numbers) {
  const Tensor& y = lanes[0];
  const FloatRange range = float_range(dtype);
  const bool keeps = keeps_subnormals(dtype);
  Explained out{.most = map_elements<double>(
                    y, [=](double x) { return std::abs(x) < range.normal && !keeps ? std::abs(x) : 0; }),
                .possible = {}};
  out.possible = out.most;
  if (!differ(lanes)) return out;
  Tensor moved = map_broadcast<double>(spread(lanes), y, [](double s, double) { return kInputFactor * s; });
  // Rounded, what it gives for numbers is what it gives for rounded numbers. A unit is left for backends
  // that compute a number twice, for the next node and to show it.
  if (const double u = unit_roundoff(dtype); keeps_numbers)
    moved = map_broadcast<double>(
        moved, y, [=](double m, double x) { return std::min(m, 2 * u * std::abs(x) + range.smallest); });
  out.most = map_broadcast<double>(out.most, moved, [](double e, double m) { return e + m; });
  out.possible = out.most;
  return out;
}

/// How far the inputs may move each element; undefined where they are known to be what they were.
Tensor moved_by_inputs(std::span<const Tensor> lanes, const Tensor& reach) {
  if (!differ(lanes)) return {};
  if (reach.defined() && reach.shape() == lanes[0].shape()) return reach;
  return map_elements<double>(spread(lanes), [](double s) { return kInputFactor * s; });
}

Tensor in_shape_of(const Tensor& y, const Tensor& t) {
  return t.shape() == y.shape() ? t : map_broadcast<double>(t, y, [](double e, double) { return e; });
}

/// A bound that special inputs make no number of says nothing.
double or_all(double bound, double y) { return std::isnan(bound) && std::isfinite(y) ? HUGE_VAL : bound; }

/// What is explained of the elements of a node that rounds, one after the other.
struct NodeElements {
  const double *y, *worst, *expected;
  const double* moved;  ///< by the inputs; null: not at all
  double floor, u;

  double possible(int64_t i) const {
    return or_all(worst[i] + floor, y[i]) + (moved == nullptr ? 0 : moved[i]);
  }
  double most(int64_t i) const {
    const double own = or_all(std::min(kOwnFactor * expected[i] + floor, worst[i] + floor), y[i]);
    if (moved == nullptr) return own;
    // A result that these inputs give exactly is rounded all the same where they were others.
    const double once = std::min(worst[i], u * std::abs(y[i]));
    return (std::isnan(once) ? own : std::max(own, once)) + moved[i];
  }
};

}  // namespace

Explained explained_by_node(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                            bool keeps_numbers, const Tensor& reach) {
  const Tensor& y = lanes[0];
  const FloatRange range = float_range(dtype);
  const bool rounds = error.worst.defined();
  Explained out = rounds ? Explained{.most = Tensor::allocate(DType::kFloat64, y.shape()),
                                     .possible = Tensor::allocate(DType::kFloat64, y.shape())}
                         : explained_without_rounding(lanes, dtype, keeps_numbers);
  if (differ(lanes)) set_others(lanes, unit_roundoff(dtype), kInputFactor, out);
  add_overflow(error, unit_roundoff(dtype), out);
  if (!rounds) return out;
  const Tensor worst = in_shape_of(y, error.worst), expected = in_shape_of(y, error.expected),
               moved = moved_by_inputs(lanes, reach);
  const NodeElements elements{
      .y = y.data<double>(),
      .worst = worst.data<double>(),
      .expected = expected.data<double>(),
      .moved = moved.defined() ? moved.data<double>() : nullptr,
      // Exponentials are made as 2^n p with p above 1/sqrt(2): 2^n may be flushed where the result is normal.
      .floor = keeps_subnormals(dtype) ? range.smallest : range.normal * std::max(error.operations, 2.0),
      .u = unit_roundoff(dtype)};
  auto *most = out.most.mutable_data<double>(), *possible = out.possible.mutable_data<double>();
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const bool is_number = std::isfinite(elements.y[i]);  // nothing is next to what is none
      most[i] = is_number ? elements.most(i) : 0;
      possible[i] = is_number ? elements.possible(i) : 0;
    }
  });
  return out;
}

Tensor explained_when_computed_wider(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                                     const Tensor& reach) {
  const double u = unit_roundoff(dtype), wider = unit_roundoff(DType::kFloat32) / u;
  if (wider >= 1 || !error.expected.defined()) return {};
  const double floor = float_range(dtype).smallest;
  const double own = kOwnFactor * (error.in_float32.defined() ? 1 : wider);
  Tensor out =
      map_broadcast<double>(lanes[0], error.in_float32.defined() ? error.in_float32 : error.expected,
                            [=](double y, double e) { return u * std::abs(y) * (1 + u) + own * e + floor; });
  if (!differ(lanes)) return out;
  if (reach.defined() && reach.shape() == out.shape())
    return map_broadcast<double>(out, reach, [](double e, double r) { return e + r; });
  return map_broadcast<double>(out, spread(lanes), [](double e, double s) { return e + kInputFactor * s; });
}

Tensor spread_when_computed_wider(std::span<const Tensor> lanes, std::span<const Tensor> moved, DType dtype) {
  const double u = unit_roundoff(dtype), wider = unit_roundoff(DType::kFloat32) / u;
  if (wider >= 1 || lanes.size() < 2) return {};
  const double floor = float_range(dtype).smallest;
  Tensor out = map_broadcast<double>(lanes[0], spread(lanes), [=](double y, double s) {
    return u * std::abs(y) * (1 + u) + kExplainedFactor * wider * s + floor;
  });
  if (moved.empty()) return out;
  std::vector<Tensor> inputs{lanes[0]};
  inputs.insert(inputs.end(), moved.begin(), moved.end());
  return map_broadcast<double>(out, spread(inputs), [](double e, double s) { return e + kInputFactor * s; });
}

}  // namespace assay
