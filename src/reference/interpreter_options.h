// How the interpreter (reference/interpreter.h) evaluates a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "assay/backend.h"
#include "assay/error.h"
#include "assay/graph.h"
#include "assay/tensor.h"
#include "reference/foreign_nodes.h"
#include "reference/lowering.h"

namespace assay {

/// Thrown by a run that needs more than InterpreterOptions::max_work; of code kUnsupported.
class TooMuchWork : public Error {
 public:
  using Error::Error;
};

struct InterpreterOptions {
  ReferencePrecision precision = ReferencePrecision::kFloat64;
  int noisy_lanes = 0;  ///< only with kFloat64
  uint64_t seed = 1;    ///< of the noise
  /// Noisy lanes have each quantized value up to one step off, as in backends that compute in integers what
  /// the model writes as dequantized floats.
  bool noisy_levels = false;
  /// Noisy lanes compute in float32 what is stored in a narrower type, and round it once.
  bool computes_wider = false;
  /// Noisy lanes add up in float32 the addends that each node really has, one order after the other: of alike
  /// ones the errors of all elements go the same way, as independent errors do not.
  bool sums_in_order = false;
  /// Narrower types that nodes may round to, in addition; null: none. Outlives the interpreter.
  const Lowering* lowering = nullptr;
  /// Steps (ops/work.h) that a run may take; what needs more throws TooMuchWork.
  int64_t max_work = INT64_MAX;
  /// Called by follow() before each node, with the number of nodes done and of all.
  std::function<void(size_t, size_t)> progress;
  /// Evaluates the nodes whose operators are unknown; null: they are an error.
  std::shared_ptr<ForeignNodes> foreign;
  /// Nodes whose operators are unknown are an error only when they are to be evaluated; follow() continues
  /// after them with the suspects' values.
  bool skip_unknown = false;
  /// Sees each node of run() when it has been evaluated, with its inputs and outputs in the first lane; also
  /// nodes of bodies, in each of their runs. Empty: nodes are not observed.
  std::function<void(const Node&, std::span<const Tensor> inputs, std::span<const Tensor> outputs)> observe =
      {};
};

}  // namespace assay
