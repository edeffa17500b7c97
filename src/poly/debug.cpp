#include "assay/debug.h"

#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "assay/backend_set.h"
#include "assay/error.h"
#include "assay/interrupt.h"
#include "debug/divergence.h"
#include "debug/journal.h"
#include "debug/layer_run.h"
#include "debug/non_finite.h"
#include "debug/reduction.h"
#include "debug/repeated_check.h"
#include "debug/value_ranges.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "passes/pass_list.h"
#include "poly/run_parts.h"
#include "run/loader_cache.h"
#include "run/observed_types.h"
#include "run/output_recorder.h"
#include "surgeon/input_shapes.h"

namespace assay::poly {
namespace {

/// A model laid open on its backend.
class Layers {
 public:
  explicit Layers(const LayeredRun& of) {
    require(of.model != nullptr, ErrorCode::kInvalidArgument, "there is no model to run");
    for (const Value* v : of.model->graph->outputs) outputs_.push_back(v->name());
    with_context([&] { return file_place(of.model->path); },
                 [&] { model_ = debug::model_of_layers(*of.model); });
    run_.emplace(model_, of.model->path, runner_choice({.backend = of.backend}, built_in_backends(), {}),
                 of.session);
  }

  const std::shared_ptr<const Model>& model() const { return model_; }
  /// Of the model by itself.
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<TensorInfo>& inputs() const { return run_->inputs(); }
  std::string name() const {
    return run_->backend() + (model_->path.empty() ? std::string() : " of " + model_->path);
  }
  const std::string& backend() const { return run_->backend(); }

  void run(const TensorList& data, const debug::LayerRun::Observer& observer) {
    stop_if_interrupted();
    run_->run(data, observer);
  }
  void run(const TensorList& data, debug::LayerValues& values) {
    run(data, [&](const std::string& name, Tensor value) { values.put(name, std::move(value)); });
  }

 private:
  std::shared_ptr<const Model> model_;
  std::vector<std::string> outputs_;
  std::optional<debug::LayerRun> run_;
};

/// Calls `look` with the data of each iteration. Throws Error where there are none.
void for_each_iteration(const RunData& data, const std::vector<TensorInfo>& inputs,
                        const std::function<void(const TensorList&)>& look) {
  const std::shared_ptr<assay::DataSource> source = data_from_the_start(data);
  source->begin(inputs);
  bool has_any = false;
  while (const std::optional<TensorList> feed = source->next()) {
    look(*feed);
    has_any = true;
  }
  require(has_any, ErrorCode::kInvalidArgument, "no iteration has data to run the model on");
}

/// The failure that a search looks for.
class SoughtFailure {
 public:
  explicit SoughtFailure(bool any) : any_(any) {}

  debug::Answer answer(const std::optional<std::string>& failure) {
    if (!failure) return {};
    if (sought_.empty()) sought_ = *failure;
    const bool is_sought = any_ || *failure == sought_;
    return {.kind = is_sought ? debug::AnswerKind::kFailure : debug::AnswerKind::kOtherFailure,
            .failure = *failure};
  }
  bool is_any() const { return any_; }
  const std::string& text() const { return sought_; }
  void look_for(const std::string& failure) { sought_ = failure; }

 private:
  bool any_;
  std::string sought_;
};

/// Judges the candidate that was made last by a function.
class FunctionCheck : public debug::Check {
 public:
  FunctionCheck(FailureCheck check, const std::shared_ptr<Model>& candidate, bool any_failure)
      : check_(std::move(check)), candidate_(candidate), sought_(any_failure) {}

  debug::Answer check(const std::string& /*candidate*/, debug::SearchObserver& /*observer*/) override {
    stop_if_interrupted();
    return sought_.answer(check_(candidate_));
  }
  bool looks_for_failures() const override { return !sought_.is_any(); }
  std::string failure() const override { return sought_.text(); }
  void look_for(const std::string& failure) override { sought_.look_for(failure); }

 protected:
  const std::shared_ptr<Model>& candidate() const { return candidate_; }
  SoughtFailure& sought() { return sought_; }

 private:
  FailureCheck check_;
  const std::shared_ptr<Model>& candidate_;
  SoughtFailure sought_;
};

/// A function's check in parallel to others.
class FunctionRun final : public debug::CheckRun {
 public:
  FunctionRun(const CheckStart& start, std::shared_ptr<Model> candidate, SoughtFailure& sought)
      : start_(start), candidate_(std::move(candidate)), pending_(start_(candidate_)), sought_(sought) {}

  void watch(std::vector<pollfd>& /*fds*/) const override {}
  bool advance() override {
    stop_if_interrupted();
    if (pending_ != nullptr && pending_->has_ended()) {
      failure_ = pending_->failure();
      pending_ = nullptr;
    }
    return pending_ == nullptr;
  }
  debug::Answer answer() override { return sought_.answer(failure_); }
  std::unique_ptr<debug::CheckRun> again() const override {
    return std::make_unique<FunctionRun>(start_, candidate_, sought_);
  }

 private:
  const CheckStart& start_;
  std::shared_ptr<Model> candidate_;
  std::unique_ptr<PendingCheck> pending_;  ///< null once it has ended
  std::optional<std::string> failure_;
  SoughtFailure& sought_;
};

/// The failure of a check that is waited for.
FailureCheck waiting(const CheckStart& start) {
  return [&start](const std::shared_ptr<Model>& candidate) {
    const std::unique_ptr<PendingCheck> pending = start(candidate);
    while (!pending->has_ended()) {
      stop_if_interrupted();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return pending->failure();
  };
}

/// Checks that begin, and go on elsewhere.
class StartedCheck final : public FunctionCheck {
 public:
  StartedCheck(const CheckStart& start, const std::shared_ptr<Model>& candidate, bool any_failure)
      : FunctionCheck(waiting(start), candidate, any_failure), start_(start) {}

  std::unique_ptr<debug::CheckRun> begin(const debug::CheckFiles& /*files*/) override {
    return std::make_unique<FunctionRun>(start_, candidate(), sought());
  }
  void require_own_files(const debug::CheckFiles& /*files*/) const override {}

 private:
  const CheckStart& start_;
};

/// The model as reductions take it.
std::shared_ptr<Model> reducible(const Model& model, const RunShapes& shapes) {
  std::shared_ptr<Model> made = clone_model(model);
  if (!shapes.empty()) override_input_shapes(*made, shapes);
  pass_constants_to_initializers::def.run(*made);
  sort_topologically(*made->graph);
  infer_known_shapes(*made, /*report=*/false);
  return made;
}

}  // namespace

std::string find_non_finite(const LayeredRun& run, const RunData& data) {
  Layers layers(run);
  debug::NonFiniteSearch search(layers.model(), layers.outputs());
  debug::NonFiniteReport& report = search.report();
  report.model = run.model->path;
  report.backend = layers.backend();
  for_each_iteration(data, layers.inputs(), [&](const TensorList& feed) {
    TensorStore store(kResultMemory);
    debug::LayerValues values(store);
    layers.run(feed, values);
    search.look(values);
  });
  return debug::non_finite_json(report);
}

std::string measure_ranges(const LayeredRun& run, const RunData& data, const std::vector<DType>& types,
                           bool weights) {
  require(!types.empty(), ErrorCode::kInvalidArgument, "there is no type to hold numbers against");
  Layers layers(run);
  debug::RangeStudy study(layers.model(), types);
  for_each_iteration(data, layers.inputs(), [&](const TensorList& feed) {
    layers.run(feed, [&](const std::string& name, const Tensor& value) { study.add(name, value); });
    study.end_iteration();
  });
  if (weights) study.add_weights();
  return debug::ranges_json(study, run.model->path, layers.backend(), types.front());
}

std::string find_divergence(const LayeredRun& first, const LayeredRun& second, const RunData& data,
                            const DivergenceSettings& settings) {
  for (const std::optional<double>& tolerance : {settings.atol, settings.rtol})
    require(!tolerance || (*tolerance >= 0 && std::isfinite(*tolerance)), ErrorCode::kInvalidArgument,
            "{} is no tolerance: it is a number from 0 on", tolerance.value_or(0));
  Layers a(first), b(second);
  debug::DivergenceSearch search(a.model(), b.model(),
                                 {.tolerance = {.atol = settings.atol, .rtol = settings.rtol},
                                  .matches_values = settings.matches_values && first.model != second.model,
                                  .outputs = a.outputs()});
  for_each_iteration(data, a.inputs(), [&](const TensorList& feed) {
    TensorStore store(kResultMemory);
    debug::LayerValues left(store), right(store);
    a.run(feed, left);
    b.run(feed, right);
    search.look(left, right);
  });
  debug::DivergenceReport report = search.take_report();
  report.first_name = a.name();
  report.second_name = b.name();
  require(report.compared > first.model->graph->inputs.size() || first.model->graph->nodes().empty(),
          ErrorCode::kInvalidArgument,
          "the two models have no tensor in common but inputs: is the one an edit of the other?");
  return debug::divergence_json(report);
}

namespace {

/// `candidate`: what the check judges.
Reduced reduce_by(std::unique_ptr<debug::Check> judge, int jobs, const Model& model,
                  std::shared_ptr<Model>& candidate, const ReduceSettings& settings) {
  require(settings.repeat > 0, ErrorCode::kInvalidArgument,
          "a candidate cannot be checked {} times: it is 1 or more", settings.repeat);
  const std::shared_ptr<Model> whole = reducible(model, settings.shapes);
  if (settings.repeat > 1) judge = std::make_unique<debug::RepeatedCheck>(std::move(judge), settings.repeat);
  debug::ReductionObserver nobody;
  debug::Iterations iterations({.jobs = jobs}, *judge, nobody);
  debug::Journal journal = debug::Journal::in_memory();
  iterations.use(journal);
  debug::ReductionOptions options{.anonymises = settings.anonymises};
  options.save = [&](const Model& m, const std::string&) { candidate = clone_model(m); };
  options.evaluate = [&](const std::shared_ptr<Model>& m, const auto& observer) {
    observe_values(m, LoaderCache(data_from_the_start(settings.data)), observer);
  };
  const debug::Reduction found = debug::reduce(whole, options, iterations, nobody);
  return {.model = found.bad,
          .failure = found.failure,
          .nodes = static_cast<int64_t>(whole->graph->nodes().size()),
          .checks = static_cast<int64_t>(iterations.checks()),
          .is_flaky = found.is_flaky,
          .has_own_names = found.has_own_names,
          .own_weights = static_cast<int64_t>(found.own_weights)};
}

}  // namespace

Reduced reduce_model(const std::shared_ptr<Model>& model, const FailureCheck& check,
                     const ReduceSettings& settings) {
  std::shared_ptr<Model> candidate;
  auto judge = std::make_unique<FunctionCheck>(check, candidate, settings.any_failure);
  return reduce_by(std::move(judge), 1, *model, candidate, settings);
}

Reduced reduce_model(const std::shared_ptr<Model>& model, const CheckStart& start, int jobs,
                     const ReduceSettings& settings) {
  require(jobs > 0, ErrorCode::kInvalidArgument, "{} checks cannot run side by side: it is 1 or more", jobs);
  std::shared_ptr<Model> candidate;
  auto judge = std::make_unique<StartedCheck>(start, candidate, settings.any_failure);
  return reduce_by(std::move(judge), jobs, *model, candidate, settings);
}

}  // namespace assay::poly
