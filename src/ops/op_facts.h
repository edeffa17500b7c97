// Properties of an operator that others may rely on without knowing its name: passes, tactics, the verdict,
// sharding and inspection ask for them. A fact holds for every node of the operator in every version, or says
// what else it needs. An operator that states none is a black box: nothing is assumed of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "assay/api.h"
#include "kernels/pointwise/program.h"
#include "kernels/reduce/reduce.h"

// A class that a program uses is visible from its first declaration on.
namespace ASSAY_API assay {
class Count;
class Node;
}  // namespace assay

namespace assay {

class OpContext;
struct OpDef;

namespace kernels {
enum class RecurrentKind : uint8_t;
}

/// The source of the outputs' elements. All but the first compute none.
enum class Moves : uint8_t {
  kNothing,   ///< elements are computed
  kView,      ///< those of input 0 in their order, in another shape
  kFirst,     ///< those of input 0 in other positions, perhaps repeated or omitted
  kInputs,    ///< those of several inputs, unless the attribute `reduction` combines them
  kFilled,    ///< those of inputs, and numbers that the node has itself, such as those of a padding
  kExtents,   ///< only the input's extents matter
  kSelected,  ///< numbers of the inputs or bounds, chosen by comparing them, perhaps with the sign changed
};

/// The signs that results may have; NaN stays NaN.
enum class SignOfResult : uint8_t {
  kAny,
  kNotNegative,  ///< at least 0, or -0
  kPositive,     ///< at least 0, and never -0
};

/// The instruction of the engine's pointwise programs that computes the operator of element types that it
/// takes.
struct PointwiseFact {
  std::optional<kernels::PointwiseOp> op = std::nullopt;
  /// Attributes that are the instruction's parameters a and b.
  std::array<std::string_view, 2> parameters = {};
  /// Where attributes select the instruction: that one, or nothing when there is none.
  std::optional<kernels::PointwiseOp> (*choose)(const OpContext&) = nullptr;
};

/// Functions that are constant except for jumps: whether they grow (1) or fall (-1) with input 0 and 1.
struct StepsFact {
  int8_t first = 0, second = 0;
  constexpr bool any() const { return first != 0 || second != 0; }
};

/// Products of a value with weights (input 1), after which element-wise operators can be fused.
enum class ProductFact : uint8_t { kNone, kFloats, kIntegers };

/// Of the sums that an operator forms of float elements.
enum class SumsFact : uint8_t {
  kNone,
  kProducts,         ///< nothing but sums of products of its inputs
  kMean,             ///< such sums, divided by a count
  kRootOfSquares,    ///< the root of a sum of squares
  kByRootOfSquares,  ///< quotients by such a root
};

/// Reductions over the axes of the attribute or input `axes`.
struct ReductionFact {
  std::optional<kernels::Reduction> kernel = std::nullopt;
  /// Reducing over some axes and then over others equals reducing over all: up to rounding for floats,
  /// exactly for integers.
  bool composes_for_floats = false, composes_for_integers = false;
  /// Of one element it is that element.
  bool keeps_single = false;
};

enum class PoolFact : uint8_t { kNone, kLargest, kMean };

/// How far an input without an order (NaN) reaches into the results of an operator that compares its inputs.
struct ComparisonFact {
  enum class Reach : uint8_t {
    kNone,
    kElement,   ///< to the elements that are computed from it
    kAxis,      ///< to all elements selected along the node's axis
    kLargest,   ///< to the results it is the largest of
    kSmallest,  ///< to the results it is the smallest of
    kAll,       ///< to everything
  };
  Reach reach = Reach::kNone;
  uint8_t first = 0, count = 255;  ///< inputs that are compared
  bool infinities = false;         ///< differences and quotients of infinities are compared, too
};

/// The meaning of an input that is not numbers to compute with.
struct InputUse {
  enum class Kind : uint8_t {
    kNumbers,
    kIndex,  ///< positions along an axis of another input, `of`
    kCount,
    kShape,
    kAxis,  ///< axes, or distances along them
  };
  Kind kind = Kind::kNumbers;
  uint8_t input = 0, of = 0;
};

/// For numbers of inputs.
inline constexpr uint8_t kEveryInput = 255;

struct OpFacts {
  Moves moves = Moves::kNothing;
  /// Element by element: the number of its first inputs that are broadcast together, each giving the elements
  /// at the result's positions. Further inputs are the same for all elements. 0: it is not element-wise.
  uint8_t elementwise = 0;
  PointwiseFact pointwise = {};
  /// The order of its inputs does not matter.
  bool commutative = false;
  /// Applied again, with the same attributes and further inputs, it changes nothing.
  bool idempotent = false;
  SignOfResult sign = SignOfResult::kAny;
  StepsFact steps = {};
  /// Results are whole numbers, whatever the inputs are.
  bool gives_whole = false;
  /// Close inputs may have results that are far apart; those with `steps` do.
  bool jumps = false;
  /// Its product with its own input is an activation function that kernels compute in one step.
  bool gates = false;
  /// IEEE 754 defines its results for NaN and infinities.
  bool is_ieee = false;
  /// Of integers: the number of its first inputs that it adds and multiplies, so that results may leave their
  /// type. 0: they do not.
  uint8_t overflows = 0;
  /// In an integer type it equals a Cast to that type of its float results, as long as float32 represents all
  /// numbers exactly.
  bool commutes_with_cast = false;
  /// Whether it can be computed depends only on types and shapes.
  bool is_total = false;
  /// The same elements in another type, as closely as it represents them.
  bool recodes = false;
  /// Elements along an axis are combined with each other.
  bool mixes_axis = false;
  ProductFact product = ProductFact::kNone;
  SumsFact sums = SumsFact::kNone;
  ReductionFact reduction = {};
  PoolFact pool = PoolFact::kNone;
  std::optional<kernels::RecurrentKind> recurrent = std::nullopt;
  /// Results are quantized: by the scale in this input, or by one of its own. kNotQuantized: they are not.
  int8_t quantizing_scale = kNotQuantized;
  static constexpr int8_t kNotQuantized = -1, kOwnScale = -2;
  std::array<ComparisonFact, 2> compares = {};
  std::array<InputUse, 2> uses = {};
  /// The input by whose values the output gets an extent that no shape tells; -1: none.
  int8_t size_input = -1;
  /// Results may be much larger than the inputs.
  bool may_grow = false;
  /// Attributes whose numbers become elements of the result, or are compared with elements.
  std::array<std::string_view, 2> element_attributes = {};
  /// Multiply-accumulates of the direct algorithm, by the node's inferred types; null: none.
  Count (*multiply_accumulates)(const Node&, const OpDef&) = nullptr;
  /// Further steps of the reference evaluation (ops/work.h); null: a few for each element.
  int64_t (*extra_steps)(const Node&) = nullptr;

  /// Outputs are elements of input 0 in their order.
  constexpr bool is_view() const { return moves == Moves::kView; }
  /// Outputs are elements of input 0 and nothing else.
  constexpr bool gives_first() const { return moves == Moves::kView || moves == Moves::kFirst; }
  /// Outputs are elements of inputs and nothing else, if they are not combined (hands_on() in node_facts.h).
  constexpr bool gives_inputs() const { return gives_first() || moves == Moves::kInputs; }
  /// No numbers of inputs are computed with or compared.
  constexpr bool reads_no_numbers() const {
    return gives_inputs() || moves == Moves::kFilled || moves == Moves::kExtents;
  }
  constexpr bool is_quantized() const { return quantizing_scale != kNotQuantized; }
};

}  // namespace assay
