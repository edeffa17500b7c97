#include "compare/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/log.h"
#include "base/python_repr.h"
#include "compare/report.h"

namespace assay {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The place of a name; the length of the list when it is not there. Outputs of one model stand in the same order with
/// every runner: looked for at `likely` first, many take no longer than few.
size_t index_of(const std::vector<std::string>& names, const std::string& name, size_t likely) {
  if (likely < names.size() && names[likely] == name) return likely;
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool contains(const std::vector<std::string>& names, const std::string& name, size_t likely) {
  return index_of(names, name, likely) < names.size();
}

/// The best candidate by name, else by position; empty when there is none.
std::string similar_name(const std::string& name, size_t index, const std::vector<std::string>& candidates) {
  if (contains(candidates, name, index)) return name;
  const std::string wanted = lower(name);
  for (const std::string& candidate : candidates) {
    const std::string c = lower(candidate);
    if (c.find(wanted) != c.npos || wanted.find(c) != wanted.npos) return candidate;
  }
  return index < candidates.size() ? candidates[index] : "";
}

OutputVerdict compare_pair(const Comparison& comparison, const OutputSource& source0, size_t index0,
                           const OutputSource& source1, size_t index1) {
  const OutputPair pair{source0.runner_name(),   source1.runner_name(), source0.names()[index0],
                        source1.names()[index1], source0.load(index0),  source1.load(index1)};
  log::start("Comparing Output: '{}' {} with '{}' {}", pair.name0, type_text(pair.output0), pair.name1,
             type_text(pair.output1));
  const log::Indent indent;
  return comparison.compare(pair);
}

void log_outcome(const IterationVerdict& verdict) {
  std::vector<std::string> all, mismatched;
  for (const OutputVerdict& v : verdict) {
    all.push_back(v.name);
    if (!v.passed) mismatched.push_back(v.name);
  }
  if (mismatched.empty()) {
    log::finish("PASSED | All outputs matched | Outputs: {}", python_list_repr(all));
  } else {
    log::error("FAILED | Mismatched outputs: {}", python_list_repr(mismatched));
  }
}

void log_summary(const PairVerdict& pair, const std::map<std::string, std::string>& notes) {
  std::string said;
  for (const std::string* runner : {&pair.runner0, &pair.runner1})
    if (const auto it = notes.find(*runner); it != notes.end() && said.find(*runner) == said.npos)
      said += fmt::format(" | {}: {}", *runner, it->second);
  const size_t passed = pair.passed_iterations(), total = pair.iterations.size();
  const double rate = total == 0 ? 1.0 : static_cast<double>(passed) / static_cast<double>(total);
  log::message(passed == total ? log::Severity::kFinish : log::Severity::kError,
               "Accuracy Summary | {} vs. {} | Passed: {}/{} iterations | Pass Rate: {}%{}", pair.runner0,
               pair.runner1, passed, total, python_float_repr(rate * 100.0), said);
}

/// Adds the verdicts of a pair of results to `pair`; false when the whole comparison is to end.
bool compare_iterations(const RunnerOutputs& result0, const RunnerOutputs& result1,
                        const CompareIteration& compare, bool fail_fast, PairVerdict& pair) {
  const size_t count = std::min(result0.iterations.size(), result1.iterations.size());
  for (size_t i = 0; i < count; ++i) {
    std::optional<log::Indent> indent;
    if (count > 1) {
      log::info("Iteration: {}", i);
      indent.emplace();
    }
    pair.iterations.push_back(compare(*result0.iterations[i], *result1.iterations[i]));
    if (fail_fast && !all_passed(pair.iterations.back())) return false;
  }
  log::extra_verbose("Finished comparing {} with {}", pair.runner0, pair.runner1);
  return true;
}

}  // namespace

bool all_passed(const IterationVerdict& verdict) {
  return std::all_of(verdict.begin(), verdict.end(), [](const OutputVerdict& v) { return v.passed; });
}

size_t PairVerdict::passed_iterations() const {
  return static_cast<size_t>(std::count_if(iterations.begin(), iterations.end(), all_passed));
}

bool AccuracyResult::passed() const {
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const PairVerdict& p) { return p.passed_iterations() == p.iterations.size(); });
}

std::string find_output(const OutputSource& source, size_t index, const OutputSource& other) {
  const std::string& name = source.names()[index];
  const std::string found = similar_name(name, index, other.names());
  if (found == name || found.empty()) return found;
  if (contains(source.names(), found, index)) {
    log::verbose("Will not compare {} with {}, since the former already has an exact match: {}", found, name,
                 found);
    return "";
  }
  log::warning("Output names did not match exactly. Assuming {} output: {} corresponds to output: {}",
               other.runner_name(), found, name);
  return found;
}

IterationVerdict compare_outputs(const Comparison& comparison, const OutputSource& source0,
                                 const OutputSource& source1, bool fail_fast, const FindOutput& find) {
  comparison.begin(source0, source1);
  IterationVerdict verdict;
  for (size_t i = 0; i < source0.names().size(); ++i) {
    const std::string name1 = find(source0, i, source1);
    if (name1.empty()) continue;
    const size_t j = index_of(source1.names(), name1, i);
    if (j == source1.names().size()) {
      log::warning(
          "For output: '{}' [{}], skipping corresponding output: '{}' [{}], since the output was not found",
          source0.names()[i], source0.runner_name(), name1, source1.runner_name());
      continue;
    }
    verdict.push_back(compare_pair(comparison, source0, i, source1, j));
    if (fail_fast && !verdict.back().passed) return verdict;
  }
  log_outcome(verdict);
  if (verdict.empty() && !(source0.names().empty() && source1.names().empty()))
    log::critical(ErrorCode::kInvalidArgument,
                  "All outputs were skipped, no common outputs found! Note:\n{} outputs: {}\n{} outputs: {}",
                  source0.runner_name(), python_list_repr(source0.names()), source1.runner_name(),
                  python_list_repr(source1.names()));
  return verdict;
}

AccuracyResult compare_accuracy(std::span<const RunnerOutputs> results, const CompareIteration& compare,
                                const AccuracyOptions& options) {
  std::vector<std::pair<size_t, size_t>> comparisons = options.comparisons;
  if (comparisons.empty())
    for (size_t i = 1; i < results.size(); ++i) comparisons.emplace_back(i - 1, i);
  AccuracyResult result;
  for (const auto& [i, j] : comparisons) {
    require(i < results.size() && j < results.size(), ErrorCode::kInvalidArgument,
            "cannot compare results {} and {}: there are {}", i, j, results.size());
    PairVerdict& pair =
        result.pairs.emplace_back(PairVerdict{results[i].runner_name, results[j].runner_name, {}});
    log::start("Accuracy Comparison | {} vs. {}", pair.runner0, pair.runner1);
    {
      const log::Indent indent;
      if (!compare_iterations(results[i], results[j], compare, options.fail_fast, pair)) return result;
    }
    log_summary(pair, options.notes);
  }
  return result;
}

}  // namespace assay
