#include "kernels/trees/leaf_masks.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/trees/leaf_masks.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The branches on one feature, whose values of the eight rows are `x`.
void strike_feature(const double* x, const double* thresholds, const uint32_t* trees, const uint64_t* kept,
                    int64_t count, uint64_t* left) {
  constexpr auto kRows = LeafMasks::kRows;
  const hn::CappedTag<double, kRows> f64;
  const hn::RebindToUnsigned<decltype(f64)> u64;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f64));
  for (int64_t row = 0; row < kRows; row += lanes) {
    const auto values = hn::LoadU(f64, x + row);
    for (int64_t i = 0; i < count; ++i) {
      const auto above = hn::Gt(values, hn::Set(f64, thresholds[i]));
      if (hn::AllFalse(f64, above)) break;
      uint64_t* const at = left + int64_t{trees[i]} * kRows + row;
      const auto before = hn::LoadU(u64, at);
      const auto after = hn::And(before, hn::Set(u64, kept[i]));
      hn::StoreU(hn::IfThenElse(hn::RebindMask(u64, above), after, before), u64, at);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(strike_feature);

LeafMasks::LeafMasks(std::vector<Branch> branches, int64_t trees)
    : begin_(static_cast<size_t>(trees), ~uint64_t{0}) {
  const auto never_below = std::partition(branches.begin(), branches.end(),
                                          [](const Branch& b) { return !std::isnan(b.threshold); });
  for (auto b = never_below; b != branches.end(); ++b) begin_[b->tree] &= b->kept;
  branches.erase(never_below, branches.end());
  std::sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return a.feature != b.feature       ? a.feature < b.feature
           : a.threshold != b.threshold ? a.threshold < b.threshold
                                        : a.tree < b.tree;
  });
  for (const Branch& b : branches) {
    const auto at = static_cast<uint32_t>(thresholds_.size());
    if (features_.empty() || features_.back().feature != b.feature) features_.push_back({b.feature, at, at});
    features_.back().last = at + 1;
    thresholds_.push_back(b.threshold);
    trees_.push_back(b.tree);
    kept_.push_back(b.kept);
  }
}

template <typename T>
void LeafMasks::strike_out(const T* x, int64_t stride, int64_t count, double* columns,
                           uint64_t* left) const noexcept {
  for (int64_t tree = 0; tree < trees(); ++tree)
    std::fill_n(left + tree * kRows, kRows, begin_[static_cast<size_t>(tree)]);
  double* column = columns;
  for (const Feature& f : features_) {
    // Rows that are not there are like the last one.
    for (int64_t r = 0; r < kRows; ++r)
      column[r] = static_cast<double>(x[std::min(r, count - 1) * stride + f.feature]);
    column += kRows;
  }
  strike(columns, left);
}

void LeafMasks::strike(const double* columns, uint64_t* left) const noexcept {
  for (const Feature& f : features_) {
    HWY_DYNAMIC_DISPATCH(strike_feature)
    (columns, thresholds_.data() + f.first, trees_.data() + f.first, kept_.data() + f.first,
     int64_t{f.last} - f.first, left);
    columns += kRows;
  }
}

template void LeafMasks::strike_out(const float*, int64_t, int64_t, double*, uint64_t*) const noexcept;
template void LeafMasks::strike_out(const double*, int64_t, int64_t, double*, uint64_t*) const noexcept;

}  // namespace assay::kernels
#endif
