#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "engine/planner/memory_planner.h"
#include "engine/runtime/arena.h"

namespace assay::engine {
namespace {

/// To place buffers by size takes time with the square of their number.
constexpr size_t kMaxBySize = 8192;

int64_t aligned_size(const Buffer& b) { return static_cast<int64_t>(align_up(static_cast<size_t>(b.bytes))); }

/// Memory from which blocks are taken and given back.
class Blocks {
 public:
  int64_t end() const { return end_; }

  /// The smallest free block that is large enough, else at the end.
  int64_t take(int64_t size) {
    const auto it = by_size_.lower_bound({size, 0});
    if (it != by_size_.end()) {
      const auto [have, at] = *it;
      remove(at, have);
      if (have > size) add(at + size, have - size);
      return at;
    }
    int64_t at = end_;
    if (const auto last = free_.empty() ? free_.end() : std::prev(free_.end());
        last != free_.end() && last->first + last->second == end_) {
      at = last->first;
      remove(at, last->second);
    }
    end_ = at + size;
    return at;
  }

  void give_back(int64_t at, int64_t size) {
    const auto next = free_.lower_bound(at);
    const auto previous = next == free_.begin() ? free_.end() : std::prev(next);
    if (next != free_.end() && next->first == at + size) {
      const int64_t more = next->second;
      remove(at + size, more);
      size += more;
    }
    if (previous != free_.end() && previous->first + previous->second == at) {
      const auto [begin, more] = *previous;
      remove(begin, more);
      at = begin;
      size += more;
    }
    add(at, size);
  }

 private:
  void add(int64_t at, int64_t size) {
    free_.emplace(at, size);
    by_size_.emplace(size, at);
  }
  void remove(int64_t at, int64_t size) {
    free_.erase(at);
    by_size_.erase({size, at});
  }

  int64_t end_ = 0;
  std::map<int64_t, int64_t> free_;                // sizes by offset; no two touch
  std::set<std::pair<int64_t, int64_t>> by_size_;  // the same: sizes and offsets
};

/// Each buffer when its life begins, in what is free then.
std::vector<int64_t> place_by_time(std::span<const Buffer> buffers, std::vector<size_t> order,
                                   int64_t& total) {
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].first < buffers[b].first; });
  std::vector<int64_t> offsets(buffers.size(), 0);
  using End = std::pair<int, size_t>;  // the last step, the buffer
  std::priority_queue<End, std::vector<End>, std::greater<>> alive;
  Blocks blocks;
  for (const size_t i : order) {
    for (; !alive.empty() && alive.top().first < buffers[i].first; alive.pop()) {
      const size_t gone = alive.top().second;
      blocks.give_back(offsets[gone], aligned_size(buffers[gone]));
    }
    offsets[i] = blocks.take(aligned_size(buffers[i]));
    alive.emplace(buffers[i].last, i);
  }
  total = blocks.end();
  return offsets;
}

/// The largest first, each at the lowest place that is free during its life.
std::vector<int64_t> place_by_size(std::span<const Buffer> buffers, std::vector<size_t> order,
                                   int64_t& total) {
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<int64_t> offsets(buffers.size(), 0);
  std::vector<size_t> placed;  // by offset
  total = 0;
  for (const size_t i : order) {
    const int64_t size = aligned_size(buffers[i]);
    int64_t at = 0;
    for (const size_t p : placed) {
      if (buffers[p].last < buffers[i].first || buffers[i].last < buffers[p].first) continue;
      if (offsets[p] >= at + size) break;
      at = std::max(at, offsets[p] + aligned_size(buffers[p]));
    }
    offsets[i] = at;
    total = std::max(total, at + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return offsets[a] < offsets[b]; }),
                  i);
  }
  return offsets;
}

}  // namespace

std::vector<int64_t> assign_offsets(std::span<const Buffer> buffers, int64_t& total) {
  std::vector<size_t> order;  // of those that need memory
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].bytes > 0) order.push_back(i);
  return order.size() > kMaxBySize ? place_by_time(buffers, std::move(order), total)
                                   : place_by_size(buffers, std::move(order), total);
}

}  // namespace assay::engine
