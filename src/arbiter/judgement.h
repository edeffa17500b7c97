// The data of a judgement: its inputs, and its findings in addition to the verdict (ArbiterVerdict).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "arbiter/excuse_list.h"
#include "arbiter/explained.h"
#include "assay/arbiter.h"
#include "assay/graph.h"
#include "reference/error_bound.h"
#include "tensor/tensor_store.h"

namespace assay {

/// The results of one runner for one iteration.
struct ArbiterCase {
  std::string runner;
  const StoredTensorList* outputs;
  /// It can run again with every layer marked, which tells more of a large error than further noisy
  /// evaluations.
  bool traceable = false;
  /// The types it was asked to compute in; null: as the model says.
  const NarrowTypes* asked = nullptr;
};

/// The values that a result is judged against.
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
  /// The noisy lanes have each quantized value up to one step off.
  bool noisy_levels = false;
  bool is_level = false;   ///< it is a quantized value
  bool is_choice = false;  ///< places of numbers that the node chose by comparing them
  Tensor step{};           ///< of a dequantized value; undefined elsewhere
  Tensor reach{};          ///< see reach_of_inputs()
  Tensor offset{};         ///< the last addend of a normalization; undefined where there is none
  /// The runner's other results show that it computes in float32 what is stored in a narrower type.
  bool computes_wider = false;
  /// The exact network's value, where it is another: a result equal to that, rounded, is right, no matter how
  /// it was computed.
  const Tensor* exact = nullptr;
  ExcuseSet excuses{};  ///< those that count
};

/// The node that computed a result, and what the runner gave it.
struct SuspectNode {
  const Node& node;
  const Model& model;
  const Value& output;
  std::function<Tensor(const Value&)> own;  ///< undefined when a value is not known
};

/// Smallest numbers that a number below the normal ones may be off by where it is kept.
inline constexpr double kKeptUnits = 2;

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

}  // namespace assay
