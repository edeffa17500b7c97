#include "kernels/trees/forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "base/parallel.h"

namespace assay::kernels {
namespace {

/// Nodes have numbers of 31 bits, and so have features.
constexpr size_t kMaxNodes = size_t{1} << 31;
/// Trees that a thread takes of a row's at least.
constexpr int64_t kTreeGrain = 256;
/// Bytes of rows that are walked through all trees together: they stay in the cache.
constexpr int64_t kBlockBytes = 65536;
constexpr int64_t kMaxRows = 1024;
/// Rows that are looked at together rather than walked one by one.
constexpr int64_t kFewestMaskedRows = 3;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// x <= t and x < t say the same of every double x.
double just_below(double t) { return t == -kInfinity ? kNaN : std::nextafter(t, -kInfinity); }

/// x <= t says the same of every x of type T.
template <typename T>
T rounded_down(double t) {
  const T near = static_cast<T>(t);
  return static_cast<double>(near) > t ? std::nextafter(near, static_cast<T>(-kInfinity)) : near;
}

/// Whether none is NaN.
template <typename T>
bool all_numbers(const T* x, int64_t count) {
  bool any = false;
  for (int64_t i = 0; i < count; ++i) any |= x[i] != x[i];
  return !any;
}

}  // namespace

template <typename T>
std::optional<CompiledForest<T>> CompiledForest<T>::compile(const ForestSource& source) {
  const size_t most = 2 * source.nodes.size() + 1024;
  if (most >= kMaxNodes || source.votes.size() >= kMaxNodes) return {};
  CompiledForest forest;
  for (const TreeNode& n : source.nodes) {
    if (n.test == TreeTest::kLeaf) continue;
    if (n.feature < 0 || n.feature >= static_cast<int64_t>(kMissingLeft)) return {};
    forest.features_ = std::max(forest.features_, n.feature + 1);
    if (n.test >= TreeTest::kEq && forest.kinds_.empty()) forest.kinds_.resize(1);
  }
  forest.members_.assign(source.members.begin(), source.members.end());
  for (const size_t root : source.roots)
    if (!forest.grow(source, root)) return {};
  forest.keep_weights();
  forest.make_masks();
  return forest;
}

/// Lays out one tree: children side by side, a branch's left subtree before its right one.
template <typename T>
bool CompiledForest<T>::grow(const ForestSource& source, size_t root) {
  const size_t most = 2 * source.nodes.size() + 1024;
  struct Task {
    size_t from;
    uint32_t at;
    int64_t depth;
  };
  const auto make_room = [&](size_t count) {
    const size_t at = nodes_.size();
    nodes_.resize(at + count);
    first_vote_.resize(at + count);
    vote_count_.resize(at + count);
    if (!kinds_.empty()) {
      kinds_.resize(at + count);
      sets_.resize(at + count);
    }
    return static_cast<uint32_t>(at);
  };
  std::vector<Task> tasks = {{root, make_room(1), 0}};
  roots_.push_back(tasks[0].at);
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    const TreeNode& n = source.nodes[task.from];
    depth_ = std::max(depth_, task.depth);
    if (n.test == TreeTest::kLeaf) {
      set_leaf(source, n, task.at);
      continue;
    }
    // Shared leaves become several, and so do a few shared branches; a way without end does not.
    if (nodes_.size() + 2 > most || votes_.size() > 2 * source.votes.size() + 1024) return false;
    nodes_[task.at].left = make_room(2);
    set_branch(source, n, task.at);
    const bool swapped = n.test == TreeTest::kGte || n.test == TreeTest::kGt || n.test == TreeTest::kNeq;
    const uint32_t left = nodes_[task.at].left;
    tasks.push_back({swapped ? n.when_true : n.when_false, left + 1, task.depth + 1});
    tasks.push_back({swapped ? n.when_false : n.when_true, left, task.depth + 1});
  }
  return true;
}

template <typename T>
void CompiledForest<T>::set_leaf(const ForestSource& source, const TreeNode& from, uint32_t at) {
  nodes_[at] = {static_cast<T>(kInfinity), at, kMissingLeft};
  if (!kinds_.empty()) kinds_[at] = Kind::kLeq;
  first_vote_[at] = static_cast<uint32_t>(votes_.size());
  vote_count_[at] = static_cast<uint32_t>(from.last - from.first);
  for (size_t i = from.first; i < from.last; ++i)
    votes_.push_back({static_cast<uint32_t>(source.votes[i].target), source.votes[i].weight});
}

/// Every comparison of order becomes x <= threshold: what is not below goes right, and NaN goes right where
/// nothing else is said.
template <typename T>
void CompiledForest<T>::set_branch(const ForestSource&, const TreeNode& from, uint32_t at) {
  Branch& n = nodes_[at];
  double t = from.threshold;
  bool missing_left = from.missing_is_true;
  Kind kind = Kind::kLeq;
  switch (from.test) {
    case TreeTest::kLt:
      t = just_below(t);
      break;
    case TreeTest::kGt:
    case TreeTest::kGte:
      // The false branch is the left one; nothing is above a NaN.
      t = std::isnan(t) ? kInfinity : from.test == TreeTest::kGte ? just_below(t) : t;
      missing_left = !from.missing_is_true;
      break;
    case TreeTest::kNeq:
      missing_left = false;
      [[fallthrough]];
    case TreeTest::kEq:
      kind = Kind::kEq;
      if (static_cast<double>(static_cast<T>(t)) != t) t = kNaN;
      break;
    case TreeTest::kMember:
      kind = Kind::kMember;
      sets_[at] = {static_cast<uint32_t>(from.first), static_cast<uint32_t>(from.last)};
      break;
    default:
      break;
  }
  n.threshold = rounded_down<T>(t);
  n.feature = static_cast<uint32_t>(from.feature) | (missing_left ? kMissingLeft : 0);
  if (!kinds_.empty()) kinds_[at] = kind;
}

/// Where every leaf has one vote, and all are for target 0.
template <typename T>
void CompiledForest<T>::keep_weights() {
  for (const Vote& v : votes_)
    if (v.target != 0) return;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].left == i && vote_count_[i] != 1) return;
  weights_.resize(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].left == i) weights_[i] = votes_[first_vote_[i]].weight;
}

template <typename T>
void CompiledForest<T>::make_masks() {
  if (!kinds_.empty() || roots_.empty()) return;
  std::vector<LeafMasks::Branch> branches;
  for (const uint32_t root : roots_) {
    first_mask_leaf_.push_back(static_cast<uint32_t>(mask_leaves_.size()));
    uint64_t leaves;
    if (find_leaves(root, 0, branches, leaves)) continue;
    mask_leaves_.clear();
    first_mask_leaf_.clear();
    return;
  }
  masks_ = LeafMasks(branches, static_cast<int64_t>(roots_.size()));
  if (weights_.empty()) return;
  for (const uint32_t leaf : mask_leaves_) mask_weights_.push_back(weights_[leaf]);
}

/// The leaves below a node of the tree that first_mask_leaf_ ends with, from left to right; false: too many.
template <typename T>
bool CompiledForest<T>::find_leaves(uint32_t at, int64_t depth, std::vector<LeafMasks::Branch>& branches,
                                    uint64_t& leaves) {
  if (depth >= LeafMasks::kMaxLeaves) return false;
  const Branch n = nodes_[at];
  if (n.left == at) {
    const size_t leaf = mask_leaves_.size() - first_mask_leaf_.back();
    if (leaf >= static_cast<size_t>(LeafMasks::kMaxLeaves)) return false;
    leaves = uint64_t{1} << leaf;
    mask_leaves_.push_back(at);
    return true;
  }
  uint64_t left, right;
  if (!find_leaves(n.left, depth + 1, branches, left) || !find_leaves(n.left + 1, depth + 1, branches, right))
    return false;
  branches.push_back({.feature = n.feature & ~kMissingLeft,
                      .tree = static_cast<uint32_t>(first_mask_leaf_.size() - 1),
                      .threshold = static_cast<double>(n.threshold),
                      .kept = ~left});
  leaves = left | right;
  return true;
}

/// Scratch memory of vote_by_masks().
template <typename T>
size_t CompiledForest<T>::mask_bytes() const {
  return static_cast<size_t>(masks_.column_numbers()) * sizeof(double) +
         static_cast<size_t>(masks_.trees() * LeafMasks::kRows) * sizeof(uint64_t);
}

/// Adds the votes for at most LeafMasks::kRows rows; false: they are to be walked.
template <typename T>
bool CompiledForest<T>::vote_by_masks(const T* x, int64_t stride, int64_t rows, TreeAggregate aggregate,
                                      int64_t targets, void* scratch, double* scores) const noexcept {
  if (scratch == nullptr || rows < kFewestMaskedRows) return false;
  auto* const columns = static_cast<double*>(scratch);
  auto* left = reinterpret_cast<uint64_t*>(columns + masks_.column_numbers());
  masks_.strike_out(x, stride, rows, columns, left);
  if (!mask_weights_.empty() && aggregate == TreeAggregate::kSum) {
    double sums[LeafMasks::kRows];
    for (int64_t r = 0; r < LeafMasks::kRows; ++r) sums[r] = scores[std::min(r, rows - 1) * targets];
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      const double* const weights = mask_weights_.data() + first_mask_leaf_[tree];
      for (int64_t r = 0; r < LeafMasks::kRows; ++r, ++left) sums[r] += weights[std::countr_zero(*left)];
    }
    for (int64_t r = 0; r < rows; ++r) scores[r * targets] = sums[r];
    return true;
  }
  for (size_t tree = 0; tree < roots_.size(); ++tree) {
    const uint32_t* const leaves = mask_leaves_.data() + first_mask_leaf_[tree];
    const uint64_t* const kept = left + tree * LeafMasks::kRows;
    for (int64_t r = 0; r < rows; ++r)
      add(leaves[std::countr_zero(kept[r])], aggregate, scores + r * targets);
  }
  return true;
}

template <typename T>
bool CompiledForest<T>::goes_left(uint32_t at, const Branch& n, T x) const noexcept {
  if (x != x) return (n.feature & kMissingLeft) != 0;
  if (kinds_[at] == Kind::kLeq) return x <= n.threshold;
  if (kinds_[at] == Kind::kEq) return x == n.threshold;
  const auto first = members_.begin() + sets_[at].first, last = members_.begin() + sets_[at].second;
  return std::find(first, last, static_cast<double>(x)) != last;
}

/// Takes kLanes walks to their leaves, lane k from node at[k] with row x[k].
template <typename T>
void CompiledForest<T>::walk(uint32_t* at, const T* const* x, const bool* is_numbers) const noexcept {
  if (!kinds_.empty()) {
    for (int k = 0; k < kLanes; ++k)
      for (;;) {
        const Branch& n = nodes_[at[k]];
        if (n.left == at[k]) break;
        at[k] = n.left + static_cast<uint32_t>(!goes_left(at[k], n, x[k][n.feature & ~kMissingLeft]));
      }
    return;
  }
  // A number goes left or right; what is none may go left by a branch's own rule.
  bool numbers = true;
  for (int k = 0; k < kLanes; ++k) numbers = numbers && is_numbers[k];
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>();
  numbers ? step_down<false>(at, x, kAll) : step_down<true>(at, x, kAll);
}

template <typename T>
template <bool kMayBeMissing, int... kLane>
void CompiledForest<T>::step_down(uint32_t* at, const T* const* x,
                                  std::integer_sequence<int, kLane...>) const noexcept {
  const Branch* const nodes = nodes_.data();
  uint32_t now[] = {at[kLane]...};
  uint32_t moved;
  const auto step = [&](uint32_t& place, const T* row) {
    const Branch& n = nodes[place];
    const T value = row[n.feature & ~kMissingLeft];
    uint32_t right = static_cast<uint32_t>(!(value <= n.threshold));
    if constexpr (kMayBeMissing) right &= static_cast<uint32_t>(!(value != value)) | (n.feature >> 31 ^ 1U);
    const uint32_t next = n.left + right;
    moved |= next ^ place;
    place = next;
  };
  do {
    moved = 0;
    // Written out: a loop would keep the places in memory.
    (step(now[kLane], x[kLane]), ...);
  } while (moved != 0);
  ((at[kLane] = now[kLane]), ...);
}

template <typename T>
void CompiledForest<T>::walk_trees(const T* x, size_t first, size_t last, uint32_t* leaves) const noexcept {
  const T* rows[kLanes];
  bool numbers[kLanes];
  std::fill_n(rows, kLanes, x);
  std::fill_n(numbers, kLanes, all_numbers(x, features_));
  for (size_t tree = first; tree < last; tree += kLanes) {
    const size_t n = std::min<size_t>(kLanes, last - tree);
    uint32_t at[kLanes];
    for (size_t k = 0; k < kLanes; ++k) at[k] = roots_[tree + std::min(k, n - 1)];
    walk(at, rows, numbers);
    std::copy_n(at, n, leaves + (tree - first));
  }
}

template <typename T>
void CompiledForest<T>::start(TreeAggregate aggregate, int64_t targets, double* scores) noexcept {
  const bool extreme = aggregate == TreeAggregate::kMin || aggregate == TreeAggregate::kMax;
  std::fill_n(scores, targets, extreme ? kNaN : 0);
}

template <typename T>
void CompiledForest<T>::add(uint32_t leaf, TreeAggregate aggregate, double* scores) const noexcept {
  if (!weights_.empty() && aggregate == TreeAggregate::kSum) {
    scores[0] += weights_[leaf];
    return;
  }
  const Vote* const votes = votes_.data() + first_vote_[leaf];
  const uint32_t count = vote_count_[leaf];
  for (uint32_t i = 0; i < count; ++i) {
    double& score = scores[votes[i].target];
    const double w = votes[i].weight;
    if (aggregate == TreeAggregate::kSum || aggregate == TreeAggregate::kAverage)
      score += w;
    else if (!(aggregate == TreeAggregate::kMin ? score <= w : score >= w))
      score = w;
  }
}

template <typename T>
void CompiledForest<T>::finish(TreeAggregate aggregate, int64_t targets, double* scores) const noexcept {
  if (aggregate == TreeAggregate::kSum) return;
  for (int64_t t = 0; t < targets; ++t) {
    if (aggregate == TreeAggregate::kAverage)
      scores[t] /= static_cast<double>(roots_.size());
    else if (std::isnan(scores[t]))
      scores[t] = 0;
  }
}

/// Adds the votes for rows [first, last), row by row or eight together.
template <typename T>
void CompiledForest<T>::walk_rows(const T* x, int64_t first, int64_t last, int64_t stride,
                                  const bool* numbers, TreeAggregate aggregate, int64_t targets,
                                  double* scores) const noexcept {
  const int64_t even = first + (last - first) / kLanes * kLanes;
  if (even > first)
    for (const uint32_t root : roots_)
      for (int64_t r = first; r < even; r += kLanes) {
        uint32_t at[kLanes];
        const T* from[kLanes];
        for (int k = 0; k < kLanes; ++k) {
          at[k] = root;
          from[k] = x + (r + k) * stride;
        }
        walk(at, from, numbers + r);
        for (int k = 0; k < kLanes; ++k) add(at[k], aggregate, scores + (r + k) * targets);
      }
  // What is left over of rows: trees side by side.
  for (int64_t r = even; r < last; ++r)
    for (size_t tree = 0; tree < roots_.size(); tree += kLanes) {
      uint32_t leaves[kLanes];
      const size_t end = std::min(roots_.size(), tree + kLanes);
      walk_trees(x + r * stride, tree, end, leaves);
      for (size_t k = 0; k < end - tree; ++k) add(leaves[k], aggregate, scores + r * targets);
    }
}

template <typename T>
void CompiledForest<T>::vote(const T* x, int64_t rows, int64_t features, TreeAggregate aggregate,
                             int64_t targets, double* scores) const noexcept {
  // Leaves look at a feature, too.
  const T nothing = 0;
  const int64_t stride = features_ == 0 ? 0 : features;
  if (features_ == 0) x = &nothing;
  const int64_t row_bytes = std::max<int64_t>(1, features * static_cast<int64_t>(sizeof(T)));
  const int64_t block = std::clamp<int64_t>(kBlockBytes / row_bytes / kLanes * kLanes, kLanes, kMaxRows);
  // Without memory for it, or for trees of many leaves, all rows are walked.
  std::unique_ptr<char[]> scratch;
  if (masks_.trees() > 0 && rows >= kFewestMaskedRows) scratch.reset(new (std::nothrow) char[mask_bytes()]);
  for (int64_t first = 0; first < rows; first += block) {
    const int64_t last = std::min(rows, first + block);
    for (int64_t r = first; r < last; ++r) start(aggregate, targets, scores + r * targets);
    bool numbers[kMaxRows];
    for (int64_t r = first; r < last; ++r) numbers[r - first] = all_numbers(x + r * stride, features_);
    if (scratch != nullptr)
      for (int64_t r = first; r < last; r += kLanes) {
        const int64_t count = std::min<int64_t>(kLanes, last - r);
        const bool* const of_block = numbers + (r - first);
        if (!std::all_of(of_block, of_block + count, [](bool is_number) { return is_number; }) ||
            !vote_by_masks(x + r * stride, stride, count, aggregate, targets, scratch.get(),
                           scores + r * targets))
          walk_rows(x, r, r + count, stride, numbers - first, aggregate, targets, scores);
      }
    else
      walk_rows(x, first, last, stride, numbers - first, aggregate, targets, scores);
    for (int64_t r = first; r < last; ++r) finish(aggregate, targets, scores + r * targets);
  }
}

template <typename T>
void CompiledForest<T>::vote_in_parallel(const T* x, TreeAggregate aggregate, int64_t targets, double* scores,
                                         std::span<uint32_t> leaves) const noexcept {
  const T nothing = 0;
  if (features_ == 0) x = &nothing;
  parallel_for(static_cast<int64_t>(roots_.size()), kTreeGrain, [&](int64_t first, int64_t last) {
    walk_trees(x, static_cast<size_t>(first), static_cast<size_t>(last), leaves.data() + first);
  });
  start(aggregate, targets, scores);
  for (size_t tree = 0; tree < roots_.size(); ++tree) add(leaves[tree], aggregate, scores);
  finish(aggregate, targets, scores);
}

template class CompiledForest<float>;
template class CompiledForest<double>;

}  // namespace assay::kernels
