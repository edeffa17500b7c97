#include "arbiter/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "tensor/convert.h"

namespace assay {
namespace {

/// Errors that are so much alike have one cause.
constexpr double kFitted = 0.02;
/// Beyond so many tolerances an element is another one.
constexpr double kFarOff = 10;
/// So many elements do not lie on a line by chance.
constexpr int64_t kMinOfBlock = 8;
/// Farther than this from its ends an axis is no border.
constexpr int64_t kWidestBorder = 4;
/// Tensors beyond this are looked at in part.
constexpr int64_t kMaxElements = int64_t{1} << 22;

/// The elements that are wrong, by their row-major positions.
struct WrongElements {
  std::vector<double> y, r;
  std::vector<int64_t> at;
  Shape shape;
  double explained = 0;

  int64_t count() const { return static_cast<int64_t>(at.size()); }
  int64_t index(int64_t position, size_t axis) const {
    for (size_t d = shape.size(); d-- > axis + 1;) position /= shape[d];
    return position % shape[axis];
  }
  double tolerance(double b) const { return 2 * explained + 1e-6 * std::abs(b); }
  bool is_close(double a, double b) const { return std::abs(a - b) <= tolerance(b); }
  /// Whether most are so far off that a likeness to other elements says something: among many elements
  /// there is always one nearby.
  bool are_far_off() const {
    return 2 * std::count_if(at.begin(), at.end(),
                             [this](int64_t i) {
                               const auto p = static_cast<size_t>(i);
                               return !(std::abs(r[p] - y[p]) <= kFarOff * tolerance(y[p]));
                             }) >
           count();
  }
  /// What is explained of one element may be little beside what is of another: of more than `most` the
  /// largest errors are the wrong ones.
  void keep_largest(int64_t most) {
    if (most <= 0 || count() <= most) return;
    const auto error = [&](int64_t i) {
      const double e = std::abs(r[static_cast<size_t>(i)] - y[static_cast<size_t>(i)]);
      return std::isnan(e) ? HUGE_VAL : e;
    };
    std::nth_element(at.begin(), at.begin() + most, at.end(),
                     [&](int64_t a, int64_t b) { return error(a) > error(b); });
    at.resize(static_cast<size_t>(most));
    std::sort(at.begin(), at.end());
  }
};

std::string specials(const WrongElements& w) {
  int64_t nans = 0, infinities = 0;
  for (const int64_t i : w.at) {
    nans += std::isnan(w.r[static_cast<size_t>(i)]);
    infinities += std::isinf(w.r[static_cast<size_t>(i)]);
  }
  if (nans + infinities == 0) return {};
  return fmt::format("{} NaN, {} infinite", nans, infinities);
}

/// Whether the errors of all elements are a linear function of their exact values.
bool is_on_a_line(std::span<const double> y, std::span<const double> r, double explained) {
  const auto n = static_cast<double>(y.size());
  double mean_y = 0, mean_e = 0, both = 0, square = 0, largest = 0;
  for (size_t i = 0; i < y.size(); ++i) mean_y += y[i] / n, mean_e += (r[i] - y[i]) / n;
  for (size_t i = 0; i < y.size(); ++i) {
    both += (y[i] - mean_y) * (r[i] - y[i] - mean_e), square += (y[i] - mean_y) * (y[i] - mean_y);
    largest = std::max(largest, std::abs(r[i] - y[i]));
  }
  const double slope = square > 0 ? both / square : 0;
  for (size_t i = 0; i < y.size(); ++i)
    if (!(std::abs(r[i] - y[i] - mean_e - slope * (y[i] - mean_y)) <= std::max(kFitted * largest, explained)))
      return false;
  return true;
}

std::string one_factor(const WrongElements& w) {
  const auto whole = static_cast<int64_t>(w.y.size());
  if (w.count() < 4 || w.count() * 4 < whole) return {};
  std::vector<double> factors, offsets;
  for (const int64_t i : w.at) {
    const auto p = static_cast<size_t>(i);
    if (w.y[p] != 0) factors.push_back(w.r[p] / w.y[p]);
    offsets.push_back(w.r[p] - w.y[p]);
  }
  const auto middle = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  const auto fits = [&](auto expected) {
    return std::all_of(w.at.begin(), w.at.end(), [&](int64_t i) {
      const auto p = static_cast<size_t>(i);
      return std::abs(w.r[p] - expected(w.y[p])) <=
             std::max(kFitted * std::abs(w.r[p] - w.y[p]), w.explained);
    });
  };
  if (!factors.empty()) {
    const double f = middle(factors);
    if (fits([f](double y) { return f * y; }))
      return fmt::format("every one is {:.7g} times the exact value", f);
  }
  const double d = middle(offsets);
  if (fits([d](double y) { return y + d; })) return fmt::format("every one is off by {:.6g}", d);
  return {};
}

/// Blocks of trailing dimensions, each of whose elements move away from one number by a factor of the block.
std::string factor_by_block(const WrongElements& w) {
  const auto whole = static_cast<int64_t>(w.y.size());
  if (w.count() * 4 < whole) return {};
  int64_t block = 1;
  for (size_t d = w.shape.size(); d-- > 1;) {
    block *= w.shape[d];
    if (block < kMinOfBlock || whole / block < 2) continue;
    bool fits = true;
    for (int64_t first = 0; first < whole && fits; first += block)
      fits = is_on_a_line(std::span(w.y).subspan(static_cast<size_t>(first), static_cast<size_t>(block)),
                          std::span(w.r).subspan(static_cast<size_t>(first), static_cast<size_t>(block)),
                          w.explained);
    if (fits) return fmt::format("every block of {} elements has a factor of its own", block);
  }
  return {};
}

/// The result moved by one along an axis.
std::string shifted(const WrongElements& w) {
  const auto whole = static_cast<int64_t>(w.y.size());
  int64_t inner = 1;
  for (size_t d = w.shape.size(); d-- > 0; inner *= w.shape[d + 0]) {
    const int64_t extent = w.shape[d];
    if (extent < 3) continue;
    for (const int64_t step : {-1, 1}) {
      int64_t seen = 0, same = 0;
      for (int64_t i = 0; i < whole; ++i) {
        const int64_t k = i / inner % extent + step;
        if (k < 0 || k >= extent) continue;
        ++seen;
        same += w.is_close(w.r[static_cast<size_t>(i)], w.y[static_cast<size_t>(i + step * inner)]);
      }
      if (seen > 0 && same == seen) return fmt::format("the exact values, shifted by one along axis {}", d);
    }
  }
  return {};
}

std::string reordered(const WrongElements& w) {
  std::vector<double> a = w.y, b = w.r;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const bool same =
      std::equal(a.begin(), a.end(), b.begin(), [&](double x, double y) { return w.is_close(x, y); });
  return same && a.front() != a.back() ? "the exact values in another order" : "";
}

/// Bits of the significand that no value uses.
std::string narrowed(const WrongElements& w, DType dtype) {
  if (dtype != DType::kFloat32 || w.count() < 8) return {};
  const auto all_in = [&](DType narrow) {
    const Tensor t = Tensor::vector(w.r);
    return convert(convert(t, narrow), DType::kFloat64).identical(t);
  };
  for (const DType narrow : {DType::kBFloat16, DType::kFloat16})
    if (all_in(narrow)) return fmt::format("every value is one that {} has", dtype_name(narrow));
  return {};
}

/// Of images and signals (N, C, ...) that have an inside.
std::string border(const WrongElements& w) {
  if (w.shape.size() < 3) return {};
  int64_t widest = 0, smallest = w.shape[2];
  for (size_t d = 2; d < w.shape.size(); ++d) smallest = std::min(smallest, w.shape[d]);
  for (const int64_t i : w.at) {
    int64_t nearest = smallest;
    for (size_t d = 2; d < w.shape.size(); ++d)
      nearest = std::min({nearest, w.index(i, d), w.shape[d] - 1 - w.index(i, d)});
    widest = std::max(widest, nearest + 1);
  }
  if (widest > kWidestBorder || smallest <= 2 * widest) return {};
  return fmt::format("only within {} of the border", widest);
}

/// Of indices from `low` to `high` along an axis, where that says something.
std::string range_on_axis(int64_t low, int64_t high, int64_t extent, size_t d) {
  const std::string axis = fmt::format("axis {}", d);
  if (low == high && high == extent - 1)
    return fmt::format("only the last index of {} ({} of {})", axis, high, extent);
  if (low == high) return fmt::format("only index {} of {} (of {})", low, axis, extent);
  if (low > 0 && high == extent - 1 && extent - low <= 16 && extent >= 2 * (extent - low))
    return fmt::format("only the last {} of {} along {}: the tail of a vector width?", extent - low, extent,
                       axis);
  return {};
}

std::string place(const WrongElements& w) {
  const auto whole = static_cast<int64_t>(w.y.size());
  if (w.count() == whole) return "every element";
  if (w.count() == 1) return "a single element";
  for (size_t d = 0; d < w.shape.size(); ++d) {
    if (w.shape[d] < 2) continue;
    const auto [first, last] = std::minmax_element(
        w.at.begin(), w.at.end(), [&](int64_t a, int64_t b) { return w.index(a, d) < w.index(b, d); });
    const std::string text = range_on_axis(w.index(*first, d), w.index(*last, d), w.shape[d], d);
    if (!text.empty()) return text;
  }
  if (std::string text = border(w); !text.empty()) return text;
  int64_t stride = 0;
  for (size_t i = 1; i < w.at.size(); ++i) stride = std::gcd(stride, w.at[i] - w.at[i - 1]);
  if (stride > 1 && w.count() >= 3) return fmt::format("every {}th element, from {} on", stride, w.at[0]);
  return {};
}

/// Those of a result that lie farther from the exact ones than the verdict explains.
WrongElements wrong_elements(const StoredTensor& result, const Tensor& exact, const ArbiterVerdict& verdict) {
  const Tensor wide = convert(result.load(), DType::kFloat64);
  WrongElements w;
  w.y.assign(exact.data<double>(), exact.data<double>() + exact.numel());
  w.r.assign(wide.data<double>(), wide.data<double>() + exact.numel());
  w.shape = exact.shape();
  w.explained = std::isfinite(verdict.worst_explained) ? verdict.worst_explained : 0;
  const auto is_right = [&](double r, double y) {
    return std::abs(r - y) <= w.explained || r == y || (std::isnan(r) && std::isnan(y));
  };
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (const auto p = static_cast<size_t>(i); !is_right(w.r[p], w.y[p])) w.at.push_back(i);
  return w;
}

/// What the wrong elements are made of, as far as that shows.
std::string how(const WrongElements& w) {
  std::string text = one_factor(w);
  if (text.empty()) text = factor_by_block(w);
  if (!text.empty() || w.count() <= 1 || !w.are_far_off()) return text;
  text = shifted(w);
  return text.empty() ? reordered(w) : text;
}

}  // namespace

std::string describe_pattern(const StoredTensor& result, const Tensor& exact, const ArbiterVerdict& verdict) {
  if (!is_float(result.dtype()) || exact.dtype() != DType::kFloat64 || result.shape() != exact.shape() ||
      exact.numel() > kMaxElements || exact.numel() == 0)
    return {};
  WrongElements w = wrong_elements(result, exact, verdict);
  if (w.at.empty()) return {};
  w.keep_largest(verdict.beyond);
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  add(place(w));
  const std::string odd = specials(w);
  add(odd);
  if (!odd.empty()) return text;
  add(how(w));
  add(narrowed(w, result.dtype()));
  return text;
}

}  // namespace assay
