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

/// What InterpreterOptions::max_work ends with; of code kUnsupported.
class TooMuchWork : public Error {
 public:
  using Error::Error;
};

struct InterpreterOptions {
  ReferencePrecision precision = ReferencePrecision::kFloat64;
  int noisy_lanes = 0;  ///< only with kFloat64
  uint64_t seed = 1;    ///< of the noise
  /// Noisy lanes have each level of a quantisation up to one step off, as backends may that compute in
  /// integers what the model writes as dequantised floats.
  bool noisy_levels = false;
  /// Noisy lanes compute in float32 what is stored in a narrower type, and round it once.
  bool computes_wider = false;
  /// Noisy lanes add up in float32 the addends that each node really has, one order after the other: of alike
  /// ones the errors of all elements go the same way, as independent errors do not.
  bool sums_in_order = false;
  /// What nodes may round to beside; null: nothing. Outlives the interpreter.
  const Lowering* lowering = nullptr;
  /// Steps (ops/work.h) that a run may take; what needs more throws TooMuchWork.
  int64_t max_work = INT64_MAX;
  /// Called by follow() before each node, with the number of nodes done and of all.
  std::function<void(size_t, size_t)> progress;
  /// Evaluates the nodes whose operators are unknown; null: they are an error.
  std::shared_ptr<ForeignNodes> foreign;
  /// Nodes whose operators nobody knows are an error only when they are to be evaluated; follow() goes on
  /// behind them with what suspects had.
  bool skip_unknown = false;
  /// Sees each node of run() when it has been evaluated, with what it was given and gave in the first lane;
  /// nodes of bodies too, in each of their runs. Empty: nobody.
  std::function<void(const Node&, std::span<const Tensor> inputs, std::span<const Tensor> outputs)> observe =
      {};
};

}  // namespace assay
