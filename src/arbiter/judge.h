// One result against what the reference computed.
#pragma once

#include <span>
#include <string>

#include "arbiter/arbiter.h"
#include "arbiter/excuse_list.h"
#include "arbiter/explained.h"
#include "reference/interpreter.h"

namespace assay {

/// What a result is judged against.
struct Standard {
  std::span<const Tensor> lanes;     ///< the exact value, then noisy ones
  const NodeError* error = nullptr;  ///< as in Computed
  Basis basis = Basis::kNetwork;
  DType declared = DType::kUndefined;  ///< the type that the model gives it, kUndefined when it gives none
  /// Its nodes are those of one call of a function whose inputs are known: the call is judged as a node is.
  bool one_call = false;
  /// Its steps are computed in one type and stored in none: where that is float32, it shows.
  bool is_recurrence = false;
  /// Of a recurrence: exact evaluations on inputs as they may have been before they were rounded; may be
  /// empty.
  std::span<const Tensor> moved{};
  bool keeps_numbers = false;  ///< see keeps_numbers()
  /// The lanes have every quantised value a step off, or not.
  bool noisy_levels = false;
  bool is_level = false;   ///< it is a quantised value
  bool is_choice = false;  ///< places of numbers that the node chose by comparing them
  Tensor step{};           ///< of what is dequantised; undefined elsewhere
  Tensor reach{};          ///< see reach_of_inputs()
  Tensor offset{};         ///< what a normalisation adds last; undefined where that is nothing
  /// The runner's other results show that it computes in float32 what is stored in a narrower type.
  bool computes_wider = false;
  /// The exact network's value, when it is another: whoever has that, rounded, is right, however he came to
  /// it.
  const Tensor* exact = nullptr;
  ExcuseSet excuses{};  ///< those that count
};

/// Up to so many times what noisy evaluations explain a result is unclear, not wrong: their model of errors
/// is not that of any backend. Not on the own inputs of a node or of a function's call.
inline constexpr double kUnclearFactor = 4;

/// The same of a node on its own inputs: its bounds are sizes to be expected, and a little beyond them
/// nothing is certain.
inline constexpr double kNearFactor = 1.5;

/// Fewer decimal digits of a result are as good as none where more is not known than the network's inputs:
/// an error of so much of it is seen, and would be explained.
inline constexpr double kCheckedDigits = 2;

/// Judges a result, whose elements are loaded only if type and shape are right. Fills in all but runner,
/// output, node, max_error and exact. Returns what it shows of the runner's arithmetic.
ComputedIn judge_result(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out);

/// Smallest numbers that a number below the normal ones may be off by where it is kept.
inline constexpr double kKeptUnits = 2;

/// What is explained of a result in `dtype`, given as float64.
Explained explained_for(const Tensor& result, const Standard& standard, DType dtype);

/// For each element whether it is explained, and the worst one. For excuses, which change what is explained.
struct Deviation {
  double max_error = 0;
  double ratio = 0;         ///< largest error over what is explained
  int64_t at = -1;          ///< there
  bool rounded = true;      ///< every error within u |y| (1 + u)
  bool impossible = false;  ///< an error is beyond what is possible
  int64_t beyond = 0, overflows = 0;
  int64_t untold = 0;  ///< elements that are not explained where evaluations overflow, and may be right
};
/// Where the result is the correctly rounded value of `also_right`, if there is one of its shape, nothing
/// deviates.
Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right = nullptr);

/// Fills in what follows from a deviation.
void set_worst(const Deviation& d, const Tensor& result, const Tensor& exact, const Explained& explained,
               ArbiterVerdict& out);

}  // namespace assay
