// Types requested of a run in addition to the model's, to which its nodes may round.
#pragma once

#include <span>
#include <unordered_map>

#include "reference/error_bound.h"

namespace assay {

/// The largest number that n multiples of a symmetric step represent.
inline constexpr double kInt8Levels = 127;

/// How a value may be rounded to 8 bits: in steps of a size, up to a limit. NaN: so that the largest number
/// of the value is the limit.
struct ByteStep {
  ByteStep(double symmetric = 0)
      : size(symmetric), limit(symmetric * kInt8Levels) {}  // NOLINT: as scales are given
  ByteStep(double size, double limit) : size(size), limit(limit) {}

  double size, limit;
};

/// The multiples of a step that 8 bits hold: from -zero_point of them to 255 more.
struct ByteLevels {
  float scale = 0;
  int zero_point = 128;
};

struct Lowering {
  /// The unit roundoff of the type that any float32 number may be rounded to before it is used, weights too;
  /// 0: none.
  double u = 0;
  /// Products whose inputs and weights may be rounded to 8 bits: the step of input 0 by node. NaN: the step
  /// that represents its largest number.
  std::unordered_map<const Node*, ByteStep> int8;
  /// Results that may be kept in 8 bits between such products: their step by node, as above.
  std::unordered_map<const Node*, ByteStep> kept;
  /// Those of them whose factors are known to be rounded as quantize() does it: how input 0 is.
  std::unordered_map<const Node*, ByteLevels> levels;

  bool any() const { return u > 0 || !int8.empty(); }
};

/// Adds rounding by the lowering to the errors of a float32 node: of each of its inputs, of a result that is
/// kept in 8 bits, and in 8-bit products clipping beyond the range of the step, if that is small compared
/// with the rounding; of products whose rounding is known also their results in 8 bits. `c` has the node's
/// exact inputs, `y` its exact outputs.
void add_lowered_errors(EvalContext& c, const Lowering& lowering, std::span<const Tensor> y,
                        std::vector<NodeError>& errors);

/// The accepted ratio of clipping to rounding.
/// A scale that balances clipping and rounding (by entropy, or a quantile) clips up to some ten times what it
/// rounds, as sums of squares.
inline constexpr double kCutOff = 100;

}  // namespace assay
