// Order statistics in a single pass: a sample brackets each wanted rank, the pass counts elements below and
// gathers those inside; internal to statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "tensor/numbers.h"
#include "tensor/statistics_radix.h"

namespace assay::internal {

/// Ranges of values that probably contain the wanted ranks. Each thread scans with a copy of its own; merge()
/// combines them; values() tells whether the brackets contained the ranks.
template <typename T>
class Brackets {
 public:
  static constexpr size_t kMax = 5;
  /// Below this a sample is not worthwhile.
  static constexpr int64_t kMinElements = 4096;
  /// Elements gathered at most, in all threads together; more means that the sample was misleading.
  static constexpr size_t kMaxGathered = size_t{1} << 23;

  Brackets() = default;

  /// Brackets for at most kMax rank pairs; none when a sampled element is NaN or there are few elements.
  static Brackets from_sample(const Numbers& numbers, std::span<const RankPair> ranks);

  void scan(const T* p, int64_t n);
  void merge(const Brackets& other);
  /// The elements at the ranks that the brackets were made for; nothing when a rank is outside its bracket.
  std::optional<std::vector<ValuePair>> values(std::span<const RankPair> ranks) const;

 private:
  /// As wide as T, and of a kind that SSE2 can select by comparing T: counts within a block, and for each
  /// element the number of brackets that contain it.
  using Mask = std::conditional_t<std::is_same_v<T, double>, double,
                                  std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
  /// Counts of elements on either side of the limits. Those that equal a limit are only counted: a sample
  /// puts its limits on values that occur in masses.
  struct Bracket {
    T low, high;
    int64_t below_low = 0, upto_low = 0;    ///< x < low, x <= low
    int64_t below_high = 0, upto_high = 0;  ///< x < high, x <= high
  };

  template <bool kGathers>
  void count(Bracket& bracket, const T* p, int64_t n, Mask* inside) const;
  void gather(const T* p, const Mask* inside, int64_t n);

  std::vector<Bracket> brackets_;
  std::vector<T> gathered_;  ///< all elements strictly inside any bracket
  bool overflowed_ = false;
};

extern template class Brackets<float>;
extern template class Brackets<double>;
extern template class Brackets<int64_t>;
extern template class Brackets<uint64_t>;

}  // namespace assay::internal
