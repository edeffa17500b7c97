// The activation functions of RNN, GRU and LSTM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/rnn/recurrence.h"
#include "ops/op_context.h"

namespace assay {

/// One of ONNX's recurrent activation functions with its parameters.
struct Activation {
  using Kind = kernels::RecurrentFunction;
  Kind kind;
  double alpha = 0, beta = 0;

  double operator()(double x) const;
  /// The largest change of the function when its argument moves from x by up to `reach`, which may be
  /// infinite.
  double change(double x, double reach) const;
  /// The error of a float library's function at the value y, in units of the unit roundoff: a bound, and the
  /// size to expect. 0 where nothing is computed.
  double largest_error(double y) const;
  double expected_error(double y) const;
};

/// The functions of a direction where a node names none.
const std::vector<std::string>& usual_functions(kernels::RecurrentKind kind);

/// The functions of all directions in order: the attribute activations, or `defaults` for every direction,
/// with activation_alpha and activation_beta passed to the functions that take them. Throws Error for an
/// unknown name or a wrong number of functions.
std::vector<Activation> read_activations(const OpContext& c, size_t directions,
                                         const std::vector<std::string>& defaults);

}  // namespace assay
