#include "ops/eval_util.h"

namespace assay {

std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  std::vector<int64_t> out(to.size(), 0);
  const std::vector<int64_t> own = from.strides();
  const size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) out[offset + i] = from[i] == 1 ? 0 : own[i];
  return out;
}

void OffsetCursor::seek(int64_t n) {
  offset_ = 0;
  for (size_t d = extents_.size(); d-- > 0;) {
    if (extents_[d] == 0) continue;  // there is no position
    at_[d] = n % extents_[d];
    offset_ += at_[d] * strides_[d];
    n /= extents_[d];
  }
}

BroadcastPlan::BroadcastPlan(const Shape& to, std::span<const Shape> from) : strides(from.size()) {
  std::vector<std::vector<int64_t>> all;
  for (const Shape& s : from) all.push_back(broadcast_strides(s, to));
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1) continue;
    bool merge = !extents.empty();
    for (size_t k = 0; k < all.size() && merge; ++k) merge = strides[k].back() == all[k][d] * to[d];
    if (!merge) extents.push_back(1);
    extents.back() *= to[d];
    for (size_t k = 0; k < all.size(); ++k) {
      if (!merge) strides[k].push_back(0);
      strides[k].back() = all[k][d];
    }
  }
  if (!extents.empty()) return;
  extents.push_back(1);
  for (std::vector<int64_t>& s : strides) s.push_back(0);
}

}  // namespace assay
