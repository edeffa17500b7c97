#include "bench/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "backends/session_info.h"
#include "base/cpus.h"
#include "base/guess.h"
#include "base/parallel.h"
#include "base/peak_memory.h"
#include "base/processor.h"
#include "base/wording.h"
#include "bench/backend_name.h"
#include "bench/check_options.h"
#include "bench/exports.h"
#include "bench/feed.h"
#include "bench/measure.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/roofline.h"
#include "graph/topological_scope.h"
#include "inspect/input_shapes.h"
#include "passes/pass_list.h"
#include "run/model_loader.h"
#include "run/refit_engine.h"

namespace assay::bench {
namespace {

constexpr double kMiB = 1 << 20;

std::vector<TensorInfo> inputs_of(const Engine& engine) {
  std::vector<TensorInfo> infos;
  for (const IoTensor& t : engine.inputs()) infos.push_back({t.name, t.type});
  return infos;
}

/// Collects the times of a run's steps; next_run() begins the next run.
class LayerTimer final : public Profiler {
 public:
  explicit LayerTimer(LayerTimes& times) : times_(times) {}
  void report_layer_time(const std::string& layer, double milliseconds) override {
    if (at_ == times_.layers.size()) times_.layers.push_back({layer, {}});
    times_.layers[at_++].milliseconds.push_back(milliseconds);
  }
  void next_run() {
    at_ = 0;
    ++times_.runs;
  }

 private:
  LayerTimes& times_;
  size_t at_ = 0;
};

class Bench {
 public:
  Bench(const Options& options, const std::string& command, Observer& observer)
      : options_(options),
        observer_(observer),
        loader_({.path = options.model, .import = {.ops = options.session.ops}}),
        runtime_({.threads = options.session.threads,
                  .on_warning =
                      [this](const std::string& sentence) {
                        observer_.on_progress({});
                        observer_.on_warning(sentence);
                      },
                  .ops = options.session.ops,
                  .passes = options.session.passes,
                  .tactics = options.session.tactics}),
        times_file_(options.export_times),
        profile_file_(options.export_profile),
        layers_file_(options.export_layers),
        output_file_(options.export_output),
        timeline_file_(options.export_timeline),
        json_file_(options.json) {
    result_.command = command;
    result_.processor = processor_name();
    result_.threads = runtime_.threads();
  }

  Result run() {
    try {
      return run_all();
    } catch (Error& e) {
      if (!guessed_.empty() && e.code() == ErrorCode::kInvalidModel)
        set_remedy(e, Say::kShapesOfInputs, {guessed_.find(',') == std::string::npos ? "" : "s", guessed_});
      throw;
    }
  }

 private:
  template <typename... Args>
  void tell(fmt::format_string<Args...> format, Args&&... args) const {
    observer_.on_line(fmt::vformat(format, fmt::make_format_args(args...)));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    observer_.on_warning(fmt::vformat(format, fmt::make_format_args(args...)));
  }
  void tell_lines(const Lines& lines) const {
    for (const std::string& line : lines) observer_.on_line(line);
  }
  void tell_text(const std::string& text) const {
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      observer_.on_line(text.substr(start, end - start));
      start = end + 1;
    }
  }

  Result run_all() {
    for (const std::string& name : options_.backends) result_.backends.push_back(make_ready(name));
    tell_of_engine();
    if (options_.skips_inference) {
      observer_.on_line(say(Say::kSkippedInference));
    } else {
      for (const ShapeSet& set : runs_) measure_shapes(set);
      tell_lines(table_lines(result_));
    }
    write_files();
    return std::move(result_);
  }

  Ready make_ready(const std::string& name) {
    const BackendName parsed = parse_backend_name(name, *options_.backend_set);
    if (parsed.backend != kEngine) return open_sessions(name, options_.backend_set->get(parsed.backend));
    if (!options_.plan.empty()) return load_plan(name);
    return build_engine(name, parsed.level);
  }

  /// Gives an engine the weights of the ONNX model.
  void refit(const std::shared_ptr<Engine>& engine) {
    const Backend& backend = options_.backend_set->get(kEngine);
    const std::string& path = options_.refit_model.empty() ? options_.model : options_.refit_model;
    const ModelSource source =
        options_.refit_model.empty()
            ? loader_.load_for(backend)
            : ModelLoader({.path = path, .import = {.ops = options_.session.ops}}).load_for(backend);
    const double begin = now();
    const RefitReport report = refit_engine(engine, *source.model, path);
    if (options_.times_refit) tell("Engine refitted in {:.6g} sec.", now() - begin);
    tell("Refitted {} weights from {}.", report.given, path);
    if (report.kept > 0)
      warn("{} has no weights of the names of {} others; these are as they were.", path, report.kept);
  }

  void save(Ready& ready) const {
    ready.engine->save(options_.save_plan);
    ready.plan_bytes = std::filesystem::file_size(options_.save_plan);
    tell("Created engine with size: {:.4g} MiB", static_cast<double>(ready.plan_bytes) / kMiB);
  }

  Ready load_plan(const std::string& name) {
    Ready ready{.name = name, .how = Ready::How::kLoaded};
    const double begin = now();
    ready.engine = runtime_.load_engine(options_.plan);
    ready.seconds = now() - begin;
    ready.plan_bytes = std::filesystem::file_size(options_.plan);
    tell("Loaded engine with size: {:.4g} MiB", static_cast<double>(ready.plan_bytes) / kMiB);
    tell("Engine deserialized in {:.6g} sec.", ready.seconds);
    profiles_ = ready.engine->profiles();
    has_profiles_ = true;
    set_runs(inputs_of(*ready.engine));
    std::vector<TensorInfo> outputs;
    for (const IoTensor& t : ready.engine->outputs()) outputs.push_back({t.name, t.type});
    check_feed(inputs_of(*ready.engine), outputs);
    if (options_.refits) refit(ready.engine);
    if (options_.refits && !options_.save_plan.empty()) save(ready);
    require(options_.skips_inference || !ready.engine->lacks_weights(), ErrorCode::kInvalidArgument,
            "the plan {} has been stripped of its weights: {}", options_.plan, say(Say::kRefitFromOnnx));
    return ready;
  }

  Ready build_engine(const std::string& name, std::optional<int> level) {
    Ready ready{.name = name, .how = Ready::How::kBuilt};
    double begin = now();
    const ModelSource source = loader_.load_for(options_.backend_set->get(kEngine));
    if (cache_ == nullptr) tell("Read the model in {:.6g} sec.", now() - begin);
    set_profiles(tensor_infos(source.model->graph->inputs));
    check_feed(tensor_infos(source.model->graph->inputs), tensor_infos(source.model->graph->outputs));
    BuilderConfig config = options_.build;
    if (level) config.optimization_level = *level;
    config.profiles = profiles_;
    config.timing_cache = timing_cache();
    const size_t known = config.timing_cache->size();
    std::string phase;
    double phase_begin = 0;
    config.on_progress = [&](const BuildProgress& p) {
      if (p.phase != phase) {
        phase = p.phase;
        phase_begin = now();
      }
      observer_.on_progress(progress_text(p, now() - phase_begin));
    };
    const Builder builder(runtime_);
    begin = now();
    ready.engine = builder.build_engine(source.model, config);
    ready.seconds = now() - begin;
    observer_.on_progress({});
    tell("Engine built in {:.6g} sec.", ready.seconds);
    if (!builder.type_summary().empty()) tell("Types of layers: {}.", builder.type_summary());
    if (config.optimization_level > 0)
      tell("Timing cache: {} times were known before, {} were measured.", known,
           config.timing_cache->size() - known);
    if (!options_.timing_cache.empty()) config.timing_cache->save(options_.timing_cache);
    if (options_.is_verbose) tell_text(builder.summary());
    if (options_.explains || options_.is_verbose) tell_text(builder.explanation());
    if (!options_.save_plan.empty()) save(ready);
    if (options_.must_refit()) refit(ready.engine);
    return ready;
  }

  Ready open_sessions(const std::string& name, const Backend& backend) {
    const std::string reason = backend.probe(options_.session);
    require(reason.empty(), ErrorCode::kUnsupported, "{}", reason);
    Ready ready{.name = name, .how = Ready::How::kOpened};
    const ModelSource source = loader_.load_for(backend);
    const double begin = now();
    for (int64_t s = 0; s < options_.streams; ++s) {
      ready.sessions.push_back(backend.open(source, options_.session));
      if (s == 0) ready.seconds = now() - begin;
    }
    tell("Session of {} opened in {:.6g} sec.", name, ready.seconds);
    if (!has_profiles_) set_profiles(tensor_infos(source.model->graph->inputs));
    return ready;
  }

  void set_profiles(const std::vector<TensorInfo>& inputs) {
    if (has_profiles_) return;
    std::vector<std::string> warnings;
    set_runs(inputs);
    const bool says_nothing = runs_.size() == 1 && runs_.front().empty();
    profiles_ =
        make_profiles(inputs, options_.profiles, says_nothing ? std::vector<ShapeSet>() : runs_, warnings);
    for (const std::string& sentence : warnings) {
      diag::refuse_guess(sentence);
      observer_.on_warning(sentence);
    }
    has_profiles_ = true;
  }

  /// The inputs of each row, and those that were guessed although the network may not accept any value.
  void set_runs(const std::vector<TensorInfo>& inputs) {
    runs_ = options_.shapes.empty() ? std::vector<ShapeSet>(1) : options_.shapes;
    for (ShapeSet& run : runs_) run = with_elements_of_files(std::move(run), inputs, options_.inputs);
    for (const TensorInfo& info : inputs) {
      const bool is_open = info.type.is_tensor() && !(info.type.has_shape() && known_shape(*info.type.dims));
      const auto names_it = [&](const ShapeSet& set) {
        return std::any_of(set.begin(), set.end(), [&](const auto& e) { return e.name == info.name; });
      };
      const bool is_said =
          std::all_of(runs_.begin(), runs_.end(), names_it) ||
          std::any_of(options_.profiles.begin(), options_.profiles.end(),
                      [&](const ProfileShapes& p) { return names_it(p.opt) || names_it(p.max); });
      if (is_said || !(is_open || takes_elements(info.type))) continue;
      guessed_ += fmt::format("{}'{}'", guessed_.empty() ? "" : ", ", info.name);
    }
  }

  std::shared_ptr<TimingCache> timing_cache() {
    if (cache_ != nullptr) return cache_;
    cache_ = std::make_shared<TimingCache>(runtime_.timing_environment());
    if (options_.timing_cache.empty()) return cache_;
    if (std::filesystem::exists(options_.timing_cache))
      cache_->load(options_.timing_cache);
    else
      tell("The timing cache {} does not exist yet; it is written after the build.", options_.timing_cache);
    return cache_;
  }

  /// The first engine; null: there is none.
  const std::shared_ptr<Engine>& engine() const {
    static const std::shared_ptr<Engine> none;
    for (const Ready& b : result_.backends)
      if (b.engine != nullptr) return b.engine;
    return none;
  }

  void tell_of_engine() {
    if (engine() == nullptr) return;
    if (options_.dumps_profiles) tell_lines(range_lines(engine()->profiles()));
    if (options_.dumps_layers) {
      tell("Layer Information:");
      tell_text(layers_text(engine(), options_.detail));
    }
    if (!options_.dumps_weights) return;
    if (!engine()->is_refittable()) {
      warn("The engine is not refittable, so none of its weights can be changed. {}",
           say(Say::kBuildRefittable));
      return;
    }
    tell("Refittable weights:");
    for (const std::string& name : Refitter(engine()).all_weights()) observer_.on_line(name);
  }

  std::vector<Tensor> in_order(const std::vector<InputCase>& cases, const std::vector<Tensor>& feed,
                               const std::vector<TensorInfo>& inputs, const std::string& backend) const {
    std::vector<Tensor> ordered;
    for (const TensorInfo& info : inputs) {
      const auto it = std::find_if(cases.begin(), cases.end(),
                                   [&](const InputCase& c) { return c.info.name == info.name; });
      require(it != cases.end(), ErrorCode::kInvalidArgument,
              "the plan {} was not built from {}: {} has an input '{}' that it does not have", options_.plan,
              options_.model, backend, info.name);
      ordered.push_back(feed[static_cast<size_t>(it - cases.begin())]);
    }
    return ordered;
  }

  Lane make_lane(const Ready& backend, const std::vector<InputCase>& cases,
                 const std::vector<Tensor>& feed) const {
    Lane lane;
    for (int64_t s = 0; s < options_.streams; ++s)
      if (backend.engine != nullptr) {
        lane.workers.push_back(make_worker(backend.engine, options_.profile,
                                           in_order(cases, feed, inputs_of(*backend.engine), backend.name),
                                           options_.is_recorded));
      } else {
        Session& session = *backend.sessions[static_cast<size_t>(s)];
        lane.workers.push_back(make_worker(session, in_order(cases, feed, session.inputs(), backend.name)));
      }
    return lane;
  }

  std::vector<InputCase> cases_of(const ShapeSet& set, const std::vector<TensorInfo>& inputs) const {
    require(options_.profile == 0 || options_.profile < profiles_.size(), ErrorCode::kInvalidArgument,
            "there are {} profiles, so there is no profile {}", profiles_.size(), options_.profile);
    const OptimizationProfile* const profile = profiles_.empty() ? nullptr : &profiles_[options_.profile];
    return make_cases(inputs, set, profile);
  }
  std::vector<InputCase> cases_of(const ShapeSet& set) const {
    const std::shared_ptr<Engine>& any = engine();
    return cases_of(set,
                    any != nullptr ? inputs_of(*any) : result_.backends.front().sessions.front()->inputs());
  }

  /// Checks before a build that everything can be run.
  void check_feed(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) const {
    check_io_formats(say(Say::kNameInputFormats), options_.input_formats, inputs);
    check_io_formats(say(Say::kNameOutputFormats), options_.output_formats, outputs);
    if (options_.skips_inference) return;
    for (const ShapeSet& set : runs_) check_files(cases_of(set, inputs), options_.inputs);
  }

  void measure_shapes(const ShapeSet& set) {
    const std::vector<InputCase> cases = cases_of(set);
    const std::vector<Tensor> feed = make_feed(cases, options_.inputs);
    const std::string shapes = cases_text(cases);
    tell("Input inference shape: {}", shapes);
    std::vector<Lane> lanes;
    const size_t first_row = result_.rows.size();
    for (const Ready& backend : result_.backends) {
      observer_.on_progress(fmt::format("{}: the first run", backend.name));
      Row row{.shapes = shapes, .backend = backend.name};
      const double begin = now();
      lanes.push_back(make_lane(backend, cases, feed));
      row.first_ms = 1e3 * (now() - begin);
      row.peak_bytes = peak_memory();
      result_.rows.push_back(std::move(row));
    }
    observer_.on_progress({});
    tell("Starting inference");
    origin_ = now();
    measure(lanes, {.warm_up = options_.warm_up,
                    .duration = options_.duration,
                    .iterations = options_.iterations,
                    .idle = options_.idle,
                    .sleep = options_.sleep,
                    .on_progress = [&](double part) {
                      observer_.on_progress(fmt::format("{}: {:.0f}% of the runs", shapes, 100 * part));
                    }});
    observer_.on_progress({});
    for (size_t i = 0; i < lanes.size(); ++i) {
      Row& row = result_.rows[first_row + i];
      const Row& first = result_.rows[first_row];
      summarize_runs(row, lanes[i], options_.percentiles);
      row.outputs = lanes[i].workers.front()->outputs();
      if (i > 0 && first.latency.median > 0) row.ratio = row.latency.median / first.latency.median;
      if (i > 0) row.difference = relative_difference(row.outputs, first.outputs);
      tell_of_row(row);
    }
    if (times_file_ && first_row == 0)
      times_file_.write_json([&](JsonWriter& json) { write_times(json, result_.rows.front(), origin_); });
    lanes.clear();
    // Data for single rows are not kept.
    for (size_t i = first_row; i < result_.rows.size(); ++i) {
      if (i > 0) result_.rows[i].outputs.clear();
    }
    const bool wants_timeline = timeline_file_ && first_row == 0;
    if (options_.dumps_profile || options_.keeps_profile || options_.dumps_roofline || profile_file_ ||
        wants_timeline)
      profile_layers(shapes, feed);
    if (options_.dumps_roofline) tell_of_floors(cases);
    if (wants_timeline)
      timeline_file_.write_json([&](JsonWriter& json) {
        write_timeline(json, result_.rows.front(), result_.profiles.front(), origin_);
      });
  }

  void tell_of_row(const Row& row) {
    if (result_.backends.size() > 1) tell("=== {} ===", row.backend);
    tell_lines(trace_lines(row, options_.average_runs));
    observer_.on_line("");
    tell_lines(summary_lines(row, options_.streams));
    if (options_.dumps_output) tell_lines(output_lines(row.outputs));
  }

  /// In separate runs, because profiling takes time.
  void profile_layers(const std::string& shapes, const std::vector<Tensor>& feed) {
    LayerTimes times{.shapes = shapes};
    LayerTimer timer(times);
    const auto worker = make_worker(engine(), options_.profile, feed, /*is_recorded=*/false, &timer);
    const double begin = now();
    do {
      times.times.push_back(worker->run());
      timer.next_run();
    } while (static_cast<int64_t>(times.runs) < options_.iterations || now() - begin < options_.duration);
    if (options_.dumps_profile) tell_lines(profile_lines(times));
    result_.profiles.push_back(std::move(times));
  }

  /// The layers of the last profile compared with the machine's peak rates.
  void tell_of_floors(const std::vector<InputCase>& cases) {
    observer_.on_progress("measuring what the machine can do");
    const PoolScope scope(pool_of(result_.threads));
    const MachineLimits limits = measure_limits();
    std::optional<ModelStats> stats;
    if (!options_.model.empty()) stats = stats_at(cases);
    const Roofline roofline = make_roofline(describe(*engine(), {.layers = true}), result_.profiles.back(),
                                            stats ? &*stats : nullptr, limits);
    observer_.on_progress({});
    tell_lines(roofline_lines(roofline));
    result_.rooflines.push_back(roofline);
  }

  ModelStats stats_at(const std::vector<InputCase>& cases) const {
    const std::shared_ptr<Model> model = loader_.load_quietly();
    for (const InputCase& c : cases) {
      Dims dims;
      for (const int64_t extent : c.shape.dims()) dims.push_back(Dim(extent));
      if (c.info.type.is_tensor() && c.info.type.dims != dims) set_input_shape(*model, c.info.name, dims);
    }
    pass_inline_functions::def.run(*model);
    const TopologicalScope sorted(*model);
    infer_known_shapes(*model, /*report=*/false);
    return model_stats(*model);
  }

  void write_files() {
    if (layers_file_) layers_file_.write(layers_json(engine(), options_.detail) + "\n");
    if (profile_file_ && !result_.profiles.empty())
      profile_file_.write_json([&](JsonWriter& json) { write_profile(json, result_.profiles.front()); });
    if (output_file_ && !result_.rows.empty())
      output_file_.write_json([&](JsonWriter& json) { write_output(json, result_.rows.front().outputs); });
    if (json_file_) json_file_.write_json([&](JsonWriter& json) { write_result(json, result_); });
  }

  const Options& options_;
  Observer& observer_;
  ModelLoader loader_;
  Runtime runtime_;
  ExportFile times_file_, profile_file_, layers_file_, output_file_, timeline_file_, json_file_;
  std::shared_ptr<TimingCache> cache_;
  std::vector<OptimizationProfile> profiles_;
  bool has_profiles_ = false;
  std::vector<ShapeSet> runs_;
  std::string guessed_;  ///< names of inputs that were given neither a shape nor elements
  double origin_ = 0;
  Result result_;
};

}  // namespace

Result run_bench(const Options& options, const std::string& command, Observer& observer) {
  check_options(options);
  return Bench(options, command, observer).run();
}

}  // namespace assay::bench
