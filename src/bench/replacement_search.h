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
  /// True when so many parts of the measurement agree that chance is no explanation.
  bool is_faster = false;
};

/// The result of comparing the times of two lanes that were measured alternately.
enum class Outcome : uint8_t {
  kFaster,     ///< in more parts of the measurement than equally fast networks would be by chance
  kNotFaster,  ///< in no more than half of the parts, or by less than a hundredth in all
  kOpen,       ///< faster in all, but so unsteadily that only more runs can tell
};

/// Divides the runs into `parts` successive parts and compares their medians, pair by pair (a sign test), so
/// that neither a machine that slows down for a while nor a few disturbed runs decide. kOpen for lanes with
/// fewer runs than parts.
Outcome compare_lanes(const Lane& lane, const Lane& other, size_t parts);

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
