// Who is right: each backend's results against the float64 reference, with the error that rounding explains.
//
// docs/numerics.md describes the model. In short: noisy evaluations of the reference give, for every element,
// the spread sigma that the arithmetic of the declared types explains; an error within kExplainedFactor times
// that spread (and half a unit in the last place for storing) is rounding, one beyond it is wrong. Where
// outputs of nodes are among the results, a wrong one is traced: its node is evaluated again on the backend's
// own inputs, to tell whether it made the error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "reference/error_bound.h"
#include "run/results.h"

namespace assay {

struct ArbiterOptions {
  int samples = 3;  ///< noisy evaluations
  uint64_t seed = 1;
};

enum class Verdict : uint8_t {
  kAgrees,    ///< every element is the correctly rounded exact value
  kRounding,  ///< every error is within what rounding explains
  kWrong,     ///< some error is not
};

/// One output of one runner, or a tensor of one that is a container (run/value_tensors.h). Indices are
/// row-major positions.
struct ArbiterVerdict {
  std::string runner, output;
  Verdict verdict = Verdict::kAgrees;
  std::string problem;     ///< a difference that no error measures: shape, type, integers; empty otherwise
  double max_error = 0;    ///< largest |result - exact|
  double exact = 0;        ///< the exact value there
  double worst_ratio = 0;  ///< largest |result - exact| / explained
  double worst_error = 0, worst_explained = 0, worst_exact = 0, worst_result = 0;
  int64_t worst_at = -1;  ///< where
  int64_t overflows = 0;  ///< elements that are infinite because the type cannot hold the exact value
  DType dtype = DType::kUndefined;
  Shape shape;
};

/// What the node that computes a wrong value did, seen from the backend's own inputs.
struct NodeFinding {
  enum class Origin : uint8_t {
    kMade,       ///< its own arithmetic does not explain its result
    kInherited,  ///< its result follows from its inputs
    kUnknown,    ///< not all of its inputs are among the results
  };
  std::string runner, node, output;
  Origin origin = Origin::kUnknown;
  double own_ratio = 0;     ///< largest |result - node(inputs)| / what its rounding explains
  std::string own_problem;  ///< ArbiterVerdict::problem of the result against node(inputs)
  bool proven = false;      ///< made, and beyond the worst-case bound of every order of its additions
  double ratio = 0;         ///< ArbiterVerdict::worst_ratio
  std::string problem;      ///< ArbiterVerdict::problem
  std::string missing;      ///< kUnknown: why
};

struct Arbitration {
  std::vector<ArbiterVerdict> outputs;  ///< by output in topological order, then by runner
  std::vector<NodeFinding> findings;    ///< one per wrong output that a node computes, in topological order
  bool all_right() const;
};

/// The results of one runner for one iteration.
struct ArbiterCase {
  std::string runner;
  const StoredTensorList* outputs;
};

/// `feed` in the order of the model's inputs. Results whose names the model does not know are left out.
/// Throws Error when the reference cannot evaluate the model.
Arbitration arbitrate(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                      std::span<const ArbiterCase> cases, const ArbiterOptions& options = {});

/// Logs an arbitration: a line per output and runner (the inconspicuous ones only when there are few outputs
/// or at -v), the first divergence of each wrong runner with its origin, and a summary.
void report(const Arbitration& result, const ArbiterOptions& options);

}  // namespace assay
