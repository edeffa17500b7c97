#include "tensor/statistics_radix.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/parallel.h"

namespace assay::internal {
namespace {

constexpr int kDigitBits = 11;          // of one histogram
constexpr int64_t kFewElements = 2048;  // are sorted directly

/// Unsigned integers that are ordered as the numbers are. -0 and 0 have the same key; NaN must not occur.
template <typename T>
struct SortKey;
template <>
struct SortKey<float> {
  using Type = uint32_t;
  static Type of(float x) {
    const auto bits = std::bit_cast<uint32_t>(x + 0.0f);
    return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
  }
  static double value(Type key) { return std::bit_cast<float>(key & 0x80000000u ? key ^ 0x80000000u : ~key); }
};
template <>
struct SortKey<double> {
  using Type = uint64_t;
  static constexpr uint64_t kSign = uint64_t{1} << 63;
  static Type of(double x) {
    const auto bits = std::bit_cast<uint64_t>(x + 0.0);
    return bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) | kSign);
  }
  static double value(Type key) { return std::bit_cast<double>(key & kSign ? key ^ kSign : ~key); }
};
template <>
struct SortKey<int64_t> {
  using Type = uint64_t;
  static constexpr uint64_t kSign = uint64_t{1} << 63;
  static Type of(int64_t x) { return static_cast<uint64_t>(x) ^ kSign; }
  static double value(Type key) { return static_cast<double>(static_cast<int64_t>(key ^ kSign)); }
};
template <>
struct SortKey<uint64_t> {
  using Type = uint64_t;
  static Type of(uint64_t x) { return x; }
  static double value(Type key) { return static_cast<double>(key); }
};

/// Narrows, histogram by histogram, the ranges of keys ("rows", numbered in the order of their keys) that
/// contain the wanted ranks, until few enough elements are left to sort them. The row after the last collects
/// all eliminated elements.
template <typename T>
class Selection {
 public:
  using Key = typename SortKey<T>::Type;
  static constexpr int kKeyBits = sizeof(Key) * 8;

  /// Ranks in ascending order.
  Selection(const Numbers& numbers, std::span<const int64_t> ranks)
      : numbers_(numbers), row_sizes_{numbers.size()} {
    for (const int64_t rank : ranks) targets_.push_back({.rank = rank});
  }

  std::vector<double> run() {
    const int64_t few = std::clamp<int64_t>(numbers_.size() / 32, kFewElements, 1 << 20);
    while (candidates() > few && bits_done_ < kKeyBits) narrow(std::min(kDigitBits, kKeyBits - bits_done_));
    if (bits_done_ < kKeyBits) look_at_candidates();
    std::vector<double> values;
    for (const Target& t : targets_) values.push_back(SortKey<T>::value(t.key));
    return values;
  }

 private:
  struct Target {
    size_t row = 0;
    int64_t rank;  ///< among the elements of the row
    Key key = 0;   ///< the leading bits found so far
  };
  /// The result of one histogram: the new row of (old row, digit).
  struct Level {
    int shift, bits;
    std::vector<uint8_t> next;
  };

  int64_t candidates() const {
    int64_t sum = 0;
    for (const int64_t size : row_sizes_) sum += size;
    return sum;
  }

  static size_t digit(Key key, int shift, int bits) {
    return static_cast<size_t>(key >> shift) & ((size_t{1} << bits) - 1);
  }
  size_t row_of(Key key) const {
    size_t row = 0;
    for (const Level& level : levels_)
      row = level.next[(row << level.bits) + digit(key, level.shift, level.bits)];
    return row;
  }

  std::vector<int64_t> count_digits(int shift, int bits) const {
    std::vector<int64_t> counts((row_sizes_.size() + 1) << bits);
    std::mutex mutex;
    parallel_for(numbers_.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> mine(counts.size());
      for_each_block<T>(numbers_, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) {
          const Key key = SortKey<T>::of(p[i]);
          ++mine[(row_of(key) << bits) + digit(key, shift, bits)];
        }
        return true;
      });
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < mine.size(); ++i) counts[i] += mine[i];
    });
    return counts;
  }

  /// Each target moves into the bin of its row that holds its rank.
  void narrow(int bits) {
    constexpr uint8_t kOut = 255;
    const int shift = kKeyBits - bits_done_ - bits;
    const std::vector<int64_t> counts = count_digits(shift, bits);
    Level level{shift, bits, std::vector<uint8_t>(counts.size(), kOut)};
    std::vector<int64_t> sizes;
    size_t bin = 0, row = SIZE_MAX;
    int64_t before = 0;  // elements of the row in the bins before this one
    for (Target& t : targets_) {
      if (t.row != row) {
        row = t.row;
        bin = row << bits;
        before = 0;
      }
      while (t.rank - before >= counts[bin]) before += counts[bin++];
      if (level.next[bin] == kOut) {
        level.next[bin] = static_cast<uint8_t>(sizes.size());
        sizes.push_back(counts[bin]);
      }
      t = {.row = level.next[bin],
           .rank = t.rank - before,
           .key = t.key | static_cast<Key>(bin - (row << bits)) << shift};
    }
    std::replace(level.next.begin(), level.next.end(), kOut, static_cast<uint8_t>(sizes.size()));
    row_sizes_ = std::move(sizes);
    levels_.push_back(std::move(level));
    bits_done_ += bits;
  }

  std::vector<std::vector<Key>> gather_candidates() const {
    std::vector<std::vector<Key>> keys(row_sizes_.size());
    std::mutex mutex;
    parallel_for(numbers_.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
      std::vector<std::vector<Key>> mine(row_sizes_.size());
      for_each_block<T>(numbers_, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) {
          const Key key = SortKey<T>::of(p[i]);
          if (const size_t row = row_of(key); row < mine.size()) mine[row].push_back(key);
        }
        return true;
      });
      const std::lock_guard lock(mutex);
      for (size_t r = 0; r < mine.size(); ++r) keys[r].insert(keys[r].end(), mine[r].begin(), mine[r].end());
    });
    return keys;
  }

  void look_at_candidates() {
    std::vector<std::vector<Key>> keys = gather_candidates();
    size_t row = SIZE_MAX;
    int64_t placed = 0;  // elements of the row that stand in their final place
    for (Target& t : targets_) {
      if (t.row != row) placed = 0;
      row = t.row;
      std::vector<Key>& k = keys[row];
      if (t.rank >= placed) std::nth_element(k.begin() + placed, k.begin() + t.rank, k.end());
      placed = std::max(placed, t.rank + 1);
      t.key = k[static_cast<size_t>(t.rank)];
    }
  }

  const Numbers& numbers_;
  std::vector<Target> targets_;
  std::vector<int64_t> row_sizes_;
  std::vector<Level> levels_;
  int bits_done_ = 0;
};

}  // namespace

std::vector<ValuePair> select_by_radix(const Numbers& numbers, std::span<const RankPair> ranks) {
  std::vector<int64_t> all;
  for (const RankPair& r : ranks) all.insert(all.end(), {r.below, r.above});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::vector<double> values =
      visit_kind(numbers.kind(), [&]<typename T>() { return Selection<T>(numbers, all).run(); });
  const auto value_at = [&](int64_t rank) {
    return values[static_cast<size_t>(std::lower_bound(all.begin(), all.end(), rank) - all.begin())];
  };
  std::vector<ValuePair> pairs;
  for (const RankPair& r : ranks) pairs.push_back({value_at(r.below), value_at(r.above)});
  return pairs;
}

}  // namespace assay::internal
