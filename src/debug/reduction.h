// The smallest model of which a failure is left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "debug/iterations.h"

namespace assay::debug {

/// How a model is reduced.
enum class ReductionMode : uint8_t {
  kSubsets,  ///< any nodes, by delta debugging, then all else that the failure does not need
  kBisect,   ///< Polygraphy's: a bisection over the node whose outputs, then whose inputs, are the model's
  kLinear,   ///< Polygraphy's: each node in turn
};

/// Told besides what SearchObserver is told.
class ReductionObserver : public SearchObserver {
 public:
  /// What is tried to be made smaller: "outputs", "inputs", "nodes", "attributes", ...
  virtual void begin_phase(const std::string& what) { (void)what; }
  /// `left`: how many there are now.
  virtual void end_phase(const std::string& what, size_t left) { (void)what, (void)left; }
  /// The model is about to begin, or end, with these values. `in_iteration`: of a candidate.
  virtual void mark(bool inputs, const std::vector<const Value*>& values, bool in_iteration) {
    (void)inputs, (void)values, (void)in_iteration;
  }
  virtual void save_candidate(const std::string& path) { (void)path; }
  /// A value of a branch that is left out becomes a constant. `is_first`: nothing was so far.
  virtual void freeze(const Value& value, bool is_first) { (void)value, (void)is_first; }
  /// The model is evaluated to find types or values.
  virtual void evaluate() {}
};

struct ReductionOptions {
  ReductionMode mode = ReductionMode::kSubsets;
  bool reduce_inputs = true, reduce_outputs = true;
  bool wants_good = false;  ///< also a model of about that size that does not fail
  /// Under kSubsets: names and weights that the failure does not need are replaced by generated ones.
  bool anonymises = false;
  /// Evaluates the model: the values of the main graph, for types that inference did not find and for
  /// branches that are left out. Empty: it cannot be.
  std::function<void(const std::shared_ptr<Model>&,
                     const std::function<void(const std::string&, const Tensor&)>&)>
      evaluate = {};
  /// Writes a candidate to its path.
  std::function<void(const Model&, const std::string&)> save = {};
  std::string candidate;  ///< that path
};

struct Reduction {
  std::shared_ptr<Model> bad;   ///< the smallest that fails; null: none did
  std::shared_ptr<Model> good;  ///< null: none is known
  std::string failure;          ///< in which way `bad` fails
  /// `bad` passed when it was checked once more.
  bool is_flaky = false;
  /// With ReductionOptions::anonymises: whether the names are generated ones, and how many weights are the
  /// model's own.
  bool has_own_names = true;
  size_t own_weights = 0;
};

/// `model` is in topological order and has no Constant nodes. Throws Error (kInvalidArgument) where the whole
/// model does not fail, under kSubsets; else what checks and saving throw.
Reduction reduce(const std::shared_ptr<Model>& model, const ReductionOptions& options, Iterations& iterations,
                 ReductionObserver& observer);

}  // namespace assay::debug
