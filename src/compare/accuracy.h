// Which outputs of which runners are compared, in what order, and the summary.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/outputs.h"

namespace assay {

/// The outputs of one iteration that were compared, in order.
using IterationVerdict = std::vector<OutputVerdict>;
bool all_passed(const IterationVerdict& verdict);

/// Compares the outputs of two iterations and logs what it finds.
using CompareIteration = std::function<IterationVerdict(const OutputSource&, const OutputSource&)>;

/// The name of the output of `other` that output `names[index]` is compared with; empty: it is left out.
using FindOutput =
    std::function<std::string(const OutputSource& source, size_t index, const OutputSource& other)>;

/// The output of the same name; else the first whose name contains the other or is contained in it, whatever
/// the case; else the one at the same position. Anything but the same name is left out when `source` has an
/// output of that name itself, and warned about otherwise.
std::string find_output(const OutputSource& source, size_t index, const OutputSource& other);

/// Compares output by output, with no more than one pair in memory. With `fail_fast`, stops at the first
/// mismatch. Throws log::LoggedError when there are outputs but no two were compared.
IterationVerdict compare_outputs(const Comparison& comparison, const OutputSource& source0,
                                 const OutputSource& source1, bool fail_fast = false,
                                 const FindOutput& find = find_output);

/// Two runners, iteration by iteration.
struct PairVerdict {
  std::string runner0, runner1;
  std::vector<IterationVerdict> iterations;

  size_t passed_iterations() const;
};

struct AccuracyResult {
  std::vector<PairVerdict> pairs;
  bool passed() const;
};

struct AccuracyOptions {
  bool fail_fast = false;  ///< end after the first iteration with a mismatch, without a summary
  /// Which results to compare; by default each with the next.
  std::vector<std::pair<size_t, size_t>> comparisons;
  /// What the summaries say of runners by name, besides the figures.
  std::map<std::string, std::string> notes;
};

/// Compares results pairwise, as many iterations as both have. (Upstream keeps one verdict per pair of names,
/// so that a second pair of the same names hides the first; here every pair counts.) Throws Error
/// (kInvalidArgument) for a pair that does not exist.
AccuracyResult compare_accuracy(std::span<const RunnerOutputs> results, const CompareIteration& compare,
                                const AccuracyOptions& options = {});

}  // namespace assay
