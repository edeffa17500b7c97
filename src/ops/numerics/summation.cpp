#include "ops/numerics/summation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

/// As nine standard deviations: an element of a million is next to five.
constexpr double kWalkFactor = 5;
constexpr double kU = 0x1p-24;
constexpr size_t kBlock = 64;

/// A sum that is made one addend after the other. Products are rounded on their own or not (a fused
/// multiply-add), both of which happen.
class RunningSum {
 public:
  explicit RunningSum(bool rounds_terms = false) : rounds_terms_(rounds_terms) {}
  void add(double term) {
    sum_ = static_cast<float>(static_cast<double>(sum_) +
                              (rounds_terms_ ? static_cast<double>(static_cast<float>(term)) : term));
    exact_ += term;
    farthest_ = std::max(farthest_, std::abs(static_cast<double>(sum_) - exact_));
    squares_ += exact_ * exact_;
  }
  float sum() const { return sum_; }
  /// The error bound of a program that adds in this order; nothing where all partial sums are exact.
  double explained() const {
    return farthest_ == 0 ? 0 : std::max(kOrdersFactor * farthest_, kWalkFactor * kU * std::sqrt(squares_));
  }

 private:
  bool rounds_terms_;
  float sum_ = 0;
  double exact_ = 0, farthest_ = 0, squares_ = 0;
};

std::vector<double> by_columns(const Addends& a) {
  std::vector<double> terms;
  terms.reserve(a.terms.size());
  for (int64_t column = 0; column < a.inner; ++column)
    for (auto i = static_cast<size_t>(column); i < a.terms.size(); i += static_cast<size_t>(a.inner))
      terms.push_back(a.terms[i]);
  return terms;
}

double one_by_one(std::span<const double> terms) {
  RunningSum sum;
  for (const double t : terms) sum.add(t);
  return sum.explained();
}

float pairwise_sum(std::span<const double> terms) {
  if (terms.size() == 1) return static_cast<float>(terms[0]);
  const size_t half = terms.size() / 2;
  return pairwise_sum(terms.first(half)) + pairwise_sum(terms.subspan(half));
}

/// A vector register with this many numbers.
double in_lanes(std::span<const double> terms, size_t lanes) {
  std::vector<float> sums(lanes, 0.0F);
  double exact = 0, farthest = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    float& sum = sums[i % lanes];
    sum = static_cast<float>(static_cast<double>(sum) + terms[i]);
    exact += terms[i];
    if (i % lanes != lanes - 1) continue;
    double together = 0;
    for (const float s : sums) together += static_cast<double>(s);
    farthest = std::max(farthest, std::abs(together - exact));
  }
  float total = 0;
  for (const float s : sums) total += s;
  return kOrdersFactor * std::max(farthest, std::abs(static_cast<double>(total) - exact));
}

double in_blocks(std::span<const double> terms) {
  RunningSum total;
  double exact = 0, farthest = 0;
  for (size_t first = 0; first < terms.size(); first += kBlock) {
    RunningSum block;
    for (const double t : terms.subspan(first, std::min(kBlock, terms.size() - first))) {
      block.add(t);
      exact += t;
    }
    total.add(static_cast<double>(block.sum()));
    farthest = std::max(farthest, std::abs(static_cast<double>(total.sum()) - exact));
  }
  return kOrdersFactor * farthest;
}

/// In every order that begins at either end.
double explained_from_ends(std::span<const double> terms) {
  RunningSum products(true), backward;
  double exact = 0;
  for (const double t : terms) {
    products.add(t);
    exact += t;
  }
  for (size_t i = terms.size(); i-- > 0;) backward.add(terms[i]);
  double most = std::max({one_by_one(terms), products.explained(), backward.explained(), in_blocks(terms),
                          kOrdersFactor * std::abs(static_cast<double>(pairwise_sum(terms)) - exact)});
  for (const size_t lanes : {4, 8, 16}) most = std::max(most, in_lanes(terms, lanes));
  return most;
}

/// The terms with the bias first, and with it last.
template <typename Explained>
double with_bias(std::vector<double> terms, double bias, Explained explained) {
  if (bias == 0) return explained(terms);
  terms.push_back(bias);
  const double last = explained(terms);
  std::rotate(terms.begin(), terms.end() - 1, terms.end());
  return std::max(last, explained(terms));
}

double exact_sum(const Addends& a) { return std::accumulate(a.terms.begin(), a.terms.end(), a.bias); }

}  // namespace

double explained_of_sum(const Addends& a) {
  if (a.terms.size() + (a.bias != 0 ? 1 : 0) < 2) return 0;
  double most = with_bias(a.terms, a.bias, explained_from_ends);
  if (a.inner > 1) most = std::max(most, with_bias(by_columns(a), a.bias, one_by_one));
  return std::isfinite(most) ? most : 0;  // that is an overflow, which has rules of its own
}

double sum_in_order(const Addends& a, SumOrder order) {
  const auto n = static_cast<int64_t>(a.terms.size());
  return sum_in_order(key_of(order), n + (a.bias != 0 ? 1 : 0),
                      [&](int64_t i) { return i < n ? a.terms[static_cast<size_t>(i)] : a.bias; });
}

MeasuredSums measure(std::span<const Addends> sums) {
  MeasuredSums found;
  for (const Addends& a : sums) {
    found.exact.push_back(exact_sum(a));
    found.explained.push_back(explained_of_sum(a));
  }
  return found;
}

MeasuredSums measure_integers(std::span<const Addends> sums) {
  constexpr double kRoundings = 2;
  MeasuredSums found;
  for (const Addends& a : sums) {
    found.exact.push_back(exact_sum(a));
    found.explained.push_back(kRoundings * kU * std::abs(found.exact.back()));
  }
  return found;
}

double explained_by_sums(const SummedElement& element, const MeasuredSums& measured) {
  std::vector<double> sums = measured.exact;
  const double exact = element.result(sums);
  double total = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double sum = sums[i], distance = measured.explained[i];
    double most = 0;
    for (const double moved : {sum - distance, sum + distance}) {
      sums[i] = moved;
      if (const double error = std::abs(element.result(sums) - exact); std::isfinite(error))
        most = std::max(most, error);
    }
    sums[i] = sum;
    total += most;
  }
  return total;
}

}  // namespace assay
