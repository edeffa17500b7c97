#include "generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tensor/convert.h"

namespace assay::generate {
namespace {

std::vector<double> numbers_of(const Tensor& logits) {
  const Tensor wide = to_float64(logits);
  return {wide.span<double>().begin(), wide.span<double>().end()};
}

/// The first of the largest, read in place: a vocabulary is long. Nothing where they are not float32, one is
/// NaN, or all are minus infinity.
std::optional<size_t> most_likely_float(const Tensor& logits) {
  if (logits.dtype() != DType::kFloat32) return std::nullopt;
  const std::span<const float> x = logits.span<float>();
  float best = -std::numeric_limits<float>::infinity();
  bool is_sound = true;
  for (const float v : x) {
    is_sound = is_sound && v == v;
    best = v > best ? v : best;
  }
  if (!is_sound || !(best > -std::numeric_limits<float>::infinity())) return std::nullopt;
  return static_cast<size_t>(std::find(x.begin(), x.end(), best) - x.begin());
}

/// Positions of the largest, the largest first; of equal ones the first.
std::vector<size_t> largest(const std::vector<double>& x, size_t count) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  count = std::min(count, x.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
  order.resize(count);
  return order;
}

}  // namespace

void check_sampling(const Sampling& s) {
  require(s.temperature >= 0 && std::isfinite(s.temperature), ErrorCode::kInvalidArgument,
          "a temperature of {} is not a number from 0 on", s.temperature);
  require(s.top_k >= 0, ErrorCode::kInvalidArgument,
          "the {} most likely tokens are none: give 1 or more, or 0 for all", s.top_k);
  require(s.top_p > 0 && s.top_p <= 1, ErrorCode::kInvalidArgument,
          "a sum of probabilities of {} is not above 0 and at most 1", s.top_p);
}

int64_t Sampler::next(const Tensor& logits) {
  if (sampling_.is_greedy())
    if (const std::optional<size_t> best = most_likely_float(logits)) return static_cast<int64_t>(*best);
  const std::vector<double> x = numbers_of(logits);
  const auto nans = std::count_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
  require(nans == 0, ErrorCode::kInvalidModel, "{} of {} logits are NaN, so no token is the most likely",
          nans, x.size());
  const auto most = std::max_element(x.begin(), x.end());
  require(most != x.end() && *most > -std::numeric_limits<double>::infinity(), ErrorCode::kInvalidModel,
          "all {} logits are minus infinity, so no token is possible", x.size());
  if (sampling_.is_greedy() || std::isinf(*most)) return most - x.begin();
  return draw(x);
}

int64_t Sampler::draw(const std::vector<double>& x) {
  const size_t most = sampling_.top_k == 0 ? x.size() : static_cast<size_t>(sampling_.top_k);
  const std::vector<size_t> order = largest(x, most);
  std::vector<double> shares;
  double sum = 0;
  for (const size_t i : order) {
    shares.push_back(std::exp((x[i] - x[order.front()]) / sampling_.temperature));
    sum += shares.back();
  }
  // The first ones that reach top_p, at least one.
  double kept = 0;
  size_t count = 0;
  while (count < shares.size() && (count == 0 || kept < sampling_.top_p * sum)) kept += shares[count++];
  double at = random_.next_double() * kept;
  for (size_t i = 0; i + 1 < count; ++i)
    if ((at -= shares[i]) < 0) return static_cast<int64_t>(order[i]);
  return static_cast<int64_t>(order[count - 1]);
}

std::vector<RankedToken> most_likely(const Tensor& logits, size_t count) {
  const std::vector<double> x = numbers_of(logits);
  std::vector<RankedToken> ranked;
  for (const size_t i : largest(x, count)) ranked.push_back({static_cast<int64_t>(i), x[i]});
  return ranked;
}

}  // namespace assay::generate
