#include "tensor/statistics_select.h"

#include <algorithm>
#include <mutex>

#include "base/parallel.h"

namespace assay::internal {
namespace {

constexpr int kDigitBits = 11;  // of the histograms after the first
constexpr int64_t kGrain = 32;  // blocks

/// Narrows, histogram by histogram, the ranges of keys ("rows", numbered in the order of their keys) in which
/// the wanted ranks lie, until few enough elements are left to be looked at one by one. The row after the
/// last stands for all elements that are out of the race.
template <typename T>
class Selection {
 public:
  using Key = typename SortKey<T>::Type;
  static constexpr int kKeyBits = sizeof(Key) * 8;

  Selection(const Numbers& numbers, std::span<const int64_t> ranks) : numbers_(numbers) {
    for (const int64_t rank : ranks) targets_.push_back({.rank = rank});
    rows_ = {Row{.size = numbers.size(), .waiting = true}};
  }

  std::vector<double> run(const std::vector<int64_t>& leading, int64_t zero_count) {
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
    size_t row = 0;
    int64_t rank;  ///< among the elements of the row
    Key key = 0;   ///< the leading bits found so far
    bool settled = false;
  };
  struct Row {
    int64_t size = 0;
    bool waiting = false;  ///< a target in it is not settled
  };
  /// Where one histogram led: the new row of (old row, digit).
  struct Level {
    int shift, bits;
    std::vector<uint8_t> next;
  };

  int64_t candidates() const {
    int64_t sum = 0;
    for (const Row& row : rows_) sum += row.waiting ? row.size : 0;
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

  /// Each target moves into the bin of its row that holds its rank.
  void narrow(const std::vector<int64_t>& counts, int bits) {
    constexpr uint8_t kOut = 255;
    Level level{kKeyBits - bits_done_ - bits, bits, std::vector<uint8_t>((rows_.size() + 1) << bits, kOut)};
    std::vector<Row> rows;
    size_t bin = 0, row = SIZE_MAX;
    int64_t before = 0;  // elements of the row in the bins before this one
    for (Target& t : targets_) {
      if (t.settled) continue;
      if (t.row != row) {
        row = t.row;
        bin = row << bits;
        before = 0;
      }
      while (t.rank - before >= counts[bin]) before += counts[bin++];
      if (level.next[bin] == kOut) {
        level.next[bin] = static_cast<uint8_t>(rows.size());
        rows.push_back({.size = counts[bin], .waiting = true});
      }
      t = {.row = level.next[bin],
           .rank = t.rank - before,
           .key = t.key | static_cast<Key>(bin - (row << bits)) << level.shift};
    }
    std::replace(level.next.begin(), level.next.end(), kOut, static_cast<uint8_t>(rows.size()));
    rows_ = std::move(rows);
    levels_.push_back(std::move(level));
    bits_done_ += bits;
  }

  /// Zero, the one value that often occurs in masses, has the least of all keys with the same leading bits.
  void settle_zeros(int64_t zero_count) {
    for (Row& row : rows_) row.waiting = false;
    for (Target& t : targets_) {
      t.settled = t.key == SortKey<T>::of(T{0}) && t.rank < zero_count;
      if (!t.settled) rows_[t.row].waiting = true;
    }
  }

  std::vector<int64_t> count_digits(int bits) const {
    std::vector<int64_t> counts((rows_.size() + 1) << bits);
    const int shift = kKeyBits - bits_done_ - bits;
    std::mutex mutex;
    parallel_for(numbers_.block_count(), kGrain, [&](int64_t begin, int64_t end) {
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

  std::vector<std::vector<Key>> gather_candidates() const {
    std::vector<std::vector<Key>> keys(rows_.size());
    std::vector<uint8_t> wanted(rows_.size() + 1);
    for (size_t r = 0; r < rows_.size(); ++r) wanted[r] = rows_[r].waiting;
    std::mutex mutex;
    parallel_for(numbers_.block_count(), kGrain, [&](int64_t begin, int64_t end) {
      std::vector<std::vector<Key>> mine(rows_.size());
      for_each_block<T>(numbers_, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) {
          const Key key = SortKey<T>::of(p[i]);
          const size_t row = row_of(key);
          if (wanted[row]) mine[row].push_back(key);
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
      if (t.settled) continue;
      if (t.row != row) placed = 0;
      row = t.row;
      std::vector<Key>& k = keys[row];
      if (t.rank >= placed) std::nth_element(k.begin() + placed, k.begin() + t.rank, k.end());
      placed = t.rank + 1;
      t.key = k[static_cast<size_t>(t.rank)];
    }
  }

  const Numbers& numbers_;
  std::vector<Target> targets_;
  std::vector<Row> rows_;
  std::vector<Level> levels_;
  int bits_done_ = 0;
};

}  // namespace

std::vector<double> order_statistics(const Numbers& numbers, const std::vector<int64_t>& leading,
                                     int64_t zero_count, std::span<const int64_t> ranks) {
  return visit_kind(numbers.kind(),
                    [&]<typename T>() { return Selection<T>(numbers, ranks).run(leading, zero_count); });
}

}  // namespace assay::internal
