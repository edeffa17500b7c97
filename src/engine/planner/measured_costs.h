// Times of candidates, measured on this machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/timing_cache.h"
#include "base/thread_pool.h"
#include "engine/planner/lowering.h"
#include "engine/planner/selector.h"
#include "engine/target/target.h"

namespace assay::engine {

/// Limits of measuring.
struct TimingOptions {
  /// Minimum and maximum runs of each candidate.
  int least_runs = 4, most_runs = 12;
  /// Candidates that differ by less than the noise are measured for up to this many times as long.
  int most_repeats = 4;
  /// Seconds for the candidates of one problem, after the minimum runs.
  double seconds_per_problem = 0.03;
  /// Seconds for the runs of the whole network by each choice, after the minimum runs; 0: it is not run.
  double seconds_per_network = 0;
  /// Weights are read from memory, not from a cache,
  /// as in a network whose weights exceed the caches.
  bool cold_weights = true;
  /// Unknown problems throw Error (kNotFound) instead of being measured.
  bool use_only = false;
};

/// The time of a failed run: longer than any, but valid in a timing cache.
inline constexpr double kFailedSeconds = 1e5;

/// Times of the runs of one candidate.
class Samples {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }
  size_t size() const { return seconds_.size(); }
  bool empty() const { return seconds_.empty(); }
  double least() const;
  /// The lower quartile.
  double usual() const;
  /// How much longer than the shortest run a usual one is, as a share of it: other processes add time, each
  /// time another.
  double noise() const { return usual() / least() - 1; }
  /// Runs differ so much that few of them say little.
  bool are_disturbed() const;

 private:
  std::vector<double> seconds_;
};

/// Measurements of candidates that compete: they run alternately, so that changes of the machine's speed
/// affect all of them. Those that take far longer than the best are not run again; those that are no slower
/// than the noise hides are repeated until it is small, or the time is over.
class Competition {
 public:
  /// run(i) runs candidate i once and returns its seconds; now() is a clock.
  Competition(size_t count, std::function<double(size_t)> run, std::function<double()> now);
  void hold(const TimingOptions& options);

  /// Of a candidate: its usual time, or its shortest where runs differed too much.
  double seconds(size_t i) const;
  /// The noise that was left among the fastest.
  double noise() const { return noise_; }

 private:
  void run_round(double limit, size_t chances);
  double best() const;
  double worst_noise() const;

  std::vector<Samples> samples_;
  std::function<double(size_t)> run_;
  std::function<double()> now_;
  double noise_ = 0;
};

/// Candidates of a problem run alternately, so that changes of the machine's speed affect all of them. Times
/// are looked up in, and added to, a timing cache. The reference evaluator is
/// not measured if there is another candidate.
class MeasuredCosts final : public Costs {
 public:
  /// `target`, `cache` and `constants` outlive it. Kernels run on the threads of `pool`.
  MeasuredCosts(const Target& target, TimingCache& cache, ConstantCache& constants,
                std::shared_ptr<ThreadPool> pool, TimingOptions options);

  void rate(std::vector<Option>& options) override;
  double reorder(const Value& v, const Shape& shape, Format from, Format to) override;

  /// Called before each problem that is measured.
  std::function<void(const std::string& problem)> progress;
  /// Number of times found in the cache.
  size_t found() const { return found_; }

 private:
  double one_reorder(const Value& v, const Shape& shape, Format from, Format to);
  struct Subject;
  std::unique_ptr<Subject> subject_of(const Candidate& c, const TacticDef& tactic);
  std::vector<double> measure(std::vector<std::unique_ptr<Subject>>& subjects, double& noise);

  const Target& target_;
  TimingCache& cache_;
  ConstantCache& constants_;
  std::shared_ptr<ThreadPool> pool_;
  TimingOptions options_;
  std::unordered_map<std::string, double> noise_;  ///< of what was measured here, by problem
  size_t found_ = 0;
};

/// The key of a candidate's time within an environment: tactic, version, operands, parameters.
std::string problem_text(const Candidate& c, const TacticDef& tactic);
/// The same for a step that converts a value between formats.
std::string reorder_text(const Value& v, const Shape& shape, Format from, Format to);
std::string reorder_text(const PlanValue& from, const PlanValue& to);

}  // namespace assay::engine
