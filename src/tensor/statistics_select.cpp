#include "tensor/statistics_select.h"

#include <algorithm>
#include <mutex>

#include "base/parallel.h"

namespace assay::internal {
namespace {

constexpr int kDigitBits = 11;  // of the histograms after the first
constexpr int64_t kGrain = 32;  // blocks

/// Narrows, histogram by histogram, the ranges of keys ("rows") in which the wanted ranks lie, until few enough
/// elements are left to be looked at one by one. Row 0 stands for all elements that are out of the race.
template <typename T>
class Selection {
 public:
  using Key = typename SortKey<T>::Type;
  static constexpr int kKeyBits = sizeof(Key) * 8;

  Selection(const Numbers& numbers, std::span<const int64_t> ranks) : numbers_(numbers) {
    for (const int64_t rank : ranks) targets_.push_back({.row = 1, .rank = rank});
    row_sizes_ = {0, numbers.size()};
  }

  std::vector<double> run(const KeyCounts& leading, int64_t zero_count) {
    const int64_t few = std::clamp<int64_t>(numbers_.size() / 32, kSelectDirectly, 1 << 20);
    if (candidates() > few) {
      narrow(leading, kLeadingBits);
      settle_zeros(zero_count);
    }
    while (candidates() > few && bits_done_ < kKeyBits) {
      const int bits = std::min(kDigitBits, kKeyBits - bits_done_);
      narrow(count_digits(bits), bits);
    }
    if (bits_done_ < kKeyBits && candidates() > 0) look_at_candidates();
    std::vector<double> values;
    for (const Target& t : targets_) values.push_back(SortKey<T>::value(t.key));
    return values;
  }

 private:
  struct Target {
    int row;           ///< the row it lies in; 0 when its key is known
    int64_t rank;      ///< among the elements of the row
    Key key = 0;       ///< the leading bits found so far
  };
  /// One histogram's outcome: the new row of (old row, digit).
  struct Level {
    int shift, bits;
    std::vector<uint8_t> next;
  };

  int64_t candidates() const {
    int64_t sum = 0;
    for (size_t r = 1; r < row_sizes_.size(); ++r) sum += row_sizes_[r];
    return sum;
  }

  static uint32_t digit(Key key, const Level& level) {
    return static_cast<uint32_t>(key >> level.shift) & ((1u << level.bits) - 1);
  }

  uint32_t row_of(Key key) const {
    uint32_t row = 1;
    for (const Level& level : levels_) row = level.next[(row << level.bits) + digit(key, level)];
    return row;
  }

  /// Each target moves into the bin of its row that holds its rank.
  void narrow(const KeyCounts& counts, int bits) {
    Level level{kKeyBits - bits_done_ - bits, bits, std::vector<uint8_t>(row_sizes_.size() << bits)};
    std::vector<int64_t> sizes = {0};
    for (Target& t : targets_) {
      if (t.row == 0) continue;
      size_t bin = static_cast<size_t>(t.row) << bits;
      const size_t first = bin;
      while (t.rank >= counts[bin]) t.rank -= counts[bin++];
      if (level.next[bin] == 0) {
        level.next[bin] = static_cast<uint8_t>(sizes.size());
        sizes.push_back(counts[bin]);
      }
      t.row = level.next[bin];
      t.key |= static_cast<Key>(bin - first) << level.shift;
    }
    bits_done_ += bits;
    row_sizes_ = std::move(sizes);
    levels_.push_back(std::move(level));
  }

  /// Zeros, the one value that often occurs in masses, are the least of the keys with the same leading bits unless
  /// negative integers share them.
  void settle_zeros(int64_t zero_count) {
    const Key zero = SortKey<T>::of(T{0});
    const Level& level = levels_.back();
    if (zero != static_cast<Key>(digit(zero, level)) << level.shift) return;
    for (Target& t : targets_) {
      if (t.key == zero && t.rank < zero_count) {
        row_sizes_[static_cast<size_t>(t.row)] *= wanted_elsewhere(t.row, zero_count);
        t.row = 0;
      }
    }
  }
  bool wanted_elsewhere(int row, int64_t from_rank) const {
    return std::any_of(targets_.begin(), targets_.end(),
                       [&](const Target& t) { return t.row == row && t.rank >= from_rank; });
  }

  KeyCounts count_digits(int bits) const {
    KeyCounts counts(row_sizes_.size() << bits);
    const Level level{kKeyBits - bits_done_ - bits, bits, {}};
    std::mutex mutex;
    parallel_for(numbers_.block_count(), kGrain, [&](int64_t begin, int64_t end) {
      KeyCounts mine(counts.size());
      for_each_block<T>(numbers_, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) {
          const Key key = SortKey<T>::of(p[i]);
          ++mine[(row_of(key) << bits) + digit(key, level)];
        }
        return true;
      });
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < mine.size(); ++i) counts[i] += mine[i];
    });
    return counts;
  }

  /// Gathers the elements of all rows; rows are numbered in the order of their keys.
  void look_at_candidates() {
    std::vector<std::vector<Key>> keys(row_sizes_.size());
    std::mutex mutex;
    parallel_for(numbers_.block_count(), kGrain, [&](int64_t begin, int64_t end) {
      std::vector<std::vector<Key>> mine(row_sizes_.size());
      for_each_block<T>(numbers_, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) {
          const Key key = SortKey<T>::of(p[i]);
          if (const uint32_t row = row_of(key); row != 0 && row_sizes_[row] != 0) mine[row].push_back(key);
        }
        return true;
      });
      const std::lock_guard lock(mutex);
      for (size_t r = 1; r < mine.size(); ++r) keys[r].insert(keys[r].end(), mine[r].begin(), mine[r].end());
    });
    int64_t done = 0;  // elements of the row that stand in their final place
    int row = 0;
    for (Target& t : targets_) {
      if (t.row == 0) continue;
      if (t.row != row) done = 0;
      row = t.row;
      std::vector<Key>& k = keys[static_cast<size_t>(row)];
      if (t.rank >= done) std::nth_element(k.begin() + done, k.begin() + t.rank, k.end());
      done = std::max(done, t.rank + 1);
      t.key = k[static_cast<size_t>(t.rank)];
    }
  }

  const Numbers& numbers_;
  std::vector<Target> targets_;
  std::vector<int64_t> row_sizes_;  ///< elements per row; entry 0 is not used
  std::vector<Level> levels_;
  int bits_done_ = 0;
};

}  // namespace

std::vector<double> order_statistics(const Numbers& numbers, const KeyCounts& leading, int64_t zero_count,
                                     std::span<const int64_t> ranks) {
  return visit_kind(numbers.kind(),
                    [&]<typename T>() { return Selection<T>(numbers, ranks).run(leading, zero_count); });
}

}  // namespace assay::internal
