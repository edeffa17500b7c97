// Judges one result against the reference's.
#pragma once

#include <span>
#include <string>

#include "arbiter/arbiter.h"
#include "arbiter/excuse_list.h"
#include "arbiter/explained.h"
#include "reference/interpreter.h"

namespace assay {

/// The standard by which a result is judged.
struct Standard {
  std::span<const Tensor> lanes;     ///< the exact value, then noisy ones
  const NodeError* error = nullptr;  ///< as in Computed
  Basis basis = Basis::kNetwork;
  DType declared = DType::kUndefined;  ///< the declared type; kUndefined without one
  /// Its nodes belong to one function call with known inputs, which is judged like a node.
  bool one_call = false;
  /// Intermediate steps are computed in one type without rounding to storage: float32 is recognizable.
  bool is_recurrence = false;
  /// For a recurrence: exact evaluations on
  /// possible unrounded inputs; may be empty.
  std::span<const Tensor> moved{};
  bool keeps_numbers = false;  ///< see keeps_numbers()
  /// True when the lanes have quantized values off by a step.
  bool noisy_levels = false;
  bool is_level = false;  ///< the result is a quantized value
  Tensor step{};          ///< of a dequantized value; undefined otherwise
  Tensor reach{};         ///< see reach_of_inputs()
  /// The runner's other results show that it computes narrower types in float32.
  bool computes_wider = false;
  /// The exact network's value, if it differs: a
  /// result equal to it after rounding is right.
  const Tensor* exact = nullptr;
  ExcuseSet excuses{};  ///< the enabled ones
};

/// Up to this multiple of what noisy evaluations explain, a result is unclear, not wrong: their error model
/// is not that of a specific backend. Not for results judged on the own inputs of a node or function call.
inline constexpr double kUnclearFactor = 4;

/// The same for a node on its own inputs: its bounds are expected sizes, and slightly larger errors are not
/// certain.
inline constexpr double kNearFactor = 1.5;

/// If only the network's inputs are known, fewer decimal digits than this are worthless: an error of that
/// size would be explained.
inline constexpr double kCheckedDigits = 2;

/// Judges a result, whose elements are loaded only if type and shape are right. Fills in all fields except
/// runner, output, node, max_error and exact. Returns the arithmetic that it shows.
ComputedIn judge_result(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out);

/// Allowed error of subnormal results, in smallest subnormal numbers, if they are not flushed.
inline constexpr double kKeptUnits = 2;

/// The explained errors of a result in `dtype`, given as float64.
Explained explained_for(const Tensor& result, const Standard& standard, DType dtype);

/// The explained elements, and the worst one; for excuses, which change what is explained.
struct Deviation {
  double max_error = 0;
  double ratio = 0;         ///< largest error over what is explained
  int64_t at = -1;          ///< there
  bool rounded = true;      ///< every error within u |y| (1 + u)
  bool impossible = false;  ///< an error is beyond what is possible
  int64_t beyond = 0, overflows = 0;
  int64_t untold = 0;  ///< unexplained elements where evaluations overflow, which may be right
};
/// Elements equal to the correctly rounded value of
/// `also_right`, if it has the same shape, do not deviate.
Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right = nullptr);

/// Sets the fields of a verdict from a deviation.
void set_worst(const Deviation& d, const Tensor& result, const Tensor& exact, const Explained& explained,
               ArbiterVerdict& out);

}  // namespace assay
