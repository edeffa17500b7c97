// Finds the replacements by plugins that make a network faster: `plugin autotune` as a function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/plugin_tuner.h"

namespace assay::bench {

struct AutotuneOptions {
  SearchOptions search = {};
  /// Of inputs with open extents, which default to 1.
  ShapeSet shapes = {};
  /// Known times, to which measured ones are added; null: each build measures all again.
  std::shared_ptr<TimingCache> cache = {};
};

/// The result. Its instances are positions in the list passed to autotune().
struct AutotuneReport {
  SearchResult search;
  /// The network with the best replacements; null: nothing was faster than the unchanged one.
  std::shared_ptr<Model> model = nullptr;
  Performance baseline = {};
  size_t builds = 0;
  double seconds = 0, build_seconds = 0;
  /// Of the best network's outputs from the unchanged one's, relative to the largest magnitude.
  double difference = 0;

  /// Outputs differ by more than float16 arithmetic explains.
  bool differs_notably() const;
};

/// Observes each step.
class AutotuneObserver {
 public:
  virtual ~AutotuneObserver() = default;
  /// A sentence about the inputs used for timing.
  virtual void on_input_note(const std::string& /*sentence*/) {}
  virtual void on_baseline(const Performance&) {}
  /// kGreedy: whether the instance is replaced in later steps.
  virtual void on_decision(const TunedInstance&, bool /*is_replaced*/, const Performance&) {}
  /// kExhaustive: a better set; `number` counts from 1.
  virtual void on_best(size_t /*number*/, const Performance&) {}
  /// The best network so far computes other results than the unchanged one.
  virtual void on_difference(double /*difference*/) {}
  /// A set that could not be tried, by the names of its instances, with the reason.
  virtual void on_failure(const std::vector<std::string>& /*names*/, const std::string& /*reason*/) {}
  /// Before each measurement: the number of completed ones.
  virtual void on_progress(size_t /*done*/, size_t /*most*/) {}
  virtual void on_end(const SearchResult&) {}
};

/// Searches among `instances`, which are not empty. Throws Error when the unchanged network cannot be built
/// or run, and when there is no instance.
AutotuneReport autotune(const Runtime& runtime, const std::shared_ptr<const Model>& model,
                        const std::vector<TunedInstance>& instances, const AutotuneOptions& options,
                        AutotuneObserver& observer);

/// The report as text.
std::string autotune_text(const AutotuneReport& report, const std::vector<TunedInstance>& instances);

}  // namespace assay::bench
