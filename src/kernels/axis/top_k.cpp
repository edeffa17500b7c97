#include "kernels/axis/top_k.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <compare>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

#include "base/parallel.h"

namespace assay::kernels {
namespace {

constexpr int64_t kGrainOfTopK = 4096;
/// Elements that are asked at once whether any of them may be among the best.
constexpr int64_t kAsked = 64;
/// Lines that lie side by side and are brought into pieces together.
constexpr int64_t kTurned = 16;

/// Element and place as one number: of two the greater comes first.
struct WideRank {
  uint64_t key;
  uint32_t from_end;
  auto operator<=>(const WideRank&) const = default;
};
template <typename T>
using Rank = std::conditional_t<sizeof(T) == 8, WideRank, uint64_t>;

/// Numbers in their order; equal ones have one key, NaN the greatest.
template <typename T>
auto key_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (x != x) return std::numeric_limits<U>::max();
    const U bits = std::bit_cast<U>(x + T(0));  // -0 becomes 0
    constexpr U kSign = U(1) << (8 * sizeof(T) - 1);
    return (bits & kSign) != 0 ? static_cast<U>(~bits) : static_cast<U>(bits | kSign);
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(static_cast<U>(x) ^ (std::is_signed_v<T> ? U(1) << (8 * sizeof(T) - 1) : U(0)));
  }
}

template <typename T>
Rank<T> rank_of(T x, int64_t place, bool largest) {
  const auto key = key_of(x), ordered = static_cast<decltype(key)>(largest ? key : ~key);
  const auto from_end = static_cast<uint32_t>(~static_cast<uint32_t>(place));
  if constexpr (sizeof(T) == 8)
    return {ordered, from_end};
  else
    return static_cast<uint64_t>(ordered) << 32 | from_end;
}
inline int64_t place_in(uint64_t rank) { return ~static_cast<uint32_t>(rank); }
inline int64_t place_in(const WideRank& rank) { return ~rank.from_end; }

/// Whether any of n elements may be better than `worst`, the last of the best so far.
template <typename T>
bool any_better(const T* x, int64_t n, T worst, bool largest) {
  int any = 0;
  if (largest) {
#pragma omp simd reduction(| : any)
    for (int64_t i = 0; i < n; ++i) any |= static_cast<int>(!(x[i] <= worst));
  } else {
#pragma omp simd reduction(| : any)
    for (int64_t i = 0; i < n; ++i) any |= static_cast<int>(!(x[i] >= worst));
  }
  return any != 0;
}

/// So many are kept as a heap; more are gathered, and cut back when there are twice as many.
constexpr int64_t kMaxOfHeap = 96;

/// The first k elements are in `best`: those of the rest that are better take the place of the worst.
template <typename T>
void replace_worst(const T* x, int64_t extent, int64_t k, bool largest, std::vector<Rank<T>>& best) {
  const std::greater<> before;
  std::make_heap(best.begin(), best.end(), before);
  T worst = x[place_in(best.front())];
  for (int64_t first = k; first < extent; first += kAsked) {
    const int64_t n = std::min(kAsked, extent - first);
    if (!any_better(x + first, n, worst, largest)) continue;
    for (int64_t i = first; i < first + n; ++i) {
      const Rank<T> rank = rank_of(x[i], i, largest);
      if (!(rank > best.front())) continue;
      std::pop_heap(best.begin(), best.end(), before);
      best.back() = rank;
      std::push_heap(best.begin(), best.end(), before);
    }
    worst = x[place_in(best.front())];
  }
}

/// The same for many, which are not in order then.
template <typename T>
void gather_better(const T* x, int64_t extent, int64_t k, bool largest, std::vector<Rank<T>>& best) {
  const auto kept = static_cast<size_t>(k);
  const auto cut = [&] {
    std::nth_element(best.begin(), best.begin() + k - 1, best.end(), std::greater<>());
    best.resize(kept);
  };
  cut();
  Rank<T> limit = best.back();
  T worst = x[place_in(limit)];
  for (int64_t first = k; first < extent; first += kAsked) {
    const int64_t n = std::min(kAsked, extent - first);
    if (!any_better(x + first, n, worst, largest)) continue;
    for (int64_t i = first; i < first + n; ++i)
      if (const Rank<T> rank = rank_of(x[i], i, largest); rank > limit) best.push_back(rank);
    if (best.size() <= 2 * kept) continue;
    cut();
    limit = best.back();
    worst = x[place_in(limit)];
  }
  cut();
}

/// Ranks of the k best of a line in one piece, best first. `best` keeps its memory.
template <typename T>
void select_line(const T* x, int64_t extent, int64_t k, bool largest, std::vector<Rank<T>>& best) {
  best.clear();
  for (int64_t i = 0; i < k; ++i) best.push_back(rank_of(x[i], i, largest));
  if (k < extent)
    k <= kMaxOfHeap ? replace_worst(x, extent, k, largest, best) : gather_better(x, extent, k, largest, best);
  std::sort(best.begin(), best.end(), std::greater<>());
}

/// Lines [first, last) beside each other in one part.
template <typename T>
void select_lines(const AxisWalk& w, int64_t k, bool largest, const T* x, T* values, int64_t* places,
                  int64_t first, int64_t last, std::vector<T>& turned, std::vector<Rank<T>>& best) {
  const int64_t lines = last - first, part = first / w.inner, column = first % w.inner;
  const T* from = x + part * w.extent * w.inner + column;
  if (w.inner > 1) {
    turned.resize(static_cast<size_t>(lines * w.extent));
    for (int64_t j = 0; j < w.extent; ++j)
      for (int64_t i = 0; i < lines; ++i)
        turned[static_cast<size_t>(i * w.extent + j)] = from[j * w.inner + i];
    from = turned.data();
  }
  for (int64_t i = 0; i < lines; ++i) {
    const T* const line = from + i * w.extent;
    select_line(line, w.extent, k, largest, best);
    const int64_t base = part * k * w.inner + column + i;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t place = place_in(best[static_cast<size_t>(j)]);
      places[base + j * w.inner] = place;
      values[base + j * w.inner] = line[place];
    }
  }
}

}  // namespace

bool top_k(const AxisWalk& walk, DType type, int64_t k, bool largest, const void* x, void* values,
           int64_t* places) noexcept {
  if (walk.lines() == 0 || k == 0) return true;
  const int64_t at_once = std::min(kTurned, walk.inner), groups = (walk.inner + at_once - 1) / at_once;
  std::atomic<bool> has_memory = true;
  visit_number(type, [&](auto e) {
    using T = decltype(e);
    parallel_for(walk.outer * groups, std::max<int64_t>(1, kGrainOfTopK / (walk.extent * at_once)),
                 [&](int64_t first, int64_t last) {
                   try {
                     std::vector<T> turned;
                     std::vector<Rank<T>> best;
                     for (int64_t g = first; g < last; ++g) {
                       const int64_t line = g / groups * walk.inner + g % groups * at_once;
                       const int64_t end = std::min(line + at_once, (g / groups + 1) * walk.inner);
                       select_lines(walk, k, largest, static_cast<const T*>(x), static_cast<T*>(values),
                                    places, line, end, turned, best);
                     }
                   } catch (const std::bad_alloc&) {
                     has_memory.store(false, std::memory_order_relaxed);
                   }
                 });
  });
  return has_memory.load();
}

}  // namespace assay::kernels
