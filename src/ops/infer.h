// Type and shape inference over a whole model.
#pragma once

#include <functional>
#include <string>

#include "assay/graph.h"

namespace assay {

struct InferOptions {
  /// Receives what could not be inferred and why (unknown operator, broken rule); null: the first broken rule
  /// throws Error naming the node, unknown operators are skipped.
  std::function<void(const Node&, const std::string& reason)> on_problem;
  /// Keep a value's declared shape where inference knows less.
  bool keep_declared = true;
};

/// Sets Value::type of every value it can, subgraphs and local function bodies included.
void infer_shapes(Model& model, const InferOptions& options = {});

}  // namespace assay
