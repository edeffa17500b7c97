// One runner's results on the walk along them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arbiter/asked.h"
#include "arbiter/explained.h"
#include "arbiter/judgement.h"
#include "arbiter/shares.h"
#include "reference/interpreter.h"

namespace assay {

/// Names of what a node uses, also in its bodies, that is neither an initializer nor made by a Constant node.
std::vector<std::string> variable_inputs(const Node& n);

/// Whether more noisy evaluations could change a verdict.
bool may_change(const ArbiterVerdict& v);

/// The noisy lanes of results on which more of them may change the verdict, by runner and output.
using KeptLanes = std::map<std::pair<std::string, std::string>, std::vector<Tensor>>;

/// What a runner's results in narrow types show of its arithmetic.
struct ShownArithmetic {
  int wider = 0;          ///< results that were computed in float32 and rounded once
  int declared = 0;       ///< others, large enough to show that
  bool doubtful = false;  ///< it decides about some that are too small to show it
  /// A runner computes in float32 when nearly all of its results show that.
  bool computes_wider() const { return wider > 0 && wider >= 3 * declared; }
};

/// Judges what the runner has of each value and hands it to the walk.
class SuspectRun final : public Suspect {
 public:
  /// All of them outlive it. What it judges goes to `verdicts`. Lanes that were kept are used as well, and
  /// those that come are kept where it may help; null: none are. `computes_wider`: known from its other
  /// results. `noisy_levels`: as in InterpreterOptions. `excuses`: those that count. `asked`: what it was
  /// asked to compute in; null: nothing else than the model says.
  SuspectRun(const Model& model, std::span<const Tensor> feed, const ArbiterCase& results,
             std::vector<ArbiterVerdict>& verdicts, KeptLanes* kept, bool computes_wider = false,
             bool noisy_levels = false, const ExcuseSet& excuses = {}, const Asked* asked = nullptr);

  bool has(const Value& v) const override;
  Tensor compare(const Computed& computed) override;
  Tensor uncomputed(const Value& v, const std::string& reason, const Node* unknown) override;
  const ShownArithmetic& arithmetic() const { return arithmetic_; }
  /// Of what it was asked for, where that is known.
  std::vector<ErrorShare> shares() const { return shares_.shares(); }

 private:
  /// What is known of the values from which one was computed.
  struct Upstream {
    bool known = false;                ///< some value before is among the results
    std::vector<std::string> sources;  ///< those values
    bool spoiled = false;              ///< and wrong, or follows from one that is
    bool unjudged = false;
    std::vector<const Node*> between;  ///< the nodes from those to this value, the last one first
    const Node* open = nullptr;        ///< between those and the value ONNX leaves open what this node gives
  };
  Upstream upstream(const Value& v) const;
  void count(ComputedIn shown);

  ArbiterVerdict blank(const Value& v, const std::string& name) const;
  SuspectNode node_of(const Value& v) const;

  /// One result on its way to a verdict: measured, excused, classified, attributed.
  struct Judged {
    const Computed& computed;
    const Value& value;
    const StoredTensor& stored;
    const Tensor& exact;  ///< of the exact network, undefined where that has none
    const Upstream& before;
    bool whole;                 ///< it is the value, not a part of a container
    std::vector<Tensor> lanes;  ///< those kept from an earlier walk among them
    Standard standard;
    ArbiterVerdict out;
  };
  /// Judges the result of one name.
  void judge_tensor(const Computed& computed, const std::string& name, std::span<const Tensor> lanes,
                    const Tensor& exact, const Upstream& before);
  void set_standard(Judged& j) const;
  ComputedIn measure(Judged& j) const;
  /// What lies before the node, what ONNX leaves open, and other ways to round, where it seems wrong.
  void excuse_result(Judged& j) const;
  /// Of functions that jump, whether it seems wrong or not.
  void hold_to_jumps(Judged& j) const;
  /// Right, or open, and would be wrong on the exact inputs.
  bool is_inherited(const Judged& j) const;
  /// Sizes beside the verdict, and whether it follows from an error before.
  void classify(Judged& j) const;
  /// Where the error is made, and what its elements have in common.
  void attribute(Judged& j);
  /// What it was asked to compute in, and how much of the error is its own.
  void set_asked(Judged& j);
  /// The runner's value: a tensor, or the container that its tensors stand for. Undefined when it is not
  /// known.
  Tensor seen(const Value& v) const;
  /// See Standard::step.
  Tensor step_of(const Value& v, const Shape& shape) const;

  const Model& model_;
  std::span<const Tensor> feed_;
  std::string runner_;
  std::vector<ArbiterVerdict>& verdicts_;
  KeptLanes* kept_;
  bool computes_wider_, noisy_levels_;
  ExcuseSet excuses_;
  const Asked* asked_;
  ErrorShares shares_;
  ShownArithmetic arithmetic_;
  std::unordered_map<std::string_view, const StoredTensor*> results_;
  std::unordered_set<const Value*> spoiled_, unjudged_;
};

}  // namespace assay
