// Which of a network's parts are worth replacing by plugins, found by timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace assay::bench {

/// Positions of the instances that are replaced, ascending.
using Replacements = std::vector<size_t>;

/// How fast a network is and what memory it takes.
struct Performance {
  double latency = 0;     ///< seconds, the median of the runs
  double throughput = 0;  ///< runs in a second
  double memory = 0;      ///< bytes of inputs, outputs and intermediate values

  /// "Latency: 1.00ms, Throughput: 1000.00fps, Memory: 0.50MB".
  std::string text() const;
};

/// What measuring one network in turns with the best one so far has shown.
struct Contest {
  Performance performance, best_so_far;
  /// True when every part of the measurement, not only all of it together, says so.
  bool is_faster = false;
};

/// Whether one lane beats the other in all of `parts` successive parts of their runs: then a machine whose
/// speed changes from moment to moment does not decide. Lanes with fewer runs than parts never do.
bool beats(const Lane& lane, const Lane& other, size_t parts = 6);

enum class SearchMode : uint8_t {
  kGreedy,      ///< instance after instance; kept if the network is then faster
  kExhaustive,  ///< all sets of instances
};

struct SearchOptions {
  SearchMode mode = SearchMode::kGreedy;
  size_t most_combinations = 1000;  ///< of kExhaustive
  /// kExhaustive ends when the best network takes this fraction less time than the unchanged one.
  double threshold = 0.1;
};

/// What a search does, as it does it. None may be empty.
struct SearchEvents {
  /// Throws Error when the network with these replacements cannot be built or run.
  std::function<Contest(const Replacements& tried, const Replacements& best_so_far)> measure;
  /// What kGreedy decided of an instance.
  std::function<void(size_t instance, bool is_replaced, const Contest&)> on_decision;
  /// kExhaustive found a better one; `number` counts from 1.
  std::function<void(size_t number, const Contest&)> on_best;
  /// A network that could not be measured, and why.
  std::function<void(const Replacements& tried, const std::string& reason)> on_failure;
  /// Before each measurement: how many are behind it and how many there may be.
  std::function<void(size_t done, size_t most)> on_progress;
};

struct SearchResult {
  Replacements best;  ///< empty: nothing was faster than the unchanged network
  Performance performance;
  size_t tested = 0, failed = 0;
  bool is_complete = true;  ///< false when a limit ended the search
};

/// Searches among `count` instances; the unchanged network is the first best one.
SearchResult search_replacements(size_t count, const SearchOptions& options, const SearchEvents& events);

}  // namespace assay::bench
