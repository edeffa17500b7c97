#include "bench/autotune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/error.h"

namespace assay::bench {
namespace {

/// Relative to the largest magnitude.
constexpr double kNotableDifference = 0.01;

/// One tuning: forwards the search to the observer.
class Tuning {
 public:
  Tuning(const std::vector<TunedInstance>& instances, PluginTuner& tuner, AutotuneObserver& observer)
      : instances_(instances), tuner_(tuner), observer_(observer) {}

  AutotuneReport run(const SearchOptions& options) {
    const double begin = now();
    report_.baseline = tuner_.measure_baseline();
    observer_.on_baseline(report_.baseline);
    report_.search = search_replacements(instances_.size(), options, events());
    observer_.on_end(report_.search);
    report_.seconds = now() - begin;
    report_.builds = tuner_.builds();
    report_.build_seconds = tuner_.build_seconds();
    return report_;
  }

 private:
  SearchEvents events() {
    return {
        .measure = [this](const Replacements& tried,
                          const Replacements& best) { return tuner_.measure(tried, best); },
        .on_decision =
            [this](size_t instance, bool is_replaced, const Contest& contest) {
              observer_.on_decision(instances_[instance], is_replaced,
                                    is_replaced ? contest.performance : contest.best_so_far);
              if (is_replaced) note_difference();
            },
        .on_best =
            [this](size_t number, const Contest& contest) {
              observer_.on_best(number, contest.performance);
              note_difference();
            },
        .on_failure =
            [this](const Replacements& tried, const std::string& reason) {
              std::vector<std::string> names;
              for (const size_t i : tried) names.push_back(instances_[i].name);
              observer_.on_failure(names, reason);
            },
        .on_progress = [this](size_t done, size_t most) { observer_.on_progress(done, most); },
    };
  }

  void note_difference() {
    report_.difference = tuner_.difference();
    if (report_.differs_notably()) observer_.on_difference(report_.difference);
  }

  const std::vector<TunedInstance>& instances_;
  PluginTuner& tuner_;
  AutotuneObserver& observer_;
  AutotuneReport report_ = {};
};

std::string names_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "N/A" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool AutotuneReport::differs_notably() const { return !(difference <= kNotableDifference); }

AutotuneReport autotune(const Runtime& runtime, const std::shared_ptr<const Model>& model,
                        const std::vector<TunedInstance>& instances, const AutotuneOptions& options,
                        AutotuneObserver& observer) {
  require(!instances.empty(), ErrorCode::kNotFound, "there is nothing that a plugin may replace");
  std::vector<std::string> notes;
  PluginTuner tuner(runtime, model, instances, options.cache, options.shapes, notes);
  for (const std::string& sentence : notes) observer.on_input_note(sentence);
  AutotuneReport report = Tuning(instances, tuner, observer).run(options.search);
  if (!report.search.best.empty()) report.model = replace_instances(*model, instances, report.search.best);
  return report;
}

std::string autotune_text(const AutotuneReport& report, const std::vector<TunedInstance>& instances) {
  std::string text = "AutoTuner Optimization Report\n" + std::string(50, '=') + "\n\n";
  text += fmt::format("Optimization Time: {:.2f}s\n", report.seconds);
  text += fmt::format("Total Combinations Tested: {}\n", report.search.tested);
  text += fmt::format("Number of Engine Builds: {}\n", report.builds);
  text += fmt::format("Total Compilation Time: {:.2f}s\n", report.build_seconds);
  text += fmt::format("\nBaseline Performance:\n  {}\n", report.baseline.text());
  text += fmt::format("\nBest Performance:\n  {}\n", report.search.performance.text());
  text += fmt::format("\nLargest difference of its outputs: {:.3g} of the largest magnitude\n",
                      report.difference);
  text += fmt::format("\nBest Strategy ({} replacements):\n", report.search.best.size());
  size_t number = 0;
  for (const size_t i : report.search.best) {
    const TunedInstance& chosen = instances[i];
    text += fmt::format("  {}. {} ({})\n     Inputs: {}\n     Outputs: {}\n", ++number, chosen.plugin->op,
                        chosen.plugin->name, names_or_none(chosen.instance->inputs),
                        names_or_none(chosen.instance->outputs));
    if (!chosen.instance->graph.empty()) text += fmt::format("     Graph: {}\n", chosen.instance->graph);
  }
  return text;
}

}  // namespace assay::bench
