// Type and shape inference over a whole model.
#pragma once

#include <functional>
#include <string>

#include "assay/graph.h"

namespace assay {

struct InferOptions {
  /// Receives what could not be inferred and why (unknown operator, broken rule), in every branch; null: the
  /// first broken rule throws Error naming the node, unknown operators are skipped.
  std::function<void(const Node&, const std::string& reason)> on_problem;
  /// Keep a value's declared shape where inference knows less.
  bool keep_declared = true;
  /// Called when an operator's inference requests elements of an input that are not known.
  std::function<void(const Node&, const Value&)> on_unknown_value;
  /// Receives the elements of each integer tensor of rank 0 or 1 that consists of extents, as far as they are
  /// known: numbers, symbols, or nothing. Not those of local functions' bodies, which differ from call to
  /// call.
  std::function<void(const Value&, const Dims&)> on_extents;
};

/// Sets Value::type of every value it can, subgraphs and local function bodies included. A branch of an If
/// that breaks a rule is not an error as long as the other may be the one that runs. Throws Error also when
/// subgraphs nest deeper than kMaxGraphDepth.
void infer_shapes(Model& model, const InferOptions& options = {});

}  // namespace assay
