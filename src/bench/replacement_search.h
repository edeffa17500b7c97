// Finds by timing which parts of a network to replace by plugins.
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

/// Speed and memory of a network.
struct Performance {
  double latency = 0;     ///< seconds, the median of the runs
  double throughput = 0;  ///< runs in a second
  double memory = 0;      ///< bytes of inputs, outputs and intermediate values

  /// "Latency: 1.00ms, Throughput: 1000.00fps, Memory: 0.50MB".
  std::string text() const;
};

/// The result of measuring a network alternately with the best one so far.
struct Contest {
  Performance performance, best_so_far;
  /// True when every part of the measurement agrees, not only the total.
  bool is_faster = false;
};

/// True when one lane is faster in each of `parts` successive parts of the runs, so that fluctuations of the
/// machine's speed do not decide. False for lanes with fewer runs than parts.
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

/// Callbacks of a search. None may be empty.
struct SearchEvents {
  /// Throws Error when the network with these replacements cannot be built or run.
  std::function<Contest(const Replacements& tried, const Replacements& best_so_far)> measure;
  /// kGreedy's decision on an instance.
  std::function<void(size_t instance, bool is_replaced, const Contest&)> on_decision;
  /// kExhaustive found a better one; `number` counts from 1.
  std::function<void(size_t number, const Contest&)> on_best;
  /// A network that could not be measured, with the reason.
  std::function<void(const Replacements& tried, const std::string& reason)> on_failure;
  /// Before each measurement: the number of completed ones and the maximum.
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
