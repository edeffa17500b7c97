#include "compare/comparison.h"

#include <algorithm>
#include <cctype>

#include "assay/error.h"
#include "base/python_repr.h"

namespace assay {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The position of a name; the length of the list when it is missing. Outputs of one model have the same
/// order in every runner: checking `likely` first keeps the search constant-time.
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

bool is_number(const Tensor& t) {
  return is_float(t.dtype()) || is_integer(t.dtype()) || t.dtype() == DType::kBool;
}

OutputPair load_pair(const OutputSource& source0, size_t index0, const OutputSource& source1, size_t index1) {
  return {source0.runner_name(),   source1.runner_name(), source0.names()[index0],
          source1.names()[index1], source0.load(index0),  source1.load(index1)};
}

ArraySummary summary_of(const std::string& runner, const std::string& name, const Tensor& t) {
  const TensorNumbers numbers(t);
  return {runner, name, t.dtype(), numbers.kind(), t.shape(), statistics(numbers)};
}

}  // namespace

std::string find_output(const OutputSource& source, size_t index, const OutputSource& other,
                        CompareObserver& observer) {
  const std::string& name = source.names()[index];
  const std::string found = similar_name(name, index, other.names());
  if (found == name || found.empty()) return found;
  const bool has_own = contains(source.names(), found, index);
  observer.on_match({has_own ? OutputMatch::Kind::kHasOwn : OutputMatch::Kind::kAssumed, name, found,
                     source.runner_name(), other.runner_name()});
  return has_own ? "" : found;
}

bool is_numeric(const OutputPair& pair) { return is_number(pair.output0) && is_number(pair.output1); }

PairSummaries summarize(const OutputPair& pair) {
  PairSummaries result;
  result.identical = pair.output0.identical(pair.output1);
  result.first = summary_of(pair.runner0, pair.name0, pair.output0);
  if (result.identical) {
    result.second = result.first;
    result.second.runner = pair.runner1;
    result.second.name = pair.name1;
  } else {
    result.second = summary_of(pair.runner1, pair.name1, pair.output1);
  }
  return result;
}

void PairCache::begin(size_t index0, size_t index1) {
  const auto is = [&](const Entry& e) { return e.index0 == index0 && e.index1 == index1; };
  // Functions process the same pairs in the same order.
  if (current_ + 1 < entries_.size() && is(entries_[current_ + 1])) {
    ++current_;
    return;
  }
  const auto it = std::find_if(entries_.begin(), entries_.end(), is);
  current_ = static_cast<size_t>(it - entries_.begin());
  if (it == entries_.end()) entries_.push_back({index0, index1});
}

const PairSummaries& PairCache::summaries(const OutputPair& pair) {
  Entry& entry = entries_.at(current_);
  if (!entry.summaries) entry.summaries = summarize(pair);
  return *entry.summaries;
}

void PairCache::end(bool passed) {
  if (!passed) entries_.at(current_).failed = true;
}

FunctionResult OutputwiseComparison::compare(const OutputSource& source0, const OutputSource& source1,
                                             const CompareOptions& options, PairCache& cache,
                                             CompareObserver& observer) const {
  begin(source0, source1, observer);
  FunctionResult result{.function = function(), .label = label()};
  for (size_t i = 0; i < source0.names().size(); ++i) {
    const std::string name1 = options.find(source0, i, source1, observer);
    if (name1.empty()) continue;
    const size_t j = index_of(source1.names(), name1, i);
    if (j == source1.names().size()) {
      observer.on_match({OutputMatch::Kind::kDoesNotExist, source0.names()[i], name1, source0.runner_name(),
                         source1.runner_name()});
      continue;
    }
    const OutputPair pair = load_pair(source0, i, source1, j);
    cache.begin(i, j);
    observer.on_output_begin(result.label, pair);
    result.outputs.push_back(compare_pair(pair, cache, options, observer));
    cache.end(result.outputs.back().passed);
    if (options.fail_fast && !result.outputs.back().passed) return result;
  }
  observer.on_function_end(result);
  if (result.outputs.empty() && !(source0.names().empty() && source1.names().empty()))
    fail(ErrorCode::kInvalidArgument,
         "All outputs were skipped, no common outputs found! Note:\n{} outputs: {}\n{} outputs: {}",
         source0.runner_name(), python_list_repr(source0.names()), source1.runner_name(),
         python_list_repr(source1.names()));
  return result;
}

PairResult compare_iteration(std::span<const std::shared_ptr<const Comparison>> functions,
                             const OutputSource& source0, const OutputSource& source1,
                             const CompareOptions& options, CompareObserver& observer) {
  PairResult result;
  PairCache cache;
  for (const auto& function : functions)
    result.functions.push_back(function->compare(source0, source1, options, cache, observer));
  for (PairCache::Entry& entry : cache.entries()) {
    const std::function<OutputPair()> load = [&] {
      return load_pair(source0, entry.index0, source1, entry.index1);
    };
    if (!entry.summaries) {
      const OutputPair pair = load();
      if (!is_numeric(pair)) continue;
      entry.summaries = summarize(pair);
    }
    observer.on_outputs_compared({*entry.summaries, entry.failed, load});
  }
  return result;
}

}  // namespace assay
