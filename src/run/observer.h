// Events of a run, and its result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "assay/backend.h"
#include "compare/comparison.h"
#include "compare/results.h"
#include "compare/validate.h"

namespace assay {

/// Tensors with the type and shape that they have; in the order of a model's inputs or outputs.
struct SeenTensor {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
};

/// The inputs of an iteration.
struct InputsEvent {
  const std::string& runner;  ///< that is fed; empty: all
  int64_t iteration;
  const std::vector<SeenTensor>& inputs;
  std::span<const Tensor> values;
};

/// Outputs of a runner in an iteration.
struct OutputsEvent {
  const std::string& runner;
  const std::vector<SeenTensor>& outputs;
  std::span<const Tensor> values;  ///< empty unless the observer wants_values()
  double seconds;                  ///< that the backend spent
};

/// A file or folder that a run writes.
enum class Saved : uint8_t { kInputs, kOutputs, kInputBlobs, kAccuracyResults };

struct SavingEvent {
  enum class Step : uint8_t {
    kFile,    ///< a single file will be written
    kFolder,  ///< a folder will be filled, iteration by iteration
    kWrite,   ///< it is written now
  };
  Saved what;
  Step step;
  const std::string& path;
};

/// A runner of the run, or one of loaded results.
struct RunnerReport {
  std::string name;
  std::string note;     ///< shown in addition to a name that would be misleading
  bool loaded = false;  ///< its results come from a file
  int64_t iterations = 0;
  double seconds = 0;  ///< that its backend spent, in all
};

/// Runs (the live one, then each of the loaded ones) have different numbers of iterations.
struct LengthsEvent {
  int64_t compared;  ///< iterations that all have
  size_t runs;
  std::vector<size_t> ended;  ///< those that have no more
};

struct VerdictCounts;

/// Observes a run in progress. By default events are ignored.
class RunObserver : public CompareObserver {
 public:
  /// Whether to keep inputs and outputs until their event, which takes memory.
  virtual bool wants_values() const { return false; }
  virtual void on_runner_begin(const std::string& /*runner*/) {}
  virtual void on_warm_up(const std::string& /*runner*/, int64_t /*runs*/, bool /*done*/, bool /*has_data*/) {
  }
  virtual void on_inputs(const InputsEvent&) {}
  virtual void on_outputs(const OutputsEvent&) {}
  /// Only when runners run one after the other.
  virtual void on_runner_end(const RunnerReport&) {}
  virtual void on_saving(const SavingEvent&) {}
  /// `function`: what replaces outputs before they are compared.
  virtual void on_postprocess(const std::string& /*function*/, bool /*done*/) {}
  /// Before the first output is validated and after the last, when runners run one after the other.
  virtual void on_validation_begin(const std::vector<std::string>& /*runners*/) {}
  virtual void on_validation_end(bool /*valid*/) {}
  /// `iteration` is -1 when runners run one after the other.
  virtual void on_validated(const ValidationResult&, const Tensor&, const ValidateOptions&,
                            int64_t /*iteration*/) {}
  virtual void on_different_lengths(const LengthsEvent&) {}
  virtual void on_summary(const PairSummary&, Aggregation, const std::string& /*notes*/) {}
  /// The float64 verdict on an iteration.
  virtual void on_verdict(const Arbitration&, const ArbiterOptions&, int64_t /*iteration*/) {}
  /// At the end of a run with verdicts.
  virtual void on_verdicts(const VerdictCounts&) {}
};

/// The outcome of a run; the number is the exit code.
enum class RunOutcome : uint8_t {
  kPassed = 0,
  kFailed = 1,   ///< outputs differ, are invalid or are wrong
  kUnclear = 3,  ///< nothing is wrong, but a verdict is undecided or was not made
};

/// The verdicts of all iterations, counted.
struct VerdictCounts {
  int64_t iterations = 0;
  int64_t of[8] = {};     ///< by Verdict
  int64_t overflown = 0;  ///< correct results with infinities or NaN where the model is finite
  int64_t count(Verdict v) const { return of[static_cast<size_t>(v)]; }
  int64_t judged() const;
  /// Adds the verdict on an iteration.
  void add(const Arbitration& judged, int64_t iteration);

  int64_t wrong_iterations = 0;  ///< iterations with a WRONG verdict
  int64_t first_wrong = -1;      ///< the first of them
  std::string first_maker;       ///< its runner and node, as far as known; see report()
};

/// The result of a run. It has only numbers; observers see tensors.
struct RunReport {
  std::vector<RunnerReport> runners;  ///< those that ran, then those that were loaded
  int64_t iterations = 0;             ///< common to all of them
  bool different_lengths = false;     ///< some have more
  Aggregation aggregation = Aggregation::kPerSample;
  std::vector<PairSummary> pairs;         ///< of the compared ones
  bool ended_early = false;               ///< at the first mismatch or invalid output, as requested
  std::vector<ValidationResult> invalid;  ///< outputs with NaN or infinity, the first hundred
  VerdictCounts verdicts;
  RunOutcome outcome = RunOutcome::kPassed;

  /// True when all compared pairs passed.
  bool matched() const;
};

}  // namespace assay
