#include "arbiter/sums.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ops/sums/sums.h"

namespace assay {
namespace {

/// Elements that are looked at before it is asked whether they are explained.
constexpr size_t kTogether = 64;
/// Addends that may be added up, seven times each: some seconds.
constexpr int64_t kMaxAddends = int64_t{1} << 27;

/// The elements beyond what is explained, the worst first.
std::vector<int64_t> elements_beyond(const Tensor& result, const Tensor& exact, const Explained& explained) {
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = explained.most.data<double>();
  std::vector<std::pair<double, int64_t>> found;
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (const double error = std::abs(r[i] - y[i]); error > e[i] && std::isfinite(error))
      found.emplace_back(e[i] > 0 ? -error / e[i] : -HUGE_VAL, i);
  std::ranges::sort(found);
  std::vector<int64_t> places;
  for (const auto& [ratio, i] : found) places.push_back(i);
  return places;
}

}  // namespace

bool widen_for_sums(const Trial& trial, const Tensor& result, const Tensor& exact, Explained& explained) {
  const SumsOf sums = sums_of(trial.op());
  if (sums == nullptr) return false;
  EvalContext c = trial.context();
  const double *r = result.data<double>(), *y = exact.data<double>();
  auto* most = explained.most.mutable_data<double>();
  auto* possible = explained.possible.defined() ? explained.possible.mutable_data<double>() : nullptr;
  std::unordered_map<int64_t, MeasuredSums> rows;
  std::shared_ptr<const void> kept;
  int64_t added = 0;
  bool any = false, beyond = false;
  size_t count = 0;
  for (const int64_t i : elements_beyond(result, exact, explained)) {
    if (count++ % kTogether == 0 && (beyond || added > kMaxAddends)) return any;
    SummedElement element;
    element.known = &rows;
    element.kept = &kept;
    element.output = trial.output();
    if (!sums(c, i, element)) return any;
    const MeasuredSums* measured = element.known_row();
    MeasuredSums own;
    if (measured == nullptr) {
      for (const Addends& a : element.sums) added += static_cast<int64_t>(a.terms.size());
      own = measure(element.sums);
      measured = element.row < 0 ? &own : &rows.emplace(element.row, std::move(own)).first->second;
    }
    // What else is rounded is expected to be of its usual size.
    const double room = explained_by_sums(element, *measured) + most[i] / kOwnFactor;
    if (!(room > most[i])) {
      beyond = true;
      continue;
    }
    any = true;
    most[i] = room;
    if (possible != nullptr) possible[i] = std::max(possible[i], room);
    beyond = beyond || std::abs(r[i] - y[i]) > room;
  }
  return any;
}

bool widen_for_sums_of_steps(const Trial& trial, const Tensor& exact, Explained& explained) {
  const auto perturb = trial.op().numerics.perturb;
  if (perturb == nullptr || exact.dtype() != DType::kFloat64) return false;
  bool any = false;
  const Tensor before = map_elements<double>(explained.most, [](double e) { return e; });
  for (const SumOrder order : kSumOrders) {
    const Tensor y = trial.perturbed(key_of(order));
    if (!y.defined() || y.shape() != exact.shape() || y.dtype() != DType::kFloat64) return false;
    const double *p = y.data<double>(), *e = exact.data<double>();
    auto* most = explained.most.mutable_data<double>();
    for (int64_t i = 0; i < exact.numel(); ++i) {
      const double room = kOrdersFactor * std::abs(p[i] - e[i]);
      if (!std::isfinite(room) || room <= 0) continue;
      any = true;
      most[i] = std::max(most[i], room + before.data<double>()[i] / kOwnFactor);
    }
  }
  return any;
}

}  // namespace assay
