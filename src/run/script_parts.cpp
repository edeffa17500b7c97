#include "run/script_parts.h"

#include <algorithm>

#include "assay/error.h"
#include "base/base64.h"
#include "base/diagnostics.h"
#include "compare/outputs.h"
#include "graph/clone.h"
#include "script/compare_script.h"
#include "script/data_script.h"
#include "script/lpips.h"
#include "script/network_script.h"
#include "script/postprocess_script.h"

namespace assay {
namespace {

class ScriptData final : public DataSource {
 public:
  explicit ScriptData(script::Reference reference) : script_(std::move(reference)) {}
  void prepare() override { script_.prepare(); }
  void begin(const std::vector<TensorInfo>&) override {}
  std::optional<TensorList> next() override { return script_.next(); }

 private:
  script::DataScript script_;
};

/// All outputs of an iteration, in memory.
script::Iteration iteration_of(const OutputSource& source, std::optional<double> seconds) {
  script::Iteration iteration{.runner_name = source.runner_name(), .runtime = seconds, .outputs = {}};
  for (size_t i = 0; i < source.names().size(); ++i)
    iteration.outputs.push_back({source.names()[i], source.load(i)});
  return iteration;
}

class ScriptPostprocess final : public Postprocess {
 public:
  explicit ScriptPostprocess(script::Reference reference)
      : name_(reference.function), script_(std::move(reference)) {}
  std::string name() const override { return name_; }
  void prepare() const override { script_.prepare(); }
  std::shared_ptr<const OutputSource> apply(std::shared_ptr<const OutputSource> outputs,
                                            std::optional<double> seconds) const override {
    return std::make_shared<OutputList>(outputs->runner_name(),
                                        script_.process(iteration_of(*outputs, seconds)));
  }

 private:
  std::string name_;
  mutable script::PostprocessScript script_;  // a run uses it from one thread
};

class ScriptComparison final : public Comparison {
 public:
  explicit ScriptComparison(script::Reference reference) : script_(std::move(reference)) {}
  CompareFunction function() const override { return CompareFunction::kCustom; }
  std::string label() const override { return {}; }
  void open() const override { script_.prepare(); }

  FunctionResult compare(const OutputSource& source0, const OutputSource& source1,
                         const assay::CompareOptions&, PairCache& cache, CompareObserver&) const override {
    FunctionResult result{.function = CompareFunction::kCustom};
    const auto place = [](const std::vector<std::string>& names, const std::string& name) {
      return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    for (const script::ScriptVerdict& v :
         script_.compare(iteration_of(source0, {}), iteration_of(source1, {}))) {
      result.outputs.push_back({.output = v.output, .other = v.output, .passed = v.passed});
      const size_t first = place(source0.names(), v.output), second = place(source1.names(), v.output);
      if (first == source0.names().size() || second == source1.names().size()) continue;
      cache.begin(first, second);
      cache.end(v.passed);
    }
    return result;
  }

 private:
  mutable script::CompareScript script_;
};

class LpipsMeasure final : public OutputMeasure {
 public:
  void open() override {
    if (lpips_ == nullptr) lpips_ = std::make_unique<script::Lpips>();
  }
  std::variant<double, std::string> measure(const Tensor& a, const Tensor& b) override {
    open();
    return lpips_->distance(a, b);
  }

 private:
  std::unique_ptr<script::Lpips> lpips_;
};

/// Strings that BackendInfo refers to must be declared before it.
struct RunnerTexts {
  std::string name, prefix, human_name, flag;
};

class ScriptBackend final : private RunnerTexts, public Backend {
 public:
  ScriptBackend(script::RunnerReference runner, RunnerTexts texts, script::ScriptSessionOptions options)
      : RunnerTexts(std::move(texts)),
        Backend({.name = RunnerTexts::name,
                 .option = flag,
                 .runner_prefix = prefix,
                 .human_name = RunnerTexts::human_name,
                 .summary = "a class in Python",
                 .reads_files = true,
                 .takes_any_file = true}),
        runner_(std::move(runner)),
        options_(std::move(options)) {}

  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& session) const override {
    script::ScriptSessionOptions options = options_;
    options.judged = session.judged;
    if (source.model == nullptr) return script::open_script_session(runner_, source.path, options);
    return script::open_script_session(runner_, source, options);
  }
  std::string probe(const SessionOptions&) const override { return script::why_not(runner_, options_); }

 private:
  script::RunnerReference runner_;
  script::ScriptSessionOptions options_;
};

}  // namespace

std::shared_ptr<DataSource> script_data(script::Reference reference) {
  return std::make_shared<ScriptData>(std::move(reference));
}
std::shared_ptr<const Postprocess> script_postprocess(script::Reference reference) {
  return std::make_shared<ScriptPostprocess>(std::move(reference));
}
std::shared_ptr<const Comparison> script_comparison(script::Reference reference) {
  return std::make_shared<ScriptComparison>(std::move(reference));
}
std::shared_ptr<OutputMeasure> lpips_measure() { return std::make_shared<LpipsMeasure>(); }

std::function<std::shared_ptr<Model>()> script_network(script::Reference reference) {
  return [reference = std::move(reference), made = std::shared_ptr<Model>()]() mutable {
    if (made == nullptr) {
      script::RecordedNetwork network = script::run_network_script(reference);
      for (const std::string& sentence : network.unused) diag::warning("{}: {}", reference.str(), sentence);
      made = std::move(network.model);
    }
    return clone_model(*made);
  };
}

namespace {

std::vector<int64_t> integers(const script::Item& list) {
  std::vector<int64_t> numbers;
  for (const script::Item& i : list.list()) numbers.push_back(i.integer());
  return numbers;
}

OptimizationProfile profile_of(const script::Item& item) {
  OptimizationProfile profile;
  for (const auto& [input, shape] : item.at("shapes").dict())
    profile.set_shape(input, Shape(integers(shape.at("min"))), Shape(integers(shape.at("opt"))),
                      Shape(integers(shape.at("max"))));
  for (const auto& [input, values] : item.at("values").dict())
    profile.set_shape_values(input, integers(values.at("min")), integers(values.at("opt")),
                             integers(values.at("max")));
  return profile;
}

script::Item list_of(const std::vector<int64_t>& numbers) {
  script::Item::List list;
  for (const int64_t n : numbers) list.emplace_back(n);
  return list;
}

script::Item item_of(const OptimizationProfile& profile) {
  script::Item::Dict shapes, values;
  for (const OptimizationProfile::Range& r : profile.ranges())
    (r.holds_values ? values : shapes)
        .emplace_back(
            r.input,
            script::Item::Dict{{"min", list_of(r.min)}, {"opt", list_of(r.opt)}, {"max", list_of(r.max)}});
  return script::Item::Dict{{"shapes", std::move(shapes)}, {"values", std::move(values)}};
}

/// Null without requests for layers.
script::Item constraints_item(const BuilderConfig& config) {
  if (config.layer_types.empty() || config.precision_constraints == PrecisionConstraints::kNone) return {};
  return std::string(config.precision_constraints == PrecisionConstraints::kObey ? "obey" : "prefer");
}

void read_constraints(const script::Item& item, BuilderConfig& config) {
  const script::Item* constraints = item.find("precision_constraints");
  if (constraints == nullptr || constraints->is_null()) return;
  config.precision_constraints =
      constraints->text() == "obey" ? PrecisionConstraints::kObey : PrecisionConstraints::kPrefer;
}

/// The dictionary of docs/guide/network-scripts.md.
script::Item item_of(const BuilderConfig& config) {
  script::Item::List profiles;
  for (const OptimizationProfile& p : config.profiles) profiles.push_back(item_of(p));
  const bool is_limited = config.workspace_limit != BuilderConfig().workspace_limit;
  return script::Item::Dict{
      {"version", int64_t{1}},
      {"precisions", script::Item::Dict{{"fp16", config.fp16}, {"bf16", config.bf16}, {"int8", config.int8}}},
      {"precision_constraints", constraints_item(config)},
      {"profiles", std::move(profiles)},
      {"optimization_level", static_cast<int64_t>(config.optimization_level)},
      {"workspace_limit", is_limited ? script::Item(config.workspace_limit) : script::Item()},
      {"is_refittable", config.is_refittable},
      {"strips_weights", config.strips_weights},
      {"use_timing_cache_only", config.use_timing_cache_only}};
}

/// A configuration's optimization level and limits, if given.
void read_limits(const script::Item& item, BuilderConfig& config) {
  if (const script::Item& level = item.at("optimization_level"); !level.is_null())
    config.optimization_level =
        static_cast<int>(std::clamp<int64_t>(level.integer(), 0, BuilderConfig::kMaxOptimizationLevel));
  if (const script::Item& limit = item.at("workspace_limit"); !limit.is_null())
    config.workspace_limit = limit.integer();
}

/// The cache of a script's calibrator, if it has one; its data are not accessible.
void take_calibration(const script::Reference& reference, const script::Item& item, BuilderConfig& config) {
  const script::Item& calibration = item.at("calibration");
  if (calibration.is_null() || calibration.at("cache").is_null()) return;
  config.calibrator = given_scales(base64_decode(calibration.at("cache").text()),
                                   fmt::format("the calibration cache of {}", reference.str()));
}

void warn_of_unused(const script::Reference& reference, const script::Item& config) {
  for (const script::Item& sentence : config.at("unused").list())
    diag::warning("{}: {}", reference.str(), sentence.text());
}

}  // namespace

std::function<std::shared_ptr<const Model>(const Model& network)> script_network_change(
    script::Reference reference) {
  return [reference = std::move(reference)](const Model& network) -> std::shared_ptr<const Model> {
    script::RecordedNetwork changed = script::run_network_postprocess_script(reference, network);
    for (const std::string& sentence : changed.unused) diag::warning("{}: {}", reference.str(), sentence);
    return std::move(changed.model);
  };
}

std::function<void(const Model& network, BuilderConfig& config)> script_config_change(
    script::Reference reference) {
  return [reference = std::move(reference)](const Model& network, BuilderConfig& config) {
    const script::Item item = script::run_config_postprocess_script(reference, network, item_of(config));
    config.fp16 = item.at("precisions").at("fp16").truth();
    config.bf16 = item.at("precisions").at("bf16").truth();
    config.int8 = item.at("precisions").at("int8").truth();
    read_constraints(item, config);
    take_calibration(reference, item, config);
    read_limits(item, config);
    config.is_refittable = item.at("is_refittable").truth();
    config.strips_weights = item.at("strips_weights").truth();
    config.use_timing_cache_only = item.at("use_timing_cache_only").truth();
    config.profiles.clear();
    for (const script::Item& p : item.at("profiles").list()) config.profiles.push_back(profile_of(p));
    warn_of_unused(reference, item);
  };
}

std::function<void(const Model& network, EngineBuildOptions& options)> script_config(
    script::Reference reference) {
  return [reference = std::move(reference)](const Model& network, EngineBuildOptions& options) {
    const script::Item config = script::run_config_script(reference, network);
    BuilderConfig& builder = options.config;
    const script::Item& precisions = config.at("precisions");
    builder.fp16 = builder.fp16 || precisions.at("fp16").truth();
    builder.bf16 = builder.bf16 || precisions.at("bf16").truth();
    builder.int8 = builder.int8 || precisions.at("int8").truth();
    read_constraints(config, builder);
    take_calibration(reference, config, builder);
    read_limits(config, builder);
    builder.is_refittable = builder.is_refittable || config.at("is_refittable").truth();
    builder.strips_weights = builder.strips_weights || config.at("strips_weights").truth();
    builder.use_timing_cache_only =
        builder.use_timing_cache_only || config.at("use_timing_cache_only").truth();
    for (const script::Item& p : config.at("profiles").list()) builder.profiles.push_back(profile_of(p));
    warn_of_unused(reference, config);
  };
}

RunnerChoice script_runner(const script::RunnerReference& runner, const std::string& prefix,
                           const std::string& human_name,
                           std::vector<std::pair<std::string, std::string>> options,
                           const std::string& flag) {
  const auto backend = std::make_shared<ScriptBackend>(
      runner, RunnerTexts{.name = runner.str(), .prefix = prefix, .human_name = human_name, .flag = flag},
      script::ScriptSessionOptions{.interpreter = {}, .options = std::move(options)});
  RunnerChoice choice{.backend = backend.get(), .prefix = prefix, .human_name = human_name};
  choice.owner = backend;
  return choice;
}

}  // namespace assay
