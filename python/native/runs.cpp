// A run from end to end: what `assay run` does, from a dict of settings.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "assay/run.h"
#include "calls.h"
#include "comparing.h"
#include "convert.h"
#include "parts.h"
#include "runs.h"

namespace assay::python {
namespace {

using poly::RunSettings;

/// A runner of the user's: an object whose infer(feed) returns a dict of outputs.
class PythonSession final : public Session {
 public:
  PythonSession(nb::handle runner, std::shared_ptr<const void> kept, const Model& model)
      : runner_(runner), kept_(std::move(kept)) {
    for (const Value* v : model.graph->inputs) inputs_.push_back({v->name(), v->type});
    for (const Value* v : model.graph->outputs) outputs_.push_back({v->name(), v->type});
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Tensor> results = infer(feed);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (size_t i = 0; i < results.size(); ++i) sink(i, std::move(results[i]));
  }

 private:
  std::vector<Tensor> infer(std::span<const Tensor> feed) {
    const Locked lock;
    InterruptScope::check();
    nb::dict arrays;
    for (size_t i = 0; i < inputs_.size(); ++i) arrays[to_text(inputs_[i].name)] = to_array(feed[i], true);
    const TensorList given = to_tensors(runner_.attr("infer")(arrays), "the runner's output");
    std::vector<Tensor> results;
    for (const TensorInfo& o : outputs_) {
      const Tensor* t = find(given, o.name);
      if (t == nullptr) fail(ErrorCode::kInvalidArgument, "the runner gave no output '{}'", o.name);
      results.push_back(*t);
    }
    return results;
  }

  nb::handle runner_;
  std::shared_ptr<const void> kept_;
  std::vector<TensorInfo> inputs_, outputs_;
  double seconds_ = 0;
};

poly::RunRunner runner_of(nb::handle runner) {
  if (nb::isinstance<nb::str>(runner)) return {.backend = nb::cast<std::string>(runner)};
  poly::RunRunner r;
  if (!nb::hasattr(runner, "infer"))
    throw Error(ErrorCode::kInvalidArgument,
                "a runner is the name of a backend, or an object with infer(feed)")
        .set_remedy("assay.backends() lists the names.");
  r.name = nb::cast<std::string>(nb::str(nb::getattr(runner, "name", runner.type().attr("__name__"))));
  const std::shared_ptr<const void> kept = keep(runner);
  r.open = [runner, kept](const ModelSource& source, const SessionOptions&) -> std::unique_ptr<Session> {
    require(source.model != nullptr, ErrorCode::kUnsupported, "a runner of one's own needs an ONNX model");
    return std::make_unique<PythonSession>(runner, kept, *source.model);
  };
  return r;
}

/// Feeds of an iterable. A copy begins with the first one again, as far as the iterable does.
class PythonData {
 public:
  explicit PythonData(nb::handle data) : kept_(keep(data)), data_(data) {}
  PythonData(const PythonData& other) : kept_(other.kept_), data_(other.data_) {}
  PythonData& operator=(const PythonData&) = delete;
  ~PythonData() = default;

  std::optional<poly::FeedDict> operator()(const std::vector<TensorInfo>& /*inputs*/) {
    const Locked lock;
    InterruptScope::check();
    if (iterator_ == nullptr) {
      const nb::object iterator = nb::iter(data_);
      iterator_ = keep(iterator);
      next_ = iterator;
    }
    const nb::object feed = nb::steal(PyIter_Next(next_.ptr()));
    if (!feed.is_valid()) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      return std::nullopt;
    }
    poly::FeedDict tensors;
    for (NamedTensor& t : to_tensors(feed, "the input"))
      tensors.emplace(std::move(t.name), std::move(t.tensor));
    return tensors;
  }

 private:
  std::shared_ptr<const void> kept_, iterator_;
  nb::handle data_, next_;
};

poly::DataSource data_of(nb::handle data) {
  nb::iter(data);  // raises where it cannot be
  return PythonData(data);
}

poly::RunShapes shapes_of(nb::handle shapes) {
  poly::RunShapes list;
  for (auto [name, shape] : nb::cast<nb::dict>(shapes))
    list.emplace_back(nb::cast<std::string>(name), to_dims(shape, "the shape of an input"));
  return list;
}

poly::Number number_of(nb::handle v) {
  if (nb::isinstance<nb::int_>(v)) return nb::cast<int64_t>(v);
  return nb::cast<double>(v);
}

void read_ranges(RunSettings& s, nb::handle ranges) {
  s.data.ranges.clear();
  for (auto [name, range] : nb::cast<nb::dict>(ranges)) {
    const nb::tuple parts = to_parts(range, 2, "range of values: (smallest, largest)");
    s.data.ranges.emplace_back(nb::cast<std::string>(name),
                               poly::RunRange{number_of(parts[0]), number_of(parts[1])});
  }
}

using Reading = RunReading;
using Reader = void (*)(Reading&, nb::handle);

const std::pair<const char*, Reader> kReaders[] = {
    {"settings", [](Reading& /*r*/, nb::handle /*v*/) {}},  // read before all others
    {"save_settings", [](Reading& r, nb::handle v) { r.save_settings = to_path(v); }},
    {"model", [](Reading& r, nb::handle v) { r.settings.model.path = to_path(v); }},
    {"model_format", [](Reading& r, nb::handle v) { r.settings.model.format = nb::cast<std::string>(v); }},
    {"network_script",
     [](Reading& r, nb::handle v) { r.settings.model.network_script = nb::cast<std::string>(v); }},
    {"external_data",
     [](Reading& r, nb::handle v) { r.settings.model.import.external_data_dir = to_path(v); }},
    {"infer_shapes", [](Reading& r, nb::handle v) { r.settings.model.infer_shapes = nb::cast<bool>(v); }},
    {"mark_all", [](Reading& r, nb::handle v) { r.settings.model.mark_all = nb::cast<bool>(v); }},
    {"outputs", [](Reading& r, nb::handle v) { r.settings.model.outputs = to_names(v, "outputs"); }},
    {"exclude_outputs",
     [](Reading& r, nb::handle v) { r.settings.model.exclude_outputs = to_names(v, "exclude_outputs"); }},
    {"fp16_model", [](Reading& r, nb::handle v) { r.settings.model.convert_to_fp16 = nb::cast<bool>(v); }},
    {"save_model", [](Reading& r, nb::handle v) { r.settings.model.save_path = to_path(v); }},
    {"runners",
     [](Reading& r, nb::handle v) {
       std::vector<poly::RunRunner> runners;
       for (nb::handle runner : nb::iter(v)) runners.push_back(runner_of(runner));
       if (!runners.empty()) r.settings.runners = std::move(runners);
     }},
    {"threads", [](Reading& r, nb::handle v) { r.settings.session.threads = nb::cast<int>(v); }},
    {"providers",
     [](Reading& r, nb::handle v) { r.settings.session.providers = to_names(v, "providers"); }},
    {"seed", [](Reading& r, nb::handle v) { r.settings.data.seed = nb::cast<int64_t>(v); }},
    {"iterations", [](Reading& r, nb::handle v) { r.settings.data.iterations = nb::cast<int64_t>(v); }},
    {"shapes", [](Reading& r, nb::handle v) { r.settings.data.shapes = shapes_of(v); }},
    {"ranges", [](Reading& r, nb::handle v) { read_ranges(r.settings, v); }},
    {"data", [](Reading& r, nb::handle v) { r.settings.data.source = data_of(v); }},
    {"load_inputs", [](Reading& r, nb::handle v) { r.settings.data.load_inputs = to_paths(v, "load_inputs"); }},
    {"data_loader_script", [](Reading& r, nb::handle v) { r.settings.data.script = nb::cast<std::string>(v); }},
    {"load_outputs", [](Reading& r, nb::handle v) { r.settings.load_outputs = to_paths(v, "load_outputs"); }},
    {"warm_up", [](Reading& r, nb::handle v) { r.settings.warm_up = nb::cast<int64_t>(v); }},
    {"sequential_runners",
     [](Reading& r, nb::handle v) { r.settings.sequential_runners = nb::cast<bool>(v); }},
    {"build",
     [](Reading& r, nb::handle v) {
       r.build = read_build_settings(v);
       r.settings.engine.config = r.build.config;
     }},
    {"save_engine", [](Reading& r, nb::handle v) { r.settings.engine.save_engine = to_path(v); }},
    {"load_timing_cache", [](Reading& r, nb::handle v) { r.settings.engine.load_timing_cache = to_path(v); }},
    {"save_timing_cache", [](Reading& r, nb::handle v) { r.settings.engine.save_timing_cache = to_path(v); }},
    {"load_tactics", [](Reading& r, nb::handle v) { r.settings.engine.load_tactics = to_path(v); }},
    {"save_tactics", [](Reading& r, nb::handle v) { r.settings.engine.save_tactics = to_path(v); }},
    {"calibration_cache", [](Reading& r, nb::handle v) { r.settings.engine.calibration_cache = to_path(v); }},
    {"functions", [](Reading& r, nb::handle v) { r.settings.compare_funcs = compare_funcs(v); }},
    {"top_k",
     [](Reading& r, nb::handle v) { r.settings.postprocess = poly::PostprocessFunc::top_k(nb::cast<int64_t>(v)); }},
    {"validate", [](Reading& r, nb::handle v) { r.settings.validate = nb::cast<bool>(v); }},
    {"fail_fast", [](Reading& r, nb::handle v) { r.settings.fail_fast = nb::cast<bool>(v); }},
    {"check_average", [](Reading& r, nb::handle v) { r.settings.check_average = nb::cast<bool>(v); }},
    {"verdict", [](Reading& r, nb::handle v) { r.settings.verdict.judge = nb::cast<bool>(v); }},
    {"comparison_counts",
     [](Reading& r, nb::handle v) { r.settings.verdict.comparison_counts = nb::cast<bool>(v); }},
    {"save_inputs", [](Reading& r, nb::handle v) { r.settings.save.inputs = to_path(v); }},
    {"save_outputs", [](Reading& r, nb::handle v) { r.settings.save.outputs = to_path(v); }},
    {"save_verdict", [](Reading& r, nb::handle v) { r.settings.save.verdict = to_path(v); }},
    {"save_accuracy_results", [](Reading& r, nb::handle v) { r.settings.save.accuracy_results = to_path(v); }},
    {"save_heatmaps", [](Reading& r, nb::handle v) { r.settings.save.heatmaps = to_path(v); }},
    {"save_error_plots", [](Reading& r, nb::handle v) { r.settings.save.error_plots = to_path(v); }},
    {"memory_limit", [](Reading& r, nb::handle v) { r.settings.memory_limit = nb::cast<int64_t>(v); }},
    {"extensions",
     [](Reading& r, nb::handle v) { r.settings.extensions.modules = to_paths(v, "extensions"); }},
};

Reading read(nb::handle settings) {
  Reading reading;
  const nb::dict given = nb::cast<nb::dict>(settings);
  if (given.contains("settings")) {
    const nb::object file = given["settings"];
    if (!file.is_none()) reading.settings = poly::load_run_settings(to_path(file));
  }
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto* reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                      [&](const auto& r) { return name == r.first; });
    if (reader == std::end(kReaders)) {
      std::string names;
      for (const auto& r : kReaders) names += (names.empty() ? "" : ", ") + std::string(r.first);
      throw Error(ErrorCode::kInvalidArgument, "a run has no setting '" + name + "'")
          .set_remedy("It has " + names + ".");
    }
    if (value.is_none()) continue;
    try {
      reader->second(reading, value);
    } catch (const nb::cast_error&) {
      fail(ErrorCode::kInvalidArgument, "the run's setting '{}' cannot be a {}", name,
           nb::cast<std::string>(nb::str(nb::handle(value).type().attr("__name__"))));
    }
  }
  return reading;
}

nb::dict run(nb::handle settings) {
  Reading reading = read(settings);
  if (!reading.save_settings.empty()) poly::save_run_settings(reading.settings, reading.save_settings);
  const InterruptScope interrupts;
  const auto step = [] {
    if (!InterruptScope::interrupted()) return;
    const Locked lock;
    InterruptScope::check();
  };
  reading.settings.engine.config.on_progress = [step](const BuildProgress&) { step(); };
  reading.settings.on_step = step;
  const poly::RunSummary s = without_lock([&] { return poly::run(reading.settings); });
  InterruptScope::check();
  using Outcome = poly::RunSummary::Outcome;
  nb::dict d, verdicts;
  for (const auto& [name, count] : s.verdicts) verdicts[to_text(name)] = count;
  nb::list runners, invalid;
  for (const std::string& r : s.runners) runners.append(to_text(r));
  for (const std::string& r : s.invalid) invalid.append(to_text(r));
  d["outcome"] = s.outcome == Outcome::kPassed   ? "passed"
                 : s.outcome == Outcome::kFailed ? "failed"
                                                 : "unclear";
  d["exit_status"] = s.exit_status();
  d["runners"] = runners;
  d["iterations"] = s.iterations;
  d["accuracy"] = accuracy_list(s.accuracy);
  d["invalid"] = invalid;
  d["verdicts"] = verdicts;
  return d;
}

}  // namespace

std::unique_ptr<Session> python_session(nb::handle runner, const Model& model) {
  return std::make_unique<PythonSession>(runner, keep(runner), model);
}

poly::RunData read_run_data(nb::handle settings) { return read(settings).settings.data; }

RunReading read_run(nb::handle settings) { return read(settings); }

void bind_runs(nb::module_& m) { m.def("run", &run, nb::arg("settings")); }

}  // namespace assay::python
