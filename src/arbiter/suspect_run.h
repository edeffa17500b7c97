// The walk along one runner's results.
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

/// Names of a node's inputs, captured ones included, other than initializers and outputs of Constant nodes.
std::vector<std::string> variable_inputs(const Node& n);

/// True when more noisy evaluations could change a verdict.
bool may_change(const ArbiterVerdict& v);

/// The noisy lanes of results on which more of them may change the verdict, by runner and output.
using KeptLanes = std::map<std::pair<std::string, std::string>, std::vector<Tensor>>;

/// The arithmetic that a runner's results in narrow types show.
struct ShownArithmetic {
  int wider = 0;          ///< results that were computed in float32 and rounded once
  int declared = 0;       ///< others, large enough to show that
  bool doubtful = false;  ///< it matters for some that are too small to show it
  /// True when nearly all of its results show float32.
  bool computes_wider() const { return wider > 0 && wider >= 3 * declared; }
};

/// Judges the runner's result for each value and passes it to the walk.
class SuspectRun final : public Suspect {
 public:
  /// All arguments must outlive it. Verdicts are appended to `verdicts`. Saved lanes are used as well, and
  /// new ones saved if useful; null: none. `computes_wider`: known from its other results. `noisy_levels`: as
  /// in InterpreterOptions. `excuses`: the enabled ones. `asked`: requested computation types; null: only the
  /// model's.
  SuspectRun(const Model& model, std::span<const Tensor> feed, const ArbiterCase& results,
             std::vector<ArbiterVerdict>& verdicts, KeptLanes* kept, bool computes_wider = false,
             bool noisy_levels = false, const ExcuseSet& excuses = {}, const Asked* asked = nullptr);

  bool has(const Value& v) const override;
  Tensor compare(const Computed& computed) override;
  Tensor uncomputed(const Value& v, const std::string& reason, const Node* unknown) override;
  const ShownArithmetic& arithmetic() const { return arithmetic_; }
  /// The requested types, if known.
  std::vector<ErrorShare> shares() const { return shares_.shares(); }

 private:
  /// Knowledge about the sources of a value.
  struct Upstream {
    bool known = false;                ///< an earlier value is among the results
    std::vector<std::string> sources;  ///< those values
    bool spoiled = false;              ///< and wrong, or derived from a wrong one
    bool unjudged = false;
    std::vector<const Node*> between;  ///< the nodes from those to this value, the last one first
    const Node* open = nullptr;        ///< node on the way whose result ONNX leaves open
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
    const Tensor& exact;  ///< of the exact network, undefined without one
    const Upstream& before;
    bool whole;                 ///< the value itself, not a part of a container
    std::vector<Tensor> lanes;  ///< including those saved from an earlier walk
    Standard standard;
    ArbiterVerdict out;
  };
  /// Judges the result of one name.
  void judge_tensor(const Computed& computed, const std::string& name, std::span<const Tensor> lanes,
                    const Tensor& exact, const Upstream& before);
  void set_standard(Judged& j) const;
  ComputedIn measure(Judged& j) const;
  /// Excuses, if it seems wrong: earlier nodes, results left open by ONNX, other roundings.
  void excuse_result(Judged& j) const;
  /// For discontinuous functions, whether it seems wrong or not.
  void hold_to_jumps(Judged& j) const;
  /// True when right or open, but wrong on the exact inputs.
  bool is_inherited(const Judged& j) const;
  /// Error sizes of the verdict, and whether it is inherited.
  void classify(Judged& j) const;
  /// The origin of the error, and the pattern of its elements.
  void attribute(Judged& j);
  /// Its requested computation type, and its own share of the error.
  void set_asked(Judged& j);
  /// The runner's value: a tensor, or the container
  /// that its tensors represent. Undefined if unknown.
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
