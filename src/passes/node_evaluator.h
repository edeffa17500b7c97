// Evaluation of a node whose inputs are all known.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"
#include "graph/function_index.h"
#include "reference/evaluate.h"

namespace assay {

/// The local functions of a model, which must not change during its lifetime.
class LocalFunctions {
 public:
  explicit LocalFunctions(const Model& model);
  const Function* called(const Node& n) const { return index_.called(n); }
  /// True when a call draws random numbers, directly or indirectly.
  bool is_random(const Function* f) const { return random_.contains(f); }

 private:
  FunctionIndex index_;
  std::unordered_set<const Function*> random_;
};

/// Evaluates single nodes, those with subgraphs and calls of local functions included, as the reference does
/// with the stored types.
class NodeEvaluator {
 public:
  /// The tensor of a value that the node uses.
  using Known = std::function<const UnalignedTensor&(const Value*)>;

  /// `model` has the local functions, which are those of `functions`; `scope` has the opsets. An evaluation
  /// may take `max_work` steps (ops/work.h).
  NodeEvaluator(const Model& model, const LocalFunctions& functions, const Model& scope, Known known,
                int64_t max_work);

  /// One tensor for each output, undefined if omitted; nothing when the operator is unknown, or random
  /// anywhere inside. Throws Error naming the node and the violated rule, and for excessive time or memory: a
  /// Loop without a small number of iterations, a result above kMaxBytes, more
  /// steps than max_work, more than half of the remaining memory.
  std::vector<Tensor> evaluate(const Node& n) const;

  /// Results larger than this, and larger than twice the inputs, are not computed.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;
  /// Maximum iterations of a Loop.
  static constexpr int64_t kMaxTurns = 1 << 16;

 private:
  bool is_random(const Node& n) const;
  void check_turns(const Node& n) const;
  void check_cost(const Node& n) const;
  void add_functions(const Graph& g, Model& model) const;
  std::shared_ptr<Model> fragment(const Node& n) const;
  std::vector<Tensor> run(const Node& n) const;

  const Model& model_;
  const LocalFunctions& functions_;
  const Model& scope_;
  Known known_;
  int64_t max_work_;
};

}  // namespace assay
