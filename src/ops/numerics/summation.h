// The one rule for sums: the results that the actual addends may have when float32 adds them up in the orders
// that programs use.
//
// Bounds for any data (Numerics) assume that the roundings of a sum are independent. Those of similar addends
// are not: a plain loop over equal numbers cuts off the same remainder at every step, for as long as its sum
// stays in one binade. So where a result is beyond its bounds, its own sums are made in each of these orders,
// and rounding explains as much as they and their partial sums are from the exact ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace assay {

/// The addends of one sum in the order of memory.
struct Addends {
  std::vector<double> terms;
  /// They are in rows of this many, which some programs add up column by column (channels last); 0: they are
  /// not.
  int64_t inner = 0;
  /// An addend that sums begin or end with; 0: none.
  double bias = 0;
};

/// Orders in which an operator that is made of steps (ops/numerics/steps.h) can be evaluated with its sums in
/// float32, and nothing else rounded: Numerics::perturb makes no noise, but sums in an order, when it is
/// given the order's key.
enum class SumOrder : uint8_t { kForward, kBackward, kLanes };
inline constexpr SumOrder kSumOrders[] = {SumOrder::kForward, SumOrder::kBackward, SumOrder::kLanes};
inline constexpr uint64_t kOrderKeys = 0xFFFF'FFFF'FFFF'FF00;
inline uint64_t key_of(SumOrder order) { return kOrderKeys | static_cast<uint64_t>(order); }
inline bool is_order_key(uint64_t key) { return key >= kOrderKeys; }

/// The float32 sum of term(0), ..., term(n - 1) in the order of such a key.
template <typename Term>
double sum_in_order(uint64_t key, int64_t n, Term term) {
  constexpr int64_t kLanes = 8;
  const auto order = static_cast<SumOrder>(key & 0xFF);
  float sums[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) {
    float& sum = sums[order == SumOrder::kLanes ? i % kLanes : 0];
    sum = static_cast<float>(static_cast<double>(sum) + term(order == SumOrder::kBackward ? n - 1 - i : i));
  }
  float total = sums[0];
  for (int64_t k = 1; order == SumOrder::kLanes && k < kLanes; ++k) total += sums[k];
  return static_cast<double>(total);
}

/// How far float32 may be from the exact sum: over forward, backward, column by column, pairwise, in 4, 8 and
/// 16 lanes, and in blocks, twice the largest distance of a sum on the way from the exact one, and five times
/// the size that independent roundings of the sums on the way add up to, u times the root of their squares.
double explained_of_sum(const Addends& addends);
/// The float32 sum in one of the orders.
double sum_in_order(const Addends& addends, SumOrder order);
/// A program's order is never exactly one of these: it unrolls by another number, or peels off a remainder.
inline constexpr double kOrdersFactor = 2;

/// Exact sums, and how far float32 may be from each.
struct MeasuredSums {
  std::vector<double> exact, explained;
};
MeasuredSums measure(std::span<const Addends> sums);
/// The same for addends that a program adds up as integers, exactly: a sum is rounded when it is converted to
/// float32, and again when a scale is applied to it.
MeasuredSums measure_integers(std::span<const Addends> sums);

/// One element of a result: its sums, and the function of them that it is.
struct SummedElement {
  std::vector<Addends> sums;
  std::function<double(std::span<const double> sums)> result;
  /// All elements of a row have the same sums; -1: others do not.
  int64_t row = -1;
  /// In: of this output of the operator.
  size_t output = 0;
  /// In: data that the function may keep from one element of a result to the next.
  std::shared_ptr<const void>* kept = nullptr;
  /// In: rows that were measured. Their addends need not be given again.
  const std::unordered_map<int64_t, MeasuredSums>* known = nullptr;
  const MeasuredSums* known_row() const {
    if (known == nullptr) return nullptr;
    const auto it = known->find(row);
    return it == known->end() ? nullptr : &it->second;
  }
};

/// How far the element may be from the exact one because of these sums.
double explained_by_sums(const SummedElement& element, const MeasuredSums& sums);

}  // namespace assay
