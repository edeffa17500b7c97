#include "run/comparator.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/backend_set.h"
#include "backends/session_info.h"
#include "base/diagnostics.h"
#include "base/exception_text.h"
#include "base/expected_error.h"
#include "base/python_repr.h"
#include "base/time_trace.h"
#include "base/wording.h"
#include "run/accuracy_results.h"
#include "run/check_results.h"
#include "run/coerce_inputs.h"
#include "run/live_stream.h"
#include "run/result_stream.h"
#include "run/savers.h"
#include "run/stored_outputs.h"
#include "run/subprocess.h"
#include "run/verdict_stream.h"

namespace assay {
namespace {

constexpr size_t kMaxInvalid = 100;

class Comparator {
 public:
  Comparator(const RunOptions& options, RunObserver& observer)
      : options_(options),
        observer_(observer),
        loader_(options.model),
        accuracy_({.functions = options.functions,
                   .compare = {.fail_fast = options.fail_fast},
                   .pairs = {},
                   .keep = keeper()},
                  observer) {
    report_.aggregation = options.aggregation();
    saved_.resize(options.functions.size());
  }

  RunReport run() {
    for (const auto& function : options_.functions) function->open();
    if (options_.postprocess != nullptr) options_.postprocess->prepare();
    // With subprocesses, the first that requests data starts their source.
    if (options_.source != nullptr && !options_.use_subprocess) options_.source->prepare();
    if (options_.sequential_runners)
      run_sequentially();
    else
      run_streaming();
    finish();
    return std::move(report_);
  }

 private:
  using Streams = std::vector<std::unique_ptr<ResultStream>>;
  using Outputs = std::vector<std::shared_ptr<const OutputSource>>;

  void run_streaming();
  void run_sequentially();
  /// The iterations of all streams in lock step, as long as all have one.
  void consume(Streams streams);
  /// One iteration of all runners. False when the run should end.
  bool take(std::vector<IterationResult> results);
  Outputs postprocessed(const std::vector<IterationResult>& results);
  /// Throws where loaded results record that they were computed from other inputs and a verdict is asked
  /// for, which would mean nothing.
  void check_inputs(const std::vector<IterationResult>& results, const TensorList& data);
  bool validate(const Outputs& outputs);
  void validate_all(const std::vector<std::vector<IterationResult>>& runs);
  void note_invalid(const ValidationResult& result);
  void judge(const std::vector<IterationResult>& results);
  /// Another runner has failed, which ends the run.
  void judge_survivors() noexcept;
  /// For saved results only: checks that there are as many iterations as inputs.
  void check_all_were_judged();
  [[noreturn]] void refuse_iterations(const std::string& what) const;
  /// The data of the current iteration; nothing when there are none.
  std::optional<TensorList> current_data();
  void summarize();
  void finish();
  RunOutcome outcome() const;
  /// Says so, where some or all iterations were compared with none.
  bool compared_all(size_t runs) const;
  RunOutcome outcome_of_verdicts(size_t runs, bool matched) const;
  std::string notes_on(const PairSummary& pair) const;
  std::function<void(size_t, const PairResult&)> keeper();
  void save_accuracy();
  std::shared_ptr<DataSource> make_source() const;

  const RunOptions& options_;
  RunObserver& observer_;
  ModelLoader loader_;
  TensorStore store_{kResultMemory};
  AccuracyComparison accuracy_;
  AccuracyResults saved_;
  RunReport report_;
  size_t live_ = 0;                     ///< runners that ran here; the others were loaded
  std::optional<LiveStream> stream_;    ///< while runners stream
  std::optional<LoaderCache> cache_;    ///< when they run one after the other
  std::shared_ptr<DataSource> source_;  ///< of data for the verdict alone
  std::optional<VerdictStream> verdict_;
  int64_t iteration_ = 0;
  int64_t without_inputs_ = 0;  ///< number of saved iterations that could not be judged
};

std::function<void(size_t, const PairResult&)> Comparator::keeper() {
  if (options_.save_accuracy_results.empty()) return {};
  return [this](size_t pair, const PairResult& result) {
    for (size_t f = 0; f < result.functions.size(); ++f) {
      SavedAccuracy& saved = saved_.at(f);
      saved.function = result.functions[f].function;
      saved.aggregation = report_.aggregation;
      if (pair >= saved.pairs.size()) saved.pairs.resize(pair + 1);
      saved.pairs[pair].iterations.push_back(result.functions[f].outputs);
    }
  };
}

void Comparator::save_accuracy() {
  if (options_.save_accuracy_results.empty()) return;
  for (SavedAccuracy& saved : saved_)
    for (size_t p = 0; p < saved.pairs.size(); ++p) {
      saved.pairs[p].runner0 = report_.pairs[p].runner0;
      saved.pairs[p].runner1 = report_.pairs[p].runner1;
    }
  // Without a pair there are no results of functions.
  if (report_.pairs.empty()) saved_.clear();
  observer_.on_saving({Saved::kAccuracyResults, SavingEvent::Step::kWrite, options_.save_accuracy_results});
  save_accuracy_results(saved_, options_.save_accuracy_results);
}

std::shared_ptr<DataSource> Comparator::make_source() const {
  if (options_.source != nullptr) return options_.source;
  if (!options_.load_inputs.empty()) return saved_data(options_.load_inputs);
  return random_data(options_.data);
}

void Comparator::run_streaming() {
  Streams streams;
  if (!options_.runners.empty()) {
    stream_.emplace(options_, loader_, make_source(), store_, observer_);
    live_ = options_.runners.size();
    for (const Runner& r : stream_->runners())
      report_.runners.push_back({.name = r.name(), .note = std::string(r.note())});
    streams.push_back(stream_->results());
  }
  for (const std::string& path : options_.load_outputs) streams.push_back(saved_results(path));
  try {
    consume(std::move(streams));
  } catch (...) {
    if (stream_) {
      judge_survivors();
      stream_->finish_quietly();
    }
    throw;
  }
  if (stream_) stream_->finish();
  summarize();
}

void Comparator::run_sequentially() {
  std::vector<Runner> runners = make_runners(options_.runners, options_.session);
  if (options_.source != nullptr)
    cache_.emplace(options_.source, store_);
  else if (options_.load_inputs.empty())
    cache_.emplace(DataLoader(options_.data));
  else
    cache_.emplace(load_all_inputs_aloud(options_.load_inputs));
  std::vector<std::vector<IterationResult>> runs;
  const auto execute = options_.use_subprocess ? execute_runner_in_subprocess : execute_runner;
  std::vector<std::string> names;
  for (Runner& runner : runners) {
    observer_.on_runner_begin(runner.name());
    OutputRecorder recorder(runner.name(), store_);
    try {
      execute(runner, loader_, *cache_, options_.warm_up, recorder, observer_);
    } catch (const Error&) {
      // Results of the other runners are kept, because they took time.
      if (!runs.empty()) save_sequential_results(options_, *cache_, runs, observer_);
      throw;
    }
    RunnerReport& report =
        report_.runners.emplace_back(RunnerReport{.name = runner.name(), .note = std::string(runner.note())});
    for (const IterationResult& r : recorder.iterations) report.seconds += r.runtime.value_or(0);
    runs.push_back(std::move(recorder.iterations));
    names.push_back(runner.name());
  }
  live_ = runs.size();
  diag::verbose("Successfully ran: {}", python_list_repr(names));
  if (live_ > 0) save_sequential_results(options_, *cache_, runs, observer_);
  for (const std::string& path : options_.load_outputs)
    for (auto& runner : load_all_results_aloud(path).runners) {
      for (IterationResult& r : runner.second) r.runner_name = runner.first;
      runs.push_back(std::move(runner.second));
    }
  if (options_.postprocess != nullptr) {
    observer_.on_postprocess(options_.postprocess->name(), /*done=*/false);
    observer_.on_postprocess(options_.postprocess->name(), /*done=*/true);
  }
  Streams streams;
  for (const auto& run : runs) streams.push_back(stored_results(run));
  consume(std::move(streams));
  summarize();
  if (options_.validate) validate_all(runs);
}

void Comparator::consume(Streams streams) {
  if (streams.empty()) return;
  for (;;) {
    std::vector<IterationResult> results;
    std::vector<size_t> ended;
    for (size_t i = 0; i < streams.size(); ++i) {
      auto next = streams[i]->next();
      if (!next)
        ended.push_back(i);
      else
        std::move(next->begin(), next->end(), std::back_inserter(results));
    }
    if (!ended.empty()) {
      if (ended.size() < streams.size()) {
        report_.different_lengths = true;
        observer_.on_different_lengths({iteration_, streams.size(), std::move(ended)});
      }
      return;
    }
    if (!take(std::move(results))) {
      report_.ended_early = true;
      return;
    }
    ++iteration_;
  }
}

bool Comparator::take(std::vector<IterationResult> results) {
  if (iteration_ == 0) {
    for (size_t i = report_.runners.size(); i < results.size(); ++i)
      report_.runners.push_back({.name = results[i].runner_name, .loaded = true});
    if (options_.postprocess != nullptr) {
      std::vector<std::string> names;
      for (const IterationResult& r : results)
        for (const NamedStoredTensor& o : r.outputs) names.push_back(o.name);
      for (const UnknownPostprocessed& u : options_.postprocess->unknown(names))
        diag::warning("{}: there is no output {}, so nothing happens to it.{}{}", say(Say::kNamePostprocess),
                      python_str_repr(u.name), u.suggestion.empty() ? "" : " ", u.suggestion);
    }
  }
  for (size_t i = 0; i < results.size() && i < report_.runners.size(); ++i) {
    ++report_.runners[i].iterations;
    if (!options_.sequential_runners) report_.runners[i].seconds += results[i].runtime.value_or(0);
  }
  if (live_ > 0 && live_ < results.size())
    if (const auto data = current_data()) check_inputs(results, *data);
  const Outputs outputs = postprocessed(results);
  if (options_.validate && !options_.sequential_runners && !validate(outputs)) return false;
  const bool goes_on = [&] {
    const trace::Span span(trace::Kind::kCompare, "compare the outputs");
    return accuracy_.add(outputs);
  }();
  report_.iterations = accuracy_.iterations();
  if (goes_on && options_.arbitrate) judge(results);
  return goes_on;
}

Comparator::Outputs Comparator::postprocessed(const std::vector<IterationResult>& results) {
  Outputs outputs;
  for (const IterationResult& r : results) {
    outputs.push_back(std::make_shared<StoredOutputs>(r));
    if (options_.postprocess != nullptr)
      outputs.back() = options_.postprocess->apply(outputs.back(), r.runtime);
  }
  return outputs;
}

void Comparator::check_inputs(const std::vector<IterationResult>& results, const TensorList& data) {
  std::string own;
  for (size_t r = live_; r < results.size(); ++r) {
    const std::string& theirs = results[r].inputs;
    if (theirs.empty()) continue;
    if (own.empty()) own = fingerprint_of(data);
    if (theirs == own) continue;
    const std::string sentence = fmt::format("the results of {} were made with other inputs in iteration {}",
                                             results[r].runner_name, iteration_);
    if (!options_.arbitrate || options_.partial) {
      diag::verbose("Note that {}. {}", sentence, say(Say::kSameInputs));  // upstream says nothing
      continue;
    }
    Error e(ErrorCode::kInvalidArgument, sentence);
    throw set_remedy(e, Say::kSameInputsOrPartial);
  }
}

void Comparator::note_invalid(const ValidationResult& result) {
  if (!result.valid() && report_.invalid.size() < kMaxInvalid) report_.invalid.push_back(result);
}

bool Comparator::validate(const Outputs& outputs) {
  constexpr ValidateOptions kOptions{.check_inf = true, .check_nan = true};
  for (const auto& source : outputs)
    for (size_t i = 0; i < source->names().size(); ++i) {
      const Tensor output = source->load(i);
      const ValidationResult result =
          validate_output(source->runner_name(), source->names()[i], output, kOptions);
      observer_.on_validated(result, output, kOptions, iteration_);
      note_invalid(result);
      if (!result.valid())
        fail_expected(ErrorCode::kInvalidArgument,
                      "Output validation failed: iteration {} contains invalid values (NaNs/Infs). See the "
                      "errors above.",
                      iteration_);
    }
  return true;
}

void Comparator::validate_all(const std::vector<std::vector<IterationResult>>& runs) {
  constexpr ValidateOptions kOptions{.check_inf = true, .check_nan = true};
  std::vector<std::string> names;
  for (const RunnerReport& r : report_.runners) names.push_back(r.name);
  observer_.on_validation_begin(names);
  bool valid = true;
  for (const auto& run : runs)
    for (const IterationResult& r : run) {
      const auto source = postprocessed({r}).front();
      for (size_t i = 0; i < source->names().size(); ++i) {
        const Tensor output = source->load(i);
        const ValidationResult result =
            validate_output(source->runner_name(), source->names()[i], output, kOptions);
        observer_.on_validated(result, output, kOptions, -1);
        note_invalid(result);
        valid &= result.valid();
      }
    }
  observer_.on_validation_end(valid);
}

std::optional<TensorList> Comparator::current_data() {
  if (stream_) return stream_->data();
  if (cache_ && live_ > 0) {
    if (iteration_ >= cache_->size()) return std::nullopt;
    return cache_->data(iteration_);
  }
  return std::nullopt;
}

void Comparator::refuse_iterations(const std::string& what) const {
  Error e(ErrorCode::kInvalidArgument, "the saved results " + what);
  throw set_remedy(e, Say::kPartial);
}

void Comparator::check_all_were_judged() {
  if (!options_.arbitrate || live_ > 0 || options_.load_outputs.empty()) return;
  const bool has_more = source_ != nullptr && source_->next();
  if (options_.partial) {
    if (without_inputs_ > 0)
      diag::warning("{} iteration(s) of the saved results were not judged: there are no inputs for them",
                    without_inputs_);
    if (has_more)
      diag::warning("The saved results hold {} iteration(s), but there are inputs for more",
                    report_.iterations);
    return;
  }
  if (report_.iterations == 0) refuse_iterations("hold no iteration");
  if (has_more)
    refuse_iterations(fmt::format("hold {} iteration(s), but there are inputs for more", report_.iterations));
}

void Comparator::judge(const std::vector<IterationResult>& results) {
  if (!verdict_) verdict_.emplace(options_, loader_, report_, live_, store_, observer_);
  std::optional<TensorList> data = current_data();
  if (live_ == 0) {
    if (source_ == nullptr) {
      source_ = make_source();
      source_->begin(verdict_->inputs());
    }
    data = source_->next();
    if (data) check_inputs(results, *data);
  }
  if (!data && live_ == 0) {
    if (!options_.partial)
      refuse_iterations(fmt::format("hold {} iteration(s) or more, but there are inputs for {}",
                                    iteration_ + 1, iteration_));
    ++without_inputs_;
    return;
  }
  if (!data)
    fail(ErrorCode::kInvalidArgument, "there are no inputs for iteration {}, so its results cannot be judged",
         iteration_);
  const trace::Span span(trace::Kind::kCompare, "judge by float64");
  verdict_->judge(results, *data, iteration_);
}

void Comparator::judge_survivors() noexcept {
  if (!options_.arbitrate || stream_->survivors().empty()) return;
  try {
    judge(stream_->survivors());
    verdict_->finish();
  } catch (const std::exception& e) {
    diag::warning("What the other runners gave could not be judged: {}", text_of(e));
  }
}

std::string Comparator::notes_on(const PairSummary& pair) const {
  std::string said;
  for (const std::string* name : {&pair.runner0, &pair.runner1})
    for (const RunnerReport& r : report_.runners)
      if (r.name == *name && !r.note.empty() && said.find(r.name) == said.npos)
        said += fmt::format(" | {}: {}", r.name, r.note);
  return said;
}

void Comparator::summarize() {
  report_.pairs = accuracy_.summaries();
  if (!report_.ended_early)
    for (const PairSummary& pair : report_.pairs)
      observer_.on_summary(pair, report_.aggregation, notes_on(pair));
  save_accuracy();
}

void Comparator::finish() {
  check_all_were_judged();
  if (verdict_)
    verdict_->finish();
  else if (!options_.save_verdict.empty())
    VerdictWriter(options_.save_verdict).commit();
  report_.outcome = outcome();
}

bool Comparator::compared_all(size_t runs) const {
  if (report_.different_lengths && !report_.ended_early && !options_.partial && runs > 1) {
    diag::error("FAILED | Iterations of some runs were not compared with any. {}",
                say(Say::kPartialCompares));
    return false;
  }
  if (runs > 1 && report_.iterations == 0) {
    diag::error("FAILED | Nothing was compared: there was no iteration.");
    return false;
  }
  return true;
}

RunOutcome Comparator::outcome_of_verdicts(size_t runs, bool matched) const {
  const VerdictCounts& v = report_.verdicts;
  if (v.count(Verdict::kWrong) > 0) return RunOutcome::kFailed;
  if (!matched && options_.comparison_chosen) return RunOutcome::kFailed;
  // Without inputs there is nothing to judge, which has been logged.
  const bool nothing = (report_.iterations > 0 || runs == 0) && v.judged() == 0;
  if (nothing)
    diag::warning("Nothing was judged: {}", runs == 0 ? "no runner ran, and no results were loaded"
                                                      : "the results hold no value of the model");
  const bool open =
      v.count(Verdict::kUnclear) + v.count(Verdict::kCannotTell) + v.count(Verdict::kNotJudged) > 0;
  if (!matched && !open)
    diag::warning("Outputs differ by more than the built-in tolerances, but {}: they pass. {}",
                  v.overflown > 0 ? "only where rounding explains it or numbers overflow"
                                  : "by no more than rounding explains",
                  say(Say::kTolerances));
  return nothing || open ? RunOutcome::kUnclear : RunOutcome::kPassed;
}

RunOutcome Comparator::outcome() const {
  const size_t runs = live_ + options_.load_outputs.size();
  const bool complete = compared_all(runs), matched = report_.matched();
  if (!complete || !report_.invalid.empty()) return RunOutcome::kFailed;
  if (!options_.arbitrate) return matched ? RunOutcome::kPassed : RunOutcome::kFailed;
  return outcome_of_verdicts(runs, matched);
}

}  // namespace

RunReport run(const RunOptions& options, RunObserver& observer) {
  check_options(options);
  return Comparator(options, observer).run();
}

}  // namespace assay
