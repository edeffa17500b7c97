// How comparisons work: a function looks at the outputs of one iteration of two runners and returns what it
// found; an observer sees each step, with the tensors at hand, as it happens.
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

/// An array of numbers in numbers.
struct ArraySummary {
  std::string runner, name;
  DType dtype = DType::kUndefined;
  DType kind =
      DType::kFloat64;  ///< in which NumPy computes the statistics: what they are rounded to when printed
  Shape shape;
  Statistics statistics;
};

/// Two outputs in numbers.
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
  /// The value as text when it is not in the other output at all; else it has moved too far.
  std::string missing_value;
};

/// What an observer is told about one output. References are valid during the call.
struct OutputComparison {
  CompareFunction function;
  const OutputPair& pair;  ///< as the function compared it: the second output brought into shape
  OutputResult result;
  std::vector<ShapeStep> shape_steps = {};  ///< how it was brought into shape, or why it could not be
  std::optional<ErrorArrays> errors = {};   ///< of kSimple
  bool has_zeros = false;                   ///< kSimple: the second output holds a zero that is divided by
  /// What the function says of it, without a full stop: why there is no number (Obstacle::kMetric), or what
  /// it found (kCustom).
  std::string note = {};
  int64_t different_strings = -1;              ///< both outputs are strings; -1: they are not
  std::vector<IndexMismatch> mismatches = {};  ///< of kIndices
};

/// Names of outputs in an option that neither runner has.
struct UnknownOutputs {
  std::string option;                    ///< as in `atol`
  std::vector<std::string> unknown;      ///< what fits no output
  std::vector<std::string> given;        ///< all that the option names
  std::vector<std::string> known;        ///< all outputs there are
  std::vector<std::string> suggestions;  ///< what may have been meant, as sentences
};

/// What becomes of an output that the other runner does not have under the same name.
struct OutputMatch {
  enum class Kind : uint8_t {
    kAssumed,      ///< `found` is taken for its counterpart
    kHasOwn,       ///< `found` belongs to another output of the first runner: left out
    kDoesNotExist  ///< `found` is what the user's choice named: left out
  };
  Kind kind;
  std::string output, found, runner0, runner1;
};

/// Two outputs after all functions have looked at them.
struct OutputPairEnd {
  const PairSummaries& summaries;
  bool failed;                              ///< under any function
  const std::function<OutputPair()>& load;  ///< the outputs as the runners gave them
};

/// Told about a comparison while it goes on. Whatever it does not override is passed over.
class CompareObserver {
 public:
  virtual ~CompareObserver() = default;
  virtual void on_unknown_outputs(const UnknownOutputs&) {}
  /// Shapes are not checked: outputs are brought into the shape of the first.
  virtual void on_shapes_unchecked() {}
  virtual void on_match(const OutputMatch&) {}
  /// Before a function looks at a pair. Empty label: the function prints nothing of its own.
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

/// Which output of `other` output `names[index]` is compared with; empty: it is left out. Observers hear why.
using FindOutput = std::function<std::string(const OutputSource& source, size_t index,
                                             const OutputSource& other, CompareObserver& observer)>;
/// The output of the same name; else the first whose name contains the other or is contained in it, whatever
/// the case; else the one at the same position. Anything but the same name is left out when `source` has an
/// output of that name itself.
std::string find_output(const OutputSource& source, size_t index, const OutputSource& other,
                        CompareObserver& observer);

/// How functions work together.
struct CompareOptions {
  bool fail_fast = false;  ///< a function ends at its first mismatch
  FindOutput find = find_output;
};

/// What the functions of one iteration share: the statistics of the outputs, taken once, and which pairs
/// there were.
class PairCache {
 public:
  /// Notes a pair; counted in the names of the runners.
  void begin(size_t index0, size_t index1);
  /// Of the noted pair, which is loaded. Only for numbers.
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

/// Takes the statistics. Only for numbers.
PairSummaries summarize(const OutputPair& pair);
/// Both outputs are real numbers or truth values.
bool is_numeric(const OutputPair& pair);

/// A function: what it finds in one iteration of two runners.
class Comparison {
 public:
  virtual ~Comparison() = default;
  virtual CompareFunction function() const = 0;
  /// Makes ready what it needs, before anything is compared. Throws Error for what is missing.
  virtual void open() const {}
  virtual std::string label() const { return std::string(compare_function_label(function())); }
  /// Throws Error.
  virtual FunctionResult compare(const OutputSource& source0, const OutputSource& source1,
                                 const CompareOptions& options, PairCache& cache,
                                 CompareObserver& observer) const = 0;
  /// What an output has to meet; nothing when that is no number.
  virtual Threshold threshold_for(const std::string& /*output*/) const { return {}; }
};

/// A function that looks at one pair of outputs after the other, with no more than one in memory. Throws
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
