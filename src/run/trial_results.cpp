#include "run/trial_results.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

template <typename T>
bool are_neighbours(const Tensor& a, const Tensor& b) {
  const auto x = a.span<T>(), y = b.span<T>();
  for (size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i] || std::nextafter(x[i], y[i]) == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))))
      return false;
  return true;
}

bool within_one_step(const Tensor& a, const Tensor& b) {
  if (a.identical(b)) return true;
  if (a.dtype() == DType::kFloat32) return are_neighbours<float>(a, b);
  if (a.dtype() == DType::kFloat64) return are_neighbours<double>(a, b);
  return false;
}

bool is_determined(const ElementResults& e) {
  return std::isfinite(e.exact) ? std::isfinite(e.stored) : std::isinf(e.exact) && e.stored == e.exact;
}

}  // namespace

bool identical(const TensorList& a, const TensorList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.tensor.identical(y.tensor);
  });
}

const Tensor* find_like(const TensorList& list, const NamedTensor& like) {
  const Tensor* t = find(list, like.name);
  return t != nullptr && t->shape() == like.tensor.shape() && t->dtype() == like.tensor.dtype() ? t : nullptr;
}

bool all_within_one_step(const TrialResults& r) {
  return r.exact.size() == r.changed_exact.size() &&
         std::all_of(r.changed_exact.begin(), r.changed_exact.end(), [&](const NamedTensor& changed) {
           const Tensor* exact = find_like(r.exact, changed);
           return exact != nullptr && within_one_step(*exact, changed.tensor);
         });
}

ElementRelation relation_of(const ElementResults& e) {
  if (!is_determined(e))
    return std::isnan(e.exact) && std::isnan(e.changed) ? ElementRelation::kSame : ElementRelation::kOpen;
  if (std::isinf(e.exact)) return e.changed == e.exact ? ElementRelation::kSame : ElementRelation::kDiffers;
  if (!std::isfinite(e.changed)) return ElementRelation::kDiffers;
  return std::isfinite(e.changed_stored) ? ElementRelation::kFinite : ElementRelation::kDiffersStored;
}

double largest_finite(std::span<const double> numbers) {
  double largest = 0;
  for (const double v : numbers)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

void Distances::add(int64_t at, double apart) {
  if (apart > tolerated_) ++far;
  if (apart <= worst_) return;
  worst_ = apart;
  farthest = at;
}

}  // namespace assay
