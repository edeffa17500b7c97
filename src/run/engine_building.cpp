#include "run/engine_building.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "assay/interrupt.h"
#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "base/guess.h"
#include "base/name_pattern.h"
#include "base/progress_line.h"
#include "base/python_repr.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/metadata_text.h"
#include "ops/infer.h"
#include "passes/tensorrt_layers.h"
#include "run/tactic_replay.h"
#include "run/timing_cache_file.h"
#include "transform/mark_outputs.h"

namespace assay {
namespace {

using diag::Severity;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const InputShape* shape_for(const std::vector<InputShape>& shapes, const std::string& input) {
  const InputShape* found = nullptr;
  for (const InputShape& s : shapes)
    if (s.name == input || s.name.empty()) found = &s;
  return found;
}

/// Numbers of a shape that a user gave; open extents become 1, with a warning.
std::vector<int64_t> numbers(const InputShape& shape) {
  std::vector<int64_t> out;
  for (const Dim& d : shape.dims) out.push_back(d.is_known() ? d.value() : 1);
  return out;
}

bool is_shape_tensor(const Value& v, const InputShape& given) {
  // The numbers are elements if the input's shape is known and differs from them, and their count matches.
  if (!is_integer(v.type.dtype) || !v.type.has_shape()) return false;
  const auto shape = known_shape(*v.type.dims);
  return shape && shape->rank() <= 1 && shape->numel() == static_cast<int64_t>(given.dims.size()) &&
         to_dims(*shape) != given.dims;
}

/// The ranges of one profile. Unnamed inputs get the
/// shapes for the data, and remaining open extents are 1.
OptimizationProfile make_profile(const Graph& g, const ProfileShapes& given,
                                 const std::vector<InputShape>& input_shapes) {
  OptimizationProfile profile;
  for (const Value* v : g.inputs) {
    if (!v->type.is_tensor()) continue;
    const std::string& name = v->name();
    const InputShape* data = shape_for(input_shapes, name);
    const auto pick = [&](const std::vector<InputShape>& list) {
      const InputShape* s = shape_for(list, name);
      return s != nullptr ? s : data;
    };
    const InputShape *min = pick(given.min), *opt = pick(given.opt), *max = pick(given.max);
    if (min == nullptr && opt == nullptr && max == nullptr) {
      if (v->type.has_shape() && known_shape(*v->type.dims)) continue;
      require(v->type.has_shape(), ErrorCode::kInvalidArgument,
              "the rank of input '{}' is not known: {} must give its shape", name,
              say(Say::kNameInputShapes));
      std::vector<int64_t> extents;
      for (const Dim& d : *v->type.dims) extents.push_back(d.is_known() ? d.value() : 1);
      diag::guess(
          "Input tensor: {} (dtype={}, shape={}) | No shapes provided; Will use shape: {} for min/opt/max in "
          "profile.\n"
          "Note: This will cause the tensor to have a static shape. If this is incorrect, please set the "
          "range of shapes for this input tensor.",
          name, dtype_name(v->type.dtype), dims_str(*v->type.dims), python_list_repr(extents));
      profile.set_shape(name, Shape(extents), Shape(extents), Shape(extents));
      continue;
    }
    require(min != nullptr && opt != nullptr && max != nullptr, ErrorCode::kInvalidArgument,
            "Mismatch in input names: '{}' is named by {}, but not by {}", name,
            say(Say::kNameProfileShapes, {min != nullptr   ? "min"
                                          : opt != nullptr ? "opt"
                                                           : "max"}),
            say(Say::kNameProfileShapes, {min == nullptr   ? "min"
                                          : opt == nullptr ? "opt"
                                                           : "max"}));
    if (is_shape_tensor(*v, *opt))
      profile.set_shape_values(name, numbers(*min), numbers(*opt), numbers(*max));
    else
      profile.set_shape(name, Shape(numbers(*min)), Shape(numbers(*opt)), Shape(numbers(*max)));
  }
  return profile;
}

void refuse_unknown_inputs(const Graph& g, const EngineBuildOptions& options) {
  const auto check = [&](const std::vector<InputShape>& shapes, const char* which) {
    for (const InputShape& s : shapes) {
      const bool known =
          std::any_of(g.inputs.begin(), g.inputs.end(), [&](const Value* v) { return v->name() == s.name; });
      require(known, ErrorCode::kInvalidArgument, "{} names the input '{}', which the network does not have",
              say(Say::kNameProfileShapes, {which}), s.name);
    }
  };
  for (const ProfileShapes& p : options.profiles) {
    check(p.min, "min");
    check(p.opt, "opt");
    check(p.max, "max");
  }
}

std::string profiles_text(const std::vector<OptimizationProfile>& profiles) {
  std::string text;
  for (size_t i = 0; i < profiles.size(); ++i) {
    std::string ranges;
    for (const auto& r : profiles[i].ranges())
      ranges += fmt::format("{}{} [min={}, opt={}, max={}]", ranges.empty() ? "" : ",\n         ", r.input,
                            python_list_repr(r.min), python_list_repr(r.opt), python_list_repr(r.max));
    text += fmt::format("\n    Profile {}:\n        {{{}}}", i, ranges);
  }
  return "[" + text + "\n]";
}

/// Between the names of a layer's nodes.
constexpr std::string_view kBetween = " + ";

/// Records the choices, for a replay file.
class TacticRecorder final : public AlgorithmSelector {
 public:
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                       const std::vector<Algorithm>&) override {
    return std::nullopt;
  }
  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override {
    replay.emplace_back(layer_of(nodes), tactic_algorithm(chosen));
  }

  static std::string layer_of(const std::vector<std::string>& nodes) {
    std::string name;
    for (const std::string& n : nodes) name += (name.empty() ? std::string() : std::string(kBetween)) + n;
    return name;
  }
  TacticReplay replay;
};

/// Chooses algorithms by a replay file.
class Replayer final : public AlgorithmSelector {
 public:
  Replayer(TacticReplay replay, std::string path) : path_(std::move(path)) {
    for (auto& [layer, algorithm] : replay) {
      for (size_t at = 0; at <= layer.size();) {
        const size_t end = std::min(layer.find(kBetween, at), layer.size());
        nodes_.insert(layer.substr(at, end - at));
        at = end + kBetween.size();
      }
      wanted_.insert_or_assign(std::move(layer), std::move(algorithm));
    }
  }
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                       const std::vector<Algorithm>& algorithms) override {
    const auto it = wanted_.find(TacticRecorder::layer_of(nodes));
    if (it == wanted_.end()) {
      // Nodes that the replay has in another layer run in that one.
      if (std::any_of(nodes.begin(), nodes.end(), [&](const std::string& n) { return nodes_.contains(n); }))
        return std::vector<size_t>();
      return std::nullopt;
    }
    for (size_t i = 0; i < algorithms.size(); ++i)
      if (tactic_algorithm(algorithms[i]).is_same_tactic(it->second)) return std::vector<size_t>{i};
    fail(ErrorCode::kInvalidArgument,
         "{}: the tactic that it has for layer '{}' ({}) is not among those that could run it", path_,
         it->first, it->second.str());
  }
  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm&) override {
    met_ += wanted_.contains(TacticRecorder::layer_of(nodes)) ? 1 : 0;
  }

  /// Throws Error for a replay of another network.
  void check() const {
    require(met_ > 0 || wanted_.empty(), ErrorCode::kInvalidArgument,
            "{} is a replay for another network: it has {} layers, and none of them is in this one", path_,
            wanted_.size());
    if (met_ < wanted_.size())
      diag::warning("{} of the {} layers of {} are not in this engine; what they say is left out.",
                    wanted_.size() - met_, wanted_.size(), path_);
  }

 private:
  std::string path_;
  std::map<std::string, TacticAlgorithm> wanted_;
  std::set<std::string> nodes_;  // of its layers
  size_t met_ = 0;
};

std::shared_ptr<const Model> with_outputs(const std::shared_ptr<const Model>& model,
                                          const EngineBuildOptions& options) {
  if (!options.mark_all && !options.outputs && !options.exclude_outputs && options.output_layer_types.empty())
    return model;
  const std::shared_ptr<Model> changed = clone_model(*model);
  if (options.mark_all)
    mark_all_outputs(*changed);
  else if (options.outputs)
    mark_outputs(*changed, *options.outputs);
  if (!options.output_layer_types.empty())
    mark_outputs_by_layer_type(*changed, options.output_layer_types,
                               /*add=*/options.mark_all || options.outputs.has_value());
  if (options.exclude_outputs) unmark_outputs(*changed, *options.exclude_outputs);
  infer_shapes(*changed);
  return changed;
}

std::shared_ptr<const Model> with_io_types(const Model& model, const EngineBuildOptions& options) {
  const std::shared_ptr<Model> changed = clone_model(model);
  std::vector<std::string> unknown;
  set_io_types(*changed, options.io_types, options.config.skips_unknown_layers ? &unknown : nullptr);
  for (const std::string& sentence : unknown) diag::warning("{}", sentence);
  infer_shapes(*changed);
  return changed;
}

/// The network with the outputs, changes and types that are wanted.
std::shared_ptr<const Model> changed_network(const std::shared_ptr<const Model>& given,
                                             const EngineBuildOptions& wishes) {
  std::shared_ptr<const Model> model = with_outputs(given, wishes);
  for (const auto& change : wishes.change_network) model = change(*model);
  return wishes.io_types.empty() ? model : with_io_types(*model, wishes);
}

/// The ranges that the options give; none where no input has an open shape.
void set_profiles(const Graph& g, const EngineBuildOptions& options, BuilderConfig& config) {
  for (const ProfileShapes& p : options.profiles)
    config.profiles.push_back(make_profile(g, p, options.input_shapes));
  if (config.profiles.empty()) config.profiles.push_back(make_profile(g, {}, options.input_shapes));
  if (config.profiles.size() == 1 && config.profiles[0].ranges().empty()) config.profiles.clear();
}

/// A trial, one of many builds, is told of in detail only.
Severity severity_for(const EngineBuildOptions& options, Severity usual) {
  return options.is_trial ? Severity::kVerbose : usual;
}

/// All but what the build itself keeps: timing cache, choice of tactics, progress.
BuilderConfig complete_config(const Model& model, const EngineBuildOptions& options) {
  BuilderConfig config = options.config;
  set_profiles(*model.graph, options, config);
  if (options.change_config) options.change_config(model, config);
  if (config.int8 && config.calibrator == nullptr) config.calibrator = make_calibrator(options.calibration);
  if (!config.profiles.empty())
    diag::message(severity_for(options, Severity::kInfo), "Configuring with profiles:{}",
                  profiles_text(config.profiles));
  return config;
}

std::shared_ptr<TimingCache> timing_cache_for(const Runtime& runtime, const EngineBuildOptions& options) {
  auto cache = std::make_shared<TimingCache>(runtime.timing_environment());
  if (!options.load_timing_cache.empty()) load_timing_cache(options.load_timing_cache, *cache);
  // A file that cannot be added to is found before the work.
  if (std::error_code ec; std::filesystem::exists(options.save_timing_cache, ec))
    TimingCache(runtime.timing_environment()).load(options.save_timing_cache);
  return cache;
}

void show_progress(ProgressLine& line, const BuildProgress& p) {
  stop_if_interrupted();
  if (p.total == 0) return line.show(p.phase);
  line.show(fmt::format("{}: {} of {} groups of nodes, {} times known{}{}", p.phase, p.done, p.total,
                        p.from_cache, p.what.empty() ? "" : ", ", p.what));
}

void tell_configuration(const BuilderConfig& config, const Runtime& runtime, Severity severity) {
  diag::message(
      severity,
      "Building engine with configuration:\n    Optimization Level     | {}\n    Threads                | "
      "{}\n    Types                  | {}\n    Refittable             | {}",
      config.optimization_level, runtime.threads(),
      fmt::format("as in the model{}{}{}", config.fp16 ? ", float16" : "", config.bf16 ? ", bfloat16" : "",
                  config.int8 ? ", int8" : ""),
      config.is_refittable || config.strips_weights);
}

void tell_choices(const Builder& builder, bool explain, Severity severity) {
  if (!builder.type_summary().empty())
    diag::message(severity, "Types of layers: {}.", builder.type_summary());
  if (diag::enabled(diag::Severity::kVerbose)) diag::verbose("{}", builder.summary());
  if (explain)
    diag::info("Choices:\n{}", builder.explanation());
  else if (diag::enabled(diag::Severity::kVerbose))
    diag::verbose("Choices:\n{}", builder.explanation());
}

/// The network that is wanted, and the options for it.
struct Wanted {
  Wanted(const std::shared_ptr<const Model>& given, const EngineBuildOptions& wishes)
      : model(changed_network(given, wishes)), options(wishes) {
    if (options.configure) options.configure(*model, options);
    refuse_unknown_inputs(*model->graph, options);
  }

  std::shared_ptr<const Model> model;
  EngineBuildOptions options;
};

}  // namespace

PreparedBuild prepare_build(const std::shared_ptr<const Model>& given, const EngineBuildOptions& wishes) {
  const auto [model, options] = Wanted(given, wishes);
  return {.network = model, .config = complete_config(*model, options)};
}

std::shared_ptr<Model> quantize_model(const Runtime& runtime, const std::shared_ptr<const Model>& given,
                                      const EngineBuildOptions& options) {
  auto [model, config] = prepare_build(given, options);
  ProgressLine line;
  config.on_progress = [&](const BuildProgress& p) { show_progress(line, p); };
  const Builder builder(runtime);
  std::shared_ptr<Model> quantized = builder.quantized_network(model, config);
  line.clear();
  tell_choices(builder, options.explain, Severity::kInfo);
  return quantized;
}

std::shared_ptr<Engine> build_engine(const Runtime& runtime, const std::shared_ptr<const Model>& given,
                                     const EngineBuildOptions& wishes) {
  const auto [model, options] = Wanted(given, wishes);
  BuilderConfig config = complete_config(*model, options);
  const std::shared_ptr<TimingCache> cache = timing_cache_for(runtime, options);
  config.timing_cache = cache;
  TacticRecorder recorder;
  std::optional<Replayer> replayer;
  if (!options.save_tactics.empty()) config.algorithm_selector = &recorder;
  if (!options.load_tactics.empty())
    config.algorithm_selector =
        &replayer.emplace(load_tactic_replay(options.load_tactics), options.load_tactics);
  ProgressLine line;
  config.on_progress = [&](const BuildProgress& p) { show_progress(line, p); };
  tell_configuration(config, runtime, severity_for(options, Severity::kStart));
  const auto start = Clock::now();
  const Builder builder(runtime);
  const std::shared_ptr<Engine> engine = builder.build_engine(model, config);
  line.clear();
  diag::message(severity_for(options, Severity::kFinish), "Finished engine building in {:.3f} seconds",
                seconds_since(start));
  tell_choices(builder, options.explain, severity_for(options, Severity::kInfo));
  if (replayer) replayer->check();
  if (!options.save_tactics.empty()) save_tactic_replay(recorder.replay, options.save_tactics);
  if (!options.save_timing_cache.empty())
    save_timing_cache(options.save_timing_cache, runtime.timing_environment(), *cache);
  return engine;
}

}  // namespace assay
