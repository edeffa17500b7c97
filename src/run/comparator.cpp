#include "run/comparator.h"

#include <algorithm>
#include <map>
#include <optional>

#include "arbiter/arbiter.h"
#include "assay/backend_set.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "base/resident_memory.h"
#include "compare/accuracy.h"
#include "compare/validate.h"
#include "run/check_results.h"
#include "run/output_recorder.h"
#include "run/stored_outputs.h"
#include "run/subprocess.h"
#include "run/tracer.h"

namespace assay {
namespace {

/// Loads a file of results or inputs. One of the wrong kind is explained here, as upstream does; what else
/// may go wrong ends the run.
template <typename Load>
auto load_file(const char* kind, const std::string& path, Load&& load) {
  log::info("Loading {} from {}", kind, path);
  try {
    return load(path);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInvalidArgument) throw;
    log::critical(e.code(), "{}", e.what());
  }
}

class Comparator {
 public:
  explicit Comparator(const RunOptions& options)
      : options_(options), loader_(options.model), store_(kResultMemory) {}

  RunOutcome run() {
    if (!options_.save_outputs.empty())
      log::verbose("Will save runner results to: {}", options_.save_outputs);
    run_inference();
    if (!options_.save_outputs.empty()) {
      for (auto& [name, iterations] : results_.runners)
        for (size_t i = 0; i < iterations.size(); ++i)
          iterations[i].inputs = cache_->fingerprint(static_cast<int64_t>(i));
      log::info("Saving inference results to {}", options_.save_outputs);
      save_run_results(results_, options_.save_outputs);
    }
    load_outputs();
    if (!options_.runners.empty()) check_inputs();
    const bool matched = judge_outputs();
    const bool valid = validate();
    if (!options_.arbitrate) return matched && valid ? RunOutcome::kPassed : RunOutcome::kFailed;
    const RunOutcome verdict = report_verdict();
    const bool right = verdict != RunOutcome::kFailed;
    if (!matched && right && !options_.comparison_chosen)
      log::warning(
          "Outputs differ by more than the built-in tolerances, but by no more than rounding explains: they "
          "pass. Give tolerances (--atol, --rtol) to have them decide.");
    return (matched || !options_.comparison_chosen) && valid ? verdict : RunOutcome::kFailed;
  }

 private:
  LoaderCache make_cache() const;
  void run_inference();
  void load_outputs();
  /// Whether loaded results tell that they were made with other inputs: then a verdict on them makes no
  /// sense.
  void check_inputs() const;
  /// Postprocesses and compares. False when outputs differ.
  bool judge_outputs();
  /// False when an output holds a NaN or an infinity and that was asked for.
  bool validate() const;
  /// Judges every result, saved ones included, against the float64 reference.
  RunOutcome report_verdict();

  const RunOptions& options_;
  ModelLoader loader_;
  TensorStore store_;
  RunResults results_;
  size_t from_file_ = 0;  ///< runners from here on were loaded
  std::vector<RunnerOutputs> outputs_;
  std::map<std::string, std::string> notes_;  ///< of runners, for the summaries
  std::optional<LoaderCache> cache_;
};

LoaderCache Comparator::make_cache() const {
  if (options_.load_inputs.empty()) return LoaderCache(DataLoader(options_.data), options_.save_inputs);
  InputData data;
  for (const std::string& path : options_.load_inputs) {
    InputData part = load_file("input data", path, load_inputs);
    data.insert(data.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return LoaderCache(std::move(data), options_.save_inputs);
}

void Comparator::run_inference() {
  if (options_.runners.empty()) log::warning("No runners have been selected. Inference will not be run!");
  std::vector<Runner> runners = make_runners(options_.runners, options_.session);
  cache_.emplace(make_cache());
  if (runners.empty())
    log::warning(
        "No runners were provided to Comparator.run(). Inference will not be run, and run results will be "
        "empty.");
  const auto execute = options_.use_subprocess ? execute_runner_in_subprocess : execute_runner;
  std::vector<std::string> names;
  for (Runner& runner : runners) {
    log::start("{:35} | Activating and starting inference", runner.name());
    OutputRecorder recorder(runner.name(), store_);
    execute(runner, loader_, *cache_, options_.warm_up, recorder);
    results_.runners.emplace_back(runner.name(), std::move(recorder.iterations));
    names.push_back(runner.name());
    if (!runner.note().empty()) notes_[runner.name()] = runner.note();
  }
  log::verbose("Successfully ran: {}", python_list_repr(names));
}

void Comparator::load_outputs() {
  from_file_ = results_.runners.size();
  for (const std::string& path : options_.load_outputs) {
    RunResults loaded = load_file("inference results", path, load_run_results);
    for (auto& runner : loaded.runners) results_.runners.push_back(std::move(runner));
  }
}

bool Comparator::judge_outputs() {
  outputs_ = as_outputs(results_);
  if (!options_.top_k.empty()) apply_top_k(outputs_, options_.top_k);
  if (options_.runners.size() <= 1 && options_.load_outputs.empty()) return true;
  const auto compare = [&](const OutputSource& a, const OutputSource& b) {
    return compare_outputs(*options_.comparison, a, b, options_.fail_fast);
  };
  return compare_accuracy(outputs_, compare, {.fail_fast = options_.fail_fast, .comparisons = {}, .notes = notes_}).passed();
}

bool Comparator::validate() const {
  return !options_.validate || validate_outputs(outputs_, {.check_inf = true, .check_nan = true});
}

void Comparator::check_inputs() const {
  for (size_t r = from_file_; r < results_.runners.size(); ++r) {
    const auto& [name, iterations] = results_.runners[r];
    const size_t both = std::min(iterations.size(), static_cast<size_t>(cache_->size()));
    for (size_t i = 0; i < both; ++i) {
      if (iterations[i].inputs.empty() ||
          iterations[i].inputs == cache_->fingerprint(static_cast<int64_t>(i)))
        continue;
      const std::string sentence =
          fmt::format("the results of {} were made with other inputs in iteration {}", name, i);
      constexpr const char* kRemedy = "Feed the inputs that they were made with (--load-inputs).";
      if (!options_.arbitrate || options_.partial) {
        log::verbose("Note that {}. {}", sentence, kRemedy);  // upstream says nothing
        break;
      }
      Error e(ErrorCode::kInvalidArgument, sentence);
      e.set_remedy(std::string(kRemedy) + " --partial judges them all the same.");
      throw e;
    }
  }
}

RunOutcome Comparator::report_verdict() {
  const std::shared_ptr<const Model> model = loader_.load_for(built_in_backends().get("reference")).model;
  cache_->set_inputs(tensor_infos(model->graph->inputs));
  if (options_.runners.empty()) check_inputs();
  size_t iterations = 0;
  for (const auto& [name, list] : results_.runners) iterations = std::max(iterations, list.size());
  for (size_t i = from_file_; !options_.partial && i < results_.runners.size(); ++i)
    check_results(results_.runners[i].first, results_.runners[i].second, *model, loader_.own_outputs(),
                  static_cast<size_t>(cache_->size()));
  std::vector<std::string> names;  // of those that ran here
  for (size_t i = 0; i < from_file_; ++i) names.push_back(results_.runners[i].first);
  Tracer tracer(options_, names, *cache_, store_);
  std::vector<Arbitration> judged;
  for (size_t i = 0; i < std::min(iterations, static_cast<size_t>(cache_->size())); ++i) {
    if (iterations > 1) log::info("Iteration: {}", i);
    std::vector<ArbiterCase> cases;
    for (const auto& [name, list] : results_.runners)
      if (i < list.size()) cases.push_back({name, &list[i].outputs});
    judged.push_back(arbitrate(model, cache_->feed(static_cast<int64_t>(i)), cases, options_.arbiter));
    tracer.trace(judged.back(), static_cast<int64_t>(i));
    if (const auto& traced = judged.back().traced; traced != nullptr) {
      log::info("With every layer marked{}:", traced->any_in_body() ? ", in the bodies of nodes, too" : "");
      report(*judged.back().traced, options_.arbiter);
      log::info("Without:");
    }
    report(judged.back(), options_.arbiter);
  }
  if (!options_.save_verdict.empty()) save_verdict(judged, options_.save_verdict);
  const auto any = [&](Verdict v) {
    return std::any_of(judged.begin(), judged.end(), [&](const Arbitration& a) { return a.any(v); });
  };
  if (any(Verdict::kWrong)) return RunOutcome::kFailed;
  // Without inputs there is nothing to judge, and the data loader has said so.
  const bool nothing =
      cache_->size() > 0 &&
      std::all_of(judged.begin(), judged.end(), [](const Arbitration& a) { return a.outputs.empty(); });
  if (nothing) log::warning("Nothing was judged: the results hold no value of the model");
  return nothing || any(Verdict::kUnclear) || any(Verdict::kNotJudged) ? RunOutcome::kUnclear
                                                                       : RunOutcome::kPassed;
}

}  // namespace

RunOutcome run_and_compare(const RunOptions& options) {
  if (options.model.path.empty() && !options.runners.empty())
    log::critical(
        ErrorCode::kInvalidArgument,
        "One or more runners was specified, but no model file was provided. Make sure you've specified the "
        "model path, and also that it's not being consumed as an argument for another parameter");
  if (options.model.path.empty() && options.arbitrate)
    log::critical(
        ErrorCode::kInvalidArgument,
        "--arbiter needs the model, to evaluate it in float64. Give its path before or between the options.");
  return Comparator(options).run();
}

}  // namespace assay
