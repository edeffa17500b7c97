#include "inspect/constant_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/parallel.h"
#include "tensor/numbers.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBlocksPerTask = 16;

template <typename T>
double distance(T x, T y) {
  if (x == y) return 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) && std::isnan(y)) return 0;
    const double d = std::abs(static_cast<double>(x) - static_cast<double>(y));
    return std::isnan(d) ? kInfinity : d;
  } else {
    const T larger = std::max(x, y), smaller = std::min(x, y);
    return static_cast<double>(static_cast<uint64_t>(larger) - static_cast<uint64_t>(smaller));
  }
}

template <typename T>
double largest_distance(const Numbers& a, const Numbers& b) {
  double largest = 0;
  std::mutex mutex;
  parallel_for(a.block_count(), kBlocksPerTask, [&](int64_t first, int64_t last) {
    Numbers::Scratch scratch_a, scratch_b;
    double mine = 0;
    for (int64_t block = first; block < last; ++block) {
      const auto* x = static_cast<const T*>(a.block(block, scratch_a));
      const auto* y = static_cast<const T*>(b.block(block, scratch_b));
      for (int64_t i = 0; i < a.block_size(block); ++i) mine = std::max(mine, distance(x[i], y[i]));
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, mine);
  });
  return largest;
}

}  // namespace

std::optional<double> max_difference(const UnalignedTensor& a, const UnalignedTensor& b) {
  const auto is_number = [](DType t) { return is_float(t) || is_integer(t) || t == DType::kBool; };
  if (!(a.shape() == b.shape()) || !is_number(a.dtype()) || !is_number(b.dtype())) return std::nullopt;
  const TensorNumbers x(a.aligned()), y(b.aligned());
  if (x.kind() != y.kind()) return std::nullopt;
  return visit_kind(x.kind(), [&]<typename T>() { return largest_distance<T>(x, y); });
}

ConstantDiff diff_constants(const Value& a, const Value& b) {
  ConstantDiff d;
  const UnalignedTensor &x = a.tensor(), &y = b.tensor();
  const auto text = [](const Value& v) {
    return v.type.str() + (v.tensor().defined() ? "" : " without data");
  };
  if (!x.defined() || !y.defined()) {
    d.is_same = !x.defined() && !y.defined() && a.type == b.type;
  } else {
    d.is_same = x.identical(y);
    if (!d.is_same) d.max_difference = max_difference(x, y);
  }
  d.before = text(a);
  d.after = text(b);
  return d;
}

}  // namespace assay
