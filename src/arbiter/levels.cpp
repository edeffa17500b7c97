#include "arbiter/levels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arbiter/judge.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Of fewer a median says little.
constexpr size_t kForMedian = 64;
/// Half of the errors of a sum of roundings are below so many half-widths, and of none above twice that.
constexpr double kHalf = 0.39, kUsual = 2 * kHalf;

/// The median of the errors in units of what is expected of each; elements that are alike err alike, and
/// count once. 0 where there are too few.
double usual_ratio(const Tensor& result, const Tensor& exact, const Tensor& expected) {
  std::vector<double> ratios;
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = expected.data<double>();
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (const double ratio = std::abs(r[i] - y[i]) / e[i]; std::isfinite(ratio)) ratios.push_back(ratio);
  std::ranges::sort(ratios);
  ratios.erase(std::unique(ratios.begin(), ratios.end()), ratios.end());
  return ratios.size() < kForMedian ? 0 : ratios[ratios.size() / 2];
}

}  // namespace

void hold_to_levels(const StoredTensor& result, const Standard& standard, bool spoiled, ArbiterVerdict& out) {
  const bool is_explained = out.verdict == Verdict::kRounding || out.verdict == Verdict::kAgrees,
             is_bad = out.verdict == Verdict::kUnclear || out.verdict == Verdict::kWrong;
  const NodeError* error = standard.error;
  if ((!is_explained && !is_bad) || error == nullptr || !error->by_levels.defined()) return;
  const Tensor &exact = standard.lanes[0], &by_levels = error->by_levels;
  if (result.shape() != exact.shape() || by_levels.shape() != exact.shape()) return;
  const Tensor wide = to_float64(result.load());
  const Explained near{.most = error->near_levels, .possible = {}};
  const Deviation d = deviation(wide, by_levels, near, out.dtype);
  if (d.ratio <= 1 && is_bad && spoiled) {
    out.verdict = Verdict::kInherited;
    out.note = "it is what its scale gives, which does not fit what an error before made of its input";
  }
  if (d.ratio <= 1 || out.verdict == Verdict::kWrong) return;
  if (deviation(wide, exact, near, out.dtype).ratio <= 1) return;
  out.verdict = Verdict::kWrong;
  set_worst(d, wide, by_levels, near, out);
  out.note =
      "it is neither what the declared scales give in 8 bits (the value that it is compared with here) nor "
      "what float32 gives: it was computed by another scale, zero point or weight";
}

void hold_to_size(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out) {
  const bool is_explained = out.verdict == Verdict::kRounding || out.verdict == Verdict::kUnclear;
  const NodeError* error = standard.error;
  if (!is_explained || error == nullptr || !error->expected.defined()) return;
  const Tensor& exact = standard.lanes[0];
  if (result.shape() != exact.shape() || error->expected.shape() != exact.shape()) return;
  const double usual = usual_ratio(to_float64(result.load()), exact, error->expected);
  if (usual <= kUsual) return;
  out.verdict = Verdict::kWrong;
  out.beyond = out.elements;
  out.note = fmt::format(
      "every element may be so far off, but not half of them: their errors are {:.2g} times as large as "
      "expected, as those of a coarser format",
      usual / kHalf);
}

}  // namespace assay
