#include "assay/builder.h"

#include <algorithm>

#include "assay/version.h"
#include "base/resident_memory.h"
#include "base/time_trace.h"
#include "engine/objects/calibrate.h"
#include "engine/objects/quantized_network.h"
#include "engine/objects/state.h"
#include "engine/objects/type_wishes.h"

namespace assay {
namespace {

/// Measuring by optimisation level, from 1 on.
constexpr engine::TimingOptions kTiming[BuilderConfig::kMaxOptimizationLevel] = {
    {.least_runs = 2, .most_runs = 4, .seconds_per_problem = 0.01},
    {.least_runs = 3, .most_runs = 8, .seconds_per_problem = 0.02, .seconds_per_network = 0.2},
    {.least_runs = 4, .most_runs = 12, .seconds_per_problem = 0.03, .seconds_per_network = 0.3},
    {.least_runs = 8, .most_runs = 24, .seconds_per_problem = 0.06, .seconds_per_network = 1},
    {.least_runs = 16, .most_runs = 64, .seconds_per_problem = 0.2, .seconds_per_network = 3},
};

bool has_open_extents(const Type& type) {
  return type.is_tensor() && (!type.has_shape() || !known_shape(*type.dims));
}

bool has_open_inputs(const Graph& g) {
  return std::any_of(g.inputs.begin(), g.inputs.end(),
                     [](const Value* v) { return has_open_extents(v->type); });
}

/// Throws Error unless the profile suits the network.
void check_profile(const Graph& g, const OptimizationProfile& profile, size_t index) {
  for (const OptimizationProfile::Range& range : profile.ranges()) {
    const auto it = std::find_if(g.inputs.begin(), g.inputs.end(),
                                 [&](const Value* v) { return v->name() == range.input; });
    require(it != g.inputs.end(), ErrorCode::kInvalidArgument,
            "profile {} names the input '{}', which the network does not have", index, range.input);
    const Type& type = (*it)->type;
    if (range.holds_values) {
      require(is_integer(type.dtype) || type.dtype == DType::kBool, ErrorCode::kInvalidArgument,
              "profile {} has elements for the input '{}', which is not a shape tensor: its type is {}",
              index, range.input, type.str());
      continue;
    }
    if (!type.has_shape()) continue;
    require(type.dims->size() == range.min.size(), ErrorCode::kInvalidArgument,
            "profile {} has shapes of rank {} for the input '{}', whose shape is {}", index, range.min.size(),
            range.input, dims_str(*type.dims));
    for (size_t d = 0; d < range.min.size(); ++d) {
      const Dim& declared = (*type.dims)[d];
      require(!declared.is_known() || (range.min[d] == declared.value() && range.max[d] == declared.value()),
              ErrorCode::kInvalidArgument,
              "profile {} lets extent {} of the input '{}' be from {} to {}, but the network says {}", index,
              d, range.input, range.min[d], range.max[d], declared.value());
    }
  }
  for (const Value* v : g.inputs)
    require(!has_open_extents(v->type) || profile.find(v->name()) != nullptr, ErrorCode::kInvalidArgument,
            "the input '{}' of shape {} needs a range in profile {}", v->name(),
            v->type.has_shape() ? dims_str(*v->type.dims) : "(?)", index);
}

/// Throws Error unless the profiles suit the network, and there are some where it needs one.
void check_profiles(const Graph& g, const BuilderConfig& config) {
  for (size_t i = 0; i < config.profiles.size(); ++i) check_profile(g, config.profiles[i], i);
  if (has_open_inputs(g) && config.profiles.empty() && !config.is_lazy)
    check_profile(g, {}, 0);  // says which input
}

Tensor elements(const Value& v, const std::vector<int64_t>& held) {
  const bool is_scalar = v.type.has_shape() && v.type.dims->empty();
  const Shape shape = is_scalar ? Shape() : Shape{static_cast<int64_t>(held.size())};
  require(!is_scalar || held.size() == 1, ErrorCode::kInvalidArgument,
          "the input '{}' holds one element, its profile {}", v.name(), held.size());
  if (v.type.dtype == DType::kInt64) return Tensor::from<int64_t>(shape, held);
  require(v.type.dtype == DType::kInt32, ErrorCode::kUnsupported,
          "the shape tensor '{}' is of type {}: int32 and int64 can have a profile", v.name(), v.type.str());
  return Tensor::from<int32_t>(shape, std::vector<int32_t>(held.begin(), held.end()));
}

/// What the plan for a profile is made for: its best shapes; for no profile the network's.
engine::PlanKey key_of(const Graph& g, const OptimizationProfile* profile) {
  engine::PlanKey key;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    const Value& v = *g.inputs[i];
    const OptimizationProfile::Range* range = profile != nullptr ? profile->find(v.name()) : nullptr;
    if (range != nullptr && range->holds_values) {
      Tensor held = elements(v, range->opt);
      key.shapes.push_back(held.shape());
      key.values.emplace_back(i, std::move(held));
    } else if (range != nullptr) {
      key.shapes.emplace_back(range->opt);
    } else {
      key.shapes.push_back(v.type.has_shape() ? known_shape(*v.type.dims).value_or(Shape()) : Shape());
    }
  }
  return key;
}

std::vector<TensorFormat> public_formats(const std::vector<engine::OperandFormat>& formats) {
  std::vector<TensorFormat> out;
  for (const engine::OperandFormat& f : formats) out.push_back({f.dtype, f.shape, f.layout.block});
  return out;
}

Algorithm algorithm_of(const engine::Option& o) {
  return {.name = o.name(),
          .inputs = public_formats(engine::formats_of(o.candidate.inputs)),
          .outputs = public_formats(engine::formats_of(o.candidate.outputs)),
          .seconds = o.seconds,
          .scratch_bytes = o.candidate.step.scratch_bytes};
}

/// Keeps the options that the selector allows.
void filter(AlgorithmSelector& selector, const engine::Region& region, std::vector<engine::Option>& options) {
  std::vector<Algorithm> algorithms;
  for (const engine::Option& o : options) algorithms.push_back(algorithm_of(o));
  const std::optional<std::vector<size_t>> allowed =
      selector.select_algorithms(engine::origins_of(region), algorithms);
  if (!allowed) return;
  std::vector<engine::Option> kept;
  for (const size_t i : *allowed) {
    require(i < options.size(), ErrorCode::kInvalidArgument,
            "the algorithm selector chose {} of {} algorithms", i, options.size());
    kept.push_back(std::move(options[i]));
  }
  options = std::move(kept);
}

engine::SavedRules rules_of(const BuilderConfig& config,
                            std::shared_ptr<const QuantizeOptions> quantization) {
  engine::SavedRules rules{.precisions = {.float16 = config.fp16, .bfloat16 = config.bf16},
                           .optimize = config.optimize,
                           .disabled_passes = config.disabled_passes,
                           .max_edits = config.max_edits,
                           .disabled_tactics = config.disabled_tactics,
                           .pinned = {},
                           .most_scratch = config.workspace_limit,
                           .quantization = std::move(quantization),
                           .types = {}};
  for (const auto& [node, tactic] : config.pinned_tactics) rules.pinned.push_back({node, tactic});
  return rules;
}

engine::BuildConfig build_config(const Runtime::State& runtime, const BuilderConfig& config,
                                 const engine::SavedRules& rules) {
  require(config.optimization_level >= 0 && config.optimization_level <= BuilderConfig::kMaxOptimizationLevel,
          ErrorCode::kInvalidArgument, "{} is no optimization level: it is 0 to {}",
          config.optimization_level, BuilderConfig::kMaxOptimizationLevel);
  engine::BuildConfig c = base_config(runtime);
  apply(rules, c);
  c.bodies_ahead = !config.is_lazy;
  c.reports = !config.is_lazy;
  c.passes.verify = config.verify_passes;
  if (config.optimization_level > 0) {
    c.timing_cache = config.timing_cache != nullptr
                         ? config.timing_cache
                         : std::make_shared<TimingCache>(runtime.timing_environment());
    c.timing = kTiming[config.optimization_level - 1];
    c.timing.use_only = config.use_timing_cache_only;
  }
  if (config.algorithm_selector != nullptr)
    c.filter = [s = config.algorithm_selector](const engine::Region& region,
                                               std::vector<engine::Option>& options) {
      filter(*s, region, options);
    };
  if (config.on_progress)
    c.on_progress = [report = config.on_progress,
                     timed = config.optimization_level > 0](const engine::ChoiceProgress& p) {
      report({.phase = timed ? "timing tactics" : "choosing tactics",
              .what = p.measured,
              .done = p.done,
              .total = p.total,
              .from_cache = p.from_cache});
    };
  return c;
}

void report_choices(AlgorithmSelector& selector, const std::vector<engine::RegionReport>& reports) {
  for (const engine::RegionReport& r : reports)
    for (const auto& line : r.candidates)
      if (line.chosen)
        selector.report_algorithms(r.origins, {.name = line.candidate,
                                               .inputs = public_formats(line.inputs),
                                               .outputs = public_formats(line.outputs),
                                               .seconds = line.seconds,
                                               .scratch_bytes = line.scratch_bytes});
}

std::string passes_text(const std::vector<PassReport>& reports) {
  std::string text = "Passes that changed the network:\n";
  int64_t others = 0;
  for (const PassReport& r : reports)
    if (r.edits > 0)
      text += fmt::format("  {}: {} edit(s), {:.3f} ms\n", r.pass, r.edits, r.seconds * 1e3);
    else
      ++others;
  return text + fmt::format("  {} other(s) found nothing to change\n", others);
}

/// Where the values of a run lie, and what stays beside the model.
std::string memory_text(const engine::Plan& plan, size_t plan_count, size_t profile) {
  int64_t packed = 0, constants = 0, scratch = 0;
  for (const engine::PlanConstant& c : plan.constants) {
    constants += static_cast<int64_t>(c.tensor.nbytes());
    if (c.is_packed()) packed += static_cast<int64_t>(c.tensor.nbytes());
  }
  for (const engine::Step& s : plan.steps) scratch = std::max(scratch, s.scratch_bytes);
  return fmt::format(
      "Memory plan{}:\n  {} step(s), {} value(s)\n  {} bytes for the values of a run, which share memory "
      "where their "
      "lives do not overlap\n  {} bytes of scratch memory for the step that needs most\n  {} bytes of "
      "constants, {} of "
      "them packed for their kernels\n",
      plan_count > 1 ? fmt::format(" of profile {}", profile) : "", plan.steps.size(), plan.values.size(),
      plan.arena_bytes, scratch, constants, packed);
}

/// What goes into a plan file besides rules, plans and weights.
engine::SavedEngine described(const Graph& g, const Runtime::State& runtime, const BuilderConfig& config) {
  engine::SavedEngine saved;
  saved.name = g.name;
  saved.environment = runtime.target->fingerprint();
  saved.producer = std::string("assay ") + ASSAY_VERSION;
  saved.threads = runtime.pool->size();
  for (const Value* v : g.inputs) saved.inputs.push_back({v->name(), v->type});
  for (const Value* v : g.outputs) saved.outputs.push_back({v->name(), v->type});
  saved.profiles = config.profiles;
  saved.is_refittable = config.is_refittable || config.strips_weights;
  saved.is_stripped = config.strips_weights;
  return saved;
}

/// Null for a lazy engine whose network has extents that nobody can count: the run says which node makes
/// them.
std::unique_ptr<engine::PlanBuilder> plan_builder(const Model& network, const Runtime::State& runtime,
                                                  const BuilderConfig& config,
                                                  const engine::SavedRules& rules) {
  const trace::Span span(trace::Kind::kBuild, "optimize the network");
  try {
    return std::make_unique<engine::PlanBuilder>(network, build_config(runtime, config, rules));
  } catch (const Error& e) {
    if (!config.is_lazy || e.code() != ErrorCode::kInvalidArgument) throw;
  }
  return nullptr;
}

/// The plan for the key's shapes, with the elements of inputs that it has. `is_last`: no other will be asked
/// for.
std::shared_ptr<const engine::Plan> plan_for(engine::PlanBuilder& builder, const engine::PlanKey& key,
                                             bool is_last) {
  const trace::Span span(trace::Kind::kBuild, "choose tactics and plan");
  std::vector<Tensor> inputs(key.shapes.size());
  std::vector<size_t> found;
  for (const auto& [i, value] : key.values) {
    inputs[i] = value;
    found.push_back(i);
  }
  return is_last ? builder.build_last(key.shapes, inputs, found) : builder.build(key.shapes, inputs, found);
}

/// Notes what was chosen: plans for other shapes take the same where they can.
void add_preferences(const std::vector<engine::RegionReport>& reports, engine::SavedEngine& saved) {
  for (const engine::RegionReport& r : reports)
    for (const auto& line : r.candidates)
      if (line.chosen)
        for (const std::string& origin : r.origins) saved.preferences.push_back({origin, line.candidate});
}

/// The plans of all profiles, or the only one.
struct BuiltPlans {
  std::vector<engine::RegionReport> reports;
  std::string memory;         ///< memory_text() of each
  bool are_all_ready = true;  ///< nothing in them waits for shapes
};

/// `stays`: the builder will be asked for more plans.
BuiltPlans build_plans(engine::PlanBuilder& builder, const Graph& g, const BuilderConfig& config, bool stays,
                       engine::SavedEngine& saved) {
  BuiltPlans built;
  const size_t plan_count = std::max<size_t>(1, config.profiles.size());
  for (size_t p = 0; p < plan_count; ++p) {
    engine::PlanKey key = key_of(g, config.profiles.empty() ? nullptr : &config.profiles[p]);
    std::shared_ptr<const engine::Plan> plan = plan_for(builder, key, !stays && p + 1 == plan_count);
    const std::vector<engine::RegionReport>& reports = builder.reports();
    if (p == 0) saved.near_misses = builder.near_misses();
    if (config.algorithm_selector != nullptr) report_choices(*config.algorithm_selector, reports);
    add_preferences(reports, saved);
    built.reports.insert(built.reports.end(), reports.begin(), reports.end());
    built.memory += memory_text(*plan, plan_count, p);
    // What hangs on unknown values can only be made ready with them.
    built.are_all_ready = built.are_all_ready && !engine::waits_for_shapes(*plan);
    saved.plans.push_back({std::move(key), config.strips_weights ? nullptr : std::move(plan)});
  }
  return built;
}

/// Plans of the engine hang on elements of inputs.
bool holds_values(const std::vector<OptimizationProfile>& profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [](const OptimizationProfile& p) {
    return std::any_of(p.ranges().begin(), p.ranges().end(), [](const auto& r) { return r.holds_values; });
  });
}

std::string kept_text(const QuantizeReport& quantized) {
  std::string text;
  for (const QuantizeReport::Kept& k : quantized.kept)
    text += fmt::format("not in 8 bits: {}: {}\n", k.node, k.reason);
  return text;
}

BuildEngine builds(const Builder& builder) {
  return [&builder](const std::shared_ptr<const Model>& network, const BuilderConfig& config) {
    return builder.build_engine(network, config);
  };
}

/// Something but float32 was allowed.
bool is_mixed(const BuilderConfig& config, const engine::SavedRules& rules) {
  return config.fp16 || config.bf16 || config.int8 || !rules.types.empty();
}

}  // namespace

Builder::Builder(const Runtime& runtime) : runtime_(runtime.state()) {}

std::shared_ptr<Engine> Builder::build_engine(const std::shared_ptr<const Model>& network,
                                              const BuilderConfig& config) const {
  const Graph& g = *network->graph;
  const trace::Span span(trace::Kind::kBuild, [&] { return "build " + g.name; });
  check_profiles(g, config);
  const auto warn = [&](const std::string& sentence) { runtime_->warn(sentence); };
  engine::TypeRules types = type_rules_of(*network, config, warn);

  engine::SavedEngine saved = described(g, *runtime_, config);
  const CalibrationJob calibration = calibration_job(builds(*this), *runtime_, network, config);
  saved.rules = rules_of(config, config.int8 ? quantization_for(calibration, config.float_nodes) : nullptr);
  saved.rules.types = std::move(types);

  if (config.on_progress)
    config.on_progress({.phase = "optimizing the network", .what = {}, .done = 0, .total = 0});
  std::unique_ptr<engine::PlanBuilder> builder = plan_builder(*network, *runtime_, config, saved.rules);
  if (builder != nullptr && saved.rules.quantization != nullptr)
    report_quantization(builder->quantize_report(), calibration);
  if (config.is_lazy) return lazy_engine(network, std::move(saved), std::move(builder));
  // Plans for other shapes will be asked for: the builder stays.
  const bool is_open = has_open_inputs(g), stays = is_open && !saved.is_refittable;
  summary_.clear();
  BuiltPlans built = build_plans(*builder, g, config, stays, saved);
  if (is_open || !built.are_all_ready || saved.is_refittable || holds_values(config.profiles))
    saved.model = network;
  explanation_ = engine::reports_text(built.reports);
  summary_ = passes_text(builder->pass_reports()) + built.memory;
  for (const engine::UnmetWish& u : builder->unmet())
    runtime_->warn(fmt::format("a wish for types is not followed: {}", u.str()));
  type_summary_.clear();
  if (is_mixed(config, saved.rules) && saved.plans.front().plan != nullptr)
    type_summary_ = type_summary_of(*saved.plans.front().plan);
  explanation_ += kept_text(builder->quantize_report());
  if (!stays) builder.reset();
  trim_heap();
  std::shared_ptr<Engine> engine = make_engine(runtime_, std::move(saved), std::move(builder));
  engine->state().choices = std::move(built.reports);
  return engine;
}

namespace {

void require_calibration(const Model& network, const BuilderConfig& config) {
  check_profiles(*network.graph, config);
  require(!is_quantized(network), ErrorCode::kInvalidArgument,
          "the network has QuantizeLinear, DequantizeLinear or QLinear operators: it defines its own "
          "quantization");
  require(config.calibrator != nullptr, ErrorCode::kInvalidArgument,
          "there is no calibrator to quantize the network with");
}

}  // namespace

CalibrationStatistics calibration_statistics(const Runtime& runtime,
                                             const std::shared_ptr<const Model>& network,
                                             const BuilderConfig& config) {
  require_calibration(*network, config);
  const Builder builder(runtime);
  return calibration_statistics(calibration_job(builds(builder), *runtime.state(), network, config));
}

std::shared_ptr<Model> Builder::quantized_network(const std::shared_ptr<const Model>& network,
                                                  const BuilderConfig& config) const {
  require_calibration(*network, config);
  const auto warn = [&](const std::string& sentence) { runtime_->warn(sentence); };
  engine::TypeRules types = type_rules_of(*network, config, warn);
  const CalibrationJob calibration = calibration_job(builds(*this), *runtime_, network, config);
  QuantizeOptions quantization = *quantization_for(calibration, config.float_nodes);
  quantization.symmetric = config.symmetric_int8;
  QuantizedNetwork made = quantize_network(*network, quantization, types, runtime_->options.passes);
  report_quantization(made.report, calibration);
  if (types.constraints == PrecisionConstraints::kObey) engine::refuse_unmet(made.unmet);
  for (const engine::UnmetWish& u : made.unmet)
    warn(fmt::format("a wish for types is not followed: {}", u.str()));
  explanation_ = kept_text(made.report);
  summary_.clear();
  type_summary_ = std::move(made.summary);
  return std::move(made.model);
}

std::shared_ptr<Engine> Builder::lazy_engine(const std::shared_ptr<const Model>& network,
                                             engine::SavedEngine saved,
                                             std::unique_ptr<engine::PlanBuilder> builder) const {
  explanation_.clear();
  type_summary_.clear();
  summary_ = builder != nullptr ? passes_text(builder->pass_reports()) : std::string();
  saved.model = network;
  const bool is_known = !has_open_inputs(*network->graph);
  const std::vector<Shape> shapes = key_of(*network->graph, nullptr).shapes;
  std::shared_ptr<Engine> engine = make_engine(runtime_, std::move(saved), std::move(builder), true);
  if (!is_known) return engine;
  try {
    // What hangs on the elements of inputs is made ready with them.
    if (const auto ready = engine->state().plans->prepare(shapes))
      engine->state().saved.plans.push_back({ready->key, ready->plan});
  } catch (const Error& e) {
    // What is wrong with the network is said by the run, against its inputs.
    if (e.code() == ErrorCode::kUnsupported || e.code() == ErrorCode::kResource) throw;
  }
  return engine;
}

std::string Builder::build_serialized_network(const std::shared_ptr<const Model>& network,
                                              const BuilderConfig& config) const {
  return build_engine(network, config)->serialize();
}

}  // namespace assay
