// The framework of comparisons: a function compares the outputs of one iteration of two runners and returns a
// result; an observer sees each step as it happens, with its tensors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/difference.h"
#include "compare/match_shape.h"
#include "compare/outputs.h"
#include "compare/results.h"
#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// Statistics of a numeric array.
struct ArraySummary {
  std::string runner, name;
  DType dtype = DType::kUndefined;
  DType kind =
      DType::kFloat64;  ///< in which NumPy computes the statistics: they are rounded to it when printed
  Shape shape;
  Statistics statistics;
};

/// Statistics of two outputs.
struct PairSummaries {
  ArraySummary first, second;
  bool identical = false;  ///< of the same type, and all bits are equal
};

/// The errors between two outputs, element by element.
struct ErrorArrays {
  const Difference& difference;
  const Statistics& absolute;  ///< of difference.absolute()
  const Statistics& relative;  ///< of difference.relative()
  const Numbers& reference;    ///< the second output
};

/// A mismatch that `indices` found.
struct IndexMismatch {
  /// The value as text if the other output lacks it; otherwise it has moved too far.
  std::string missing_value;
};

/// Event about one output. References are valid during the call.
struct OutputComparison {
  CompareFunction function;
  const OutputPair& pair;  ///< as compared: with the second output in matching shape
  OutputResult result;
  std::vector<ShapeStep> shape_steps = {};  ///< conversions of the shape, or the reason why it failed
  std::optional<ErrorArrays> errors = {};   ///< of kSimple
  bool has_zeros = false;                   ///< kSimple: the second output has a zero divisor
  /// The function's message without a full stop: why there is no metric (Obstacle::kMetric), or its finding
  /// (kCustom).
  std::string note = {};
  int64_t different_strings = -1;              ///< of string outputs, else -1
  std::vector<IndexMismatch> mismatches = {};  ///< of kIndices
};

/// Names of outputs in an option that neither runner has.
struct UnknownOutputs {
  std::string option;                    ///< as in `atol`
  std::vector<std::string> unknown;      ///< entries that match no output
  std::vector<std::string> given;        ///< all entries of the option
  std::vector<std::string> known;        ///< all outputs
  std::vector<std::string> suggestions;  ///< suggestions, as sentences
};

/// Handling of an output that the other runner lacks under the same name.
struct OutputMatch {
  enum class Kind : uint8_t {
    kAssumed,      ///< `found` is used as its counterpart
    kHasOwn,       ///< `found` belongs to another output of the first runner: skipped
    kDoesNotExist  ///< `found`, chosen by the user, does not exist: skipped
  };
  Kind kind;
  std::string output, found, runner0, runner1;
};

/// Two outputs after all functions have compared them.
struct OutputPairEnd {
  const PairSummaries& summaries;
  bool failed;                              ///< under any function
  const std::function<OutputPair()>& load;  ///< the outputs as the runners gave them
};

/// Observes a comparison in progress. By default events are ignored.
class CompareObserver {
 public:
  virtual ~CompareObserver() = default;
  virtual void on_unknown_outputs(const UnknownOutputs&) {}
  /// Shapes are not checked: outputs are converted to the shape of the first.
  virtual void on_shapes_unchecked() {}
  virtual void on_match(const OutputMatch&) {}
  /// Before a function processes a pair. Empty label: the function prints nothing itself.
  virtual void on_output_begin(std::string_view /*label*/, const OutputPair&) {}
  virtual void on_output_end(const OutputComparison&) {}
  /// Not called when a function ended at its first mismatch.
  virtual void on_function_end(const FunctionResult&) {}
  virtual void on_outputs_compared(const OutputPairEnd&) {}
  /// Before the first iteration, for each two runners that are compared.
  virtual void on_pair(const std::string& /*runner0*/, const std::string& /*runner1*/) {}
  virtual void on_iteration(int64_t /*index*/) {}
  /// One iteration of one pair.
  virtual void on_pair_result(size_t /*pair*/, const PairResult&) {}
};

/// The output of `other` to compare with output `names[index]`; empty: skipped. Observers get the reason.
using FindOutput = std::function<std::string(const OutputSource& source, size_t index,
                                             const OutputSource& other, CompareObserver& observer)>;
/// The output of the same name; else the first whose name contains the other or is contained in it, ignoring
/// case; else the one at the same position. Except for equal names, a candidate is rejected if `source` has
/// an output of that name itself.
std::string find_output(const OutputSource& source, size_t index, const OutputSource& other,
                        CompareObserver& observer);

/// Options common to all functions.
struct CompareOptions {
  bool fail_fast = false;  ///< a function ends at its first mismatch
  FindOutput find = find_output;
};

/// State shared by the functions of one iteration:
/// statistics of the outputs, computed once, and the pairs.
class PairCache {
 public:
  /// Records a pair, by index in the runners' names.
  void begin(size_t index0, size_t index1);
  /// Statistics of the recorded pair, which is loaded. Only for numbers.
  const PairSummaries& summaries(const OutputPair& pair);
  void end(bool passed);

  struct Entry {
    size_t index0, index1;
    bool failed = false;
    std::optional<PairSummaries> summaries = {};
  };
  std::vector<Entry>& entries() { return entries_; }

 private:
  std::vector<Entry> entries_;
  size_t current_ = 0;
};

/// Computes the statistics. Only for numbers.
PairSummaries summarize(const OutputPair& pair);
/// True when both outputs are real numbers or booleans.
bool is_numeric(const OutputPair& pair);

/// A comparison function, applied to one iteration of two runners.
class Comparison {
 public:
  virtual ~Comparison() = default;
  virtual CompareFunction function() const = 0;
  /// Prepares resources before anything is compared. Throws Error for missing ones.
  virtual void open() const {}
  virtual std::string label() const { return std::string(compare_function_label(function())); }
  /// Throws Error.
  virtual FunctionResult compare(const OutputSource& source0, const OutputSource& source1,
                                 const CompareOptions& options, PairCache& cache,
                                 CompareObserver& observer) const = 0;
  /// The threshold of an output; nothing if it is not a number.
  virtual Threshold threshold_for(const std::string& /*output*/) const { return {}; }
};

/// A function that processes pairs of outputs one by one, with only one in memory. Throws
/// Error (kInvalidArgument) when there are outputs but no two were compared.
class OutputwiseComparison : public Comparison {
 public:
  FunctionResult compare(const OutputSource& source0, const OutputSource& source1,
                         const CompareOptions& options, PairCache& cache,
                         CompareObserver& observer) const final;

 protected:
  /// Called before the outputs of an iteration are compared.
  virtual void begin(const OutputSource& /*source0*/, const OutputSource& /*source1*/,
                     CompareObserver&) const {}
  /// Compares a pair and tells the observer (on_output_end).
  virtual OutputResult compare_pair(const OutputPair& pair, PairCache& cache, const CompareOptions& options,
                                    CompareObserver& observer) const = 0;
};

/// One iteration of two runners under all functions, in order; then the statistics of each output that was
/// compared.
PairResult compare_iteration(std::span<const std::shared_ptr<const Comparison>> functions,
                             const OutputSource& source0, const OutputSource& source1,
                             const CompareOptions& options, CompareObserver& observer);

}  // namespace assay
