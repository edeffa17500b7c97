#include "run/comparator.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "arbiter/arbiter.h"
#include "backends/backend_list.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "base/resident_memory.h"
#include "compare/accuracy.h"
#include "compare/validate.h"
#include "run/check_results.h"
#include "run/stored_outputs.h"
#include "run/subprocess.h"
#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// Results beyond this go to disk. Small, because the page cache holds what is read again soon in any case,
/// and because a model's own memory is what should decide whether it fits.
constexpr size_t kResultMemory = size_t{16} << 20;

/// Keeps what a runner gives as the results of its iterations.
class OutputRecorder final : public InferenceObserver {
 public:
  OutputRecorder(const std::string& runner_name, TensorStore& store)
      : runner_name_(runner_name), store_(store) {}

  void on_active(const std::vector<TensorInfo>& outputs) override {
    for (const TensorInfo& o : outputs) blank_.push_back({{o.name, StoredTensor()}});
    current_ = blank_;
  }
  void on_output(size_t output, Tensor value) override {
    const std::string name = blank_.at(output)[0].name;
    current_[output].clear();
    for_each_tensor(name, std::move(value), [&](const std::string& part, Tensor tensor) {
      keep(part, std::move(tensor), current_[output]);
    });
  }
  void on_iteration_end(double seconds) override {
    StoredTensorList all;
    for (StoredTensorList& list : current_) std::move(list.begin(), list.end(), std::back_inserter(all));
    current_ = blank_;
    iterations.push_back({std::move(all), seconds, runner_name_});
  }

  std::vector<IterationResult> iterations;

 private:
  void keep(const std::string& name, Tensor tensor, StoredTensorList& list) {
    // A view of a backend's buffer can keep all memory of its session alive, so what stays in memory is
    // copied.
    if (store_.bytes_in_memory() + tensor.nbytes() <= kResultMemory && tensor.dtype() != DType::kString)
      tensor.mutable_data();
    list.push_back({name, store_.put(std::move(tensor))});
  }

  const std::string& runner_name_;
  TensorStore& store_;
  std::vector<StoredTensorList> blank_, current_;  ///< of each output the tensors that stand for it
};

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
      log::info("Saving inference results to {}", options_.save_outputs);
      save_run_results(results_, options_.save_outputs);
    }
    load_outputs();
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
  /// Postprocesses and compares. False when outputs differ.
  bool judge_outputs();
  /// False when an output holds a NaN or an infinity and that was asked for.
  bool validate() const;
  /// Judges every result, saved ones included, against the float64 reference.
  RunOutcome report_verdict();
  /// Runs those that seem wrong by what the network gives again, with every layer marked.
  void trace(Arbitration& judged, int64_t iteration);

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

void Comparator::trace(Arbitration& judged, int64_t iteration) {
  if (!options_.trace || options_.model.mark_all || options_.model.is_plan) return;
  std::vector<RunnerChoice> choices;
  std::vector<std::string> names;
  for (size_t i = 0; i < from_file_; ++i) {
    const std::string& name = results_.runners[i].first;
    const bool seems_wrong =
        std::any_of(judged.outputs.begin(), judged.outputs.end(), [&](const ArbiterVerdict& o) {
          return o.runner == name && o.basis != Basis::kNode &&
                 (o.verdict == Verdict::kWrong || o.verdict == Verdict::kUnclear);
        });
    // One that a command line opens in a way of its own may save what it builds.
    if (!seems_wrong || i >= options_.runners.size() || options_.runners[i].open) continue;
    choices.push_back(options_.runners[i]);
    names.push_back(name);
  }
  if (choices.empty()) return;
  ModelLoaderOptions marked = options_.model;
  marked.mark_all = true;
  marked.outputs.reset();
  marked.exclude_outputs.reset();
  marked.save = {};
  log::info("Tracing | Running {} again with every layer marked (--no-trace forbids it)",
            python_list_repr(names));
  try {
    ModelLoader loader(marked);
    std::vector<Runner> runners = make_runners(choices, options_.session);
    std::vector<std::vector<IterationResult>> results;
    for (size_t i = 0; i < runners.size(); ++i) {
      OutputRecorder recorder(names[i], store_);
      execute_runner(runners[i], loader, *cache_, 0, recorder);
      results.push_back(std::move(recorder.iterations));
    }
    const std::shared_ptr<const Model> model = loader.load_for(backend_reference::def).model;
    cache_->set_inputs(tensor_infos(model->graph->inputs));
    std::vector<ArbiterCase> cases;
    for (size_t i = 0; i < results.size(); ++i)
      cases.push_back({names[i], &results[i].at(static_cast<size_t>(iteration)).outputs});
    apply_trace(judged, arbitrate(model, cache_->feed(iteration), cases, options_.arbiter));
  } catch (const Error& e) {
    log::warning("It could not be traced: {}", e.what());
  }
}

RunOutcome Comparator::report_verdict() {
  const std::shared_ptr<const Model> model = loader_.load_for(backend_reference::def).model;
  cache_->set_inputs(tensor_infos(model->graph->inputs));
  size_t iterations = 0;
  for (const auto& [name, list] : results_.runners) iterations = std::max(iterations, list.size());
  for (size_t i = from_file_; !options_.partial && i < results_.runners.size(); ++i)
    check_results(results_.runners[i].first, results_.runners[i].second, *model, loader_.own_outputs(),
                  static_cast<size_t>(cache_->size()));
  std::vector<Arbitration> judged;
  for (size_t i = 0; i < std::min(iterations, static_cast<size_t>(cache_->size())); ++i) {
    if (iterations > 1) log::info("Iteration: {}", i);
    std::vector<ArbiterCase> cases;
    for (const auto& [name, list] : results_.runners)
      if (i < list.size()) cases.push_back({name, &list[i].outputs});
    judged.push_back(arbitrate(model, cache_->feed(static_cast<int64_t>(i)), cases, options_.arbiter));
    trace(judged.back(), static_cast<int64_t>(i));
    if (judged.back().traced != nullptr) {
      log::info("With every layer marked:");
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
