// Reduces a model to a minimal one that still fails.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "debug/iterations.h"

namespace assay::debug {

/// Algorithms of reduction.
enum class ReductionMode : uint8_t {
  kSubsets,  ///< any nodes, by delta debugging, then everything else that the failure does not need
  kBisect,   ///< Polygraphy's: a bisection over the node whose outputs, then inputs, become the model's
  kLinear,   ///< Polygraphy's: each node in turn
};

/// Events in addition to SearchObserver's.
class ReductionObserver : public SearchObserver {
 public:
  /// The current subject of reduction: "outputs", "inputs", "nodes", "attributes", ...
  virtual void begin_phase(const std::string& what) { (void)what; }
  /// `left`: the current number.
  virtual void end_phase(const std::string& what, size_t left) { (void)what, (void)left; }
  /// The model will begin, or end, with these values. `in_iteration`: for a candidate.
  virtual void mark(bool inputs, const std::vector<const Value*>& values, bool in_iteration) {
    (void)inputs, (void)values, (void)in_iteration;
  }
  virtual void save_candidate(const std::string& path) { (void)path; }
  /// A value of a removed branch becomes a constant. `is_first`: it is the first one.
  virtual void freeze(const Value& value, bool is_first) { (void)value, (void)is_first; }
  /// The model is evaluated to find types or values.
  virtual void evaluate() {}
};

struct ReductionOptions {
  ReductionMode mode = ReductionMode::kSubsets;
  bool reduce_inputs = true, reduce_outputs = true;
  bool wants_good = false;  ///< also find a passing model of about that size
  /// Under kSubsets: names and weights that the failure does not need are replaced by generated ones.
  bool anonymises = false;
  /// Evaluates the values of the model's main graph, for types that inference did not find and for removed
  /// branches. Empty: not possible.
  std::function<void(const std::shared_ptr<Model>&,
                     const std::function<void(const std::string&, const Tensor&)>&)>
      evaluate = {};
  /// Writes a candidate to its path.
  std::function<void(const Model&, const std::string&)> save = {};
  std::string candidate;  ///< that path
};

struct Reduction {
  std::shared_ptr<Model> bad;   ///< the smallest failing one; null: none
  std::shared_ptr<Model> good;  ///< null: none known
  std::string failure;          ///< the failure of `bad`
  /// True when `bad` passed a repeated check, or fails in some of its runs only.
  bool is_flaky = false;
  int runs = 1, failed_runs = 0;  ///< of the last check
  /// With ReductionOptions::anonymises: whether names
  /// are generated, and the number of original weights.
  bool has_own_names = true;
  size_t own_weights = 0;
};

/// `model` is in topological order and has no Constant nodes. Throws Error (kInvalidArgument) if the whole
/// model does not fail, under kSubsets; else errors of checks and saving.
Reduction reduce(const std::shared_ptr<Model>& model, const ReductionOptions& options, Iterations& iterations,
                 ReductionObserver& observer);

}  // namespace assay::debug
