#include "kernels/trees/leaf_masks.h"

#include <algorithm>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/trees/leaf_masks.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Trees one after another, whose branches are those from first[tree] on: what is left of one stays in
/// registers. Every branch is looked at, which costs less than to find out which ones need not be.
void strike_trees(const double* columns, const uint32_t* first, int64_t trees, const uint32_t* column,
                  const double* thresholds, const uint64_t* kept, uint64_t* left) {
  constexpr auto kRows = LeafMasks::kRows;
  const hn::CappedTag<double, kRows> f64;
  const hn::RebindToUnsigned<decltype(f64)> u64;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(f64)), kVectors = kRows / kLanes;
  const auto all = hn::Set(u64, ~uint64_t{0});
  for (int64_t tree = 0; tree < trees; ++tree, left += kRows) {
    hn::Vec<decltype(u64)> now[kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) now[v] = all;
    for (uint32_t i = first[tree]; i < first[tree + 1]; ++i) {
      const double* const x = columns + column[i];
      const auto threshold = hn::Set(f64, thresholds[i]);
      const auto mask = hn::Set(u64, kept[i]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) {
        const auto below = hn::RebindMask(u64, hn::Le(hn::LoadU(f64, x + v * kLanes), threshold));
        // In this order a branch waits for one operation of the one before.
        now[v] = hn::And(now[v], hn::IfThenElse(below, all, mask));
      }
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(now[v], u64, left + v * kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(strike_trees);

LeafMasks::LeafMasks(std::span<const Branch> branches, int64_t trees) {
  for (const Branch& b : branches) features_.push_back(b.feature);
  std::sort(features_.begin(), features_.end());
  features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
  for (const Branch& b : branches) {
    while (first_.size() <= b.tree) first_.push_back(static_cast<uint32_t>(thresholds_.size()));
    const auto at = std::lower_bound(features_.begin(), features_.end(), b.feature) - features_.begin();
    columns_.push_back(static_cast<uint32_t>(at * kRows));
    thresholds_.push_back(b.threshold);
    kept_.push_back(b.kept);
  }
  first_.resize(static_cast<size_t>(trees) + 1, static_cast<uint32_t>(thresholds_.size()));
}

template <typename T>
void LeafMasks::strike_out(const T* x, int64_t stride, int64_t count, double* columns,
                           uint64_t* left) const noexcept {
  double* column = columns;
  for (const uint32_t feature : features_) {
    // Rows that are not there are like the last one.
    for (int64_t r = 0; r < kRows; ++r)
      column[r] = static_cast<double>(x[std::min(r, count - 1) * stride + feature]);
    column += kRows;
  }
  HWY_DYNAMIC_DISPATCH(strike_trees)
  (columns, first_.data(), trees(), columns_.data(), thresholds_.data(), kept_.data(), left);
}

template void LeafMasks::strike_out(const float*, int64_t, int64_t, double*, uint64_t*) const noexcept;
template void LeafMasks::strike_out(const double*, int64_t, int64_t, double*, uint64_t*) const noexcept;

}  // namespace assay::kernels
#endif
