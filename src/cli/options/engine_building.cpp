#include "cli/options/engine_building.h"

#include <algorithm>

#include "base/log.h"
#include "cli/options/layer_types.h"
#include "cli/options/onnx_model.h"
#include "cli/run_part.h"
#include "cli/values.h"
#include "engine/tactics/tactic_set.h"
#include "poly/run_parts.h"
#include "poly/run_table.h"
#include "script/network_script.h"
#include "script/reference.h"

namespace assay::cli {
namespace {

struct Idle {
  const char* name;
  Arity arity;
  const char* reason;
};

/// Upstream's options without effect on this engine, with the reasons.
constexpr Idle kIdle[] = {
    {"--tf32", Arity::kNone, "a CPU has no TensorFloat-32: float32 is computed in float32"},
    {"--fp8", Arity::kNone,
     "the engine has no products of 8-bit floats: such values are computed in float32"},
    {"--sparse-weights", Arity::kNone,
     "the engine has no kernels for 2:4 sparse weights: they are computed as dense ones"},
    {"--version-compatible", Arity::kNone, "a plan runs with the version of this program that built it"},
    {"--exclude-lean-runtime", Arity::kNone, "a plan never holds a runtime"},
    {"--trt-safety-restricted", Arity::kNone, "there is no safety runtime"},
    {"--use-dla", Arity::kNone, "a CPU has no deep learning accelerator"},
    {"--allow-gpu-fallback", Arity::kNone, "a CPU has no deep learning accelerator to fall back from"},
    {"--disable-compilation-cache", Arity::kNone, "nothing is compiled"},
    {"--weight-streaming", Arity::kNone, "weights stay in the mapped file, and the system keeps what fits"},
    {"--weight-streaming-budget", Arity::kOne,
     "weights stay in the mapped file, and the system keeps what fits"},
    {"--max-aux-streams", Arity::kOne, "a run has one stream, which all threads share"},
    {"--hardware-compatibility-level", Arity::kOne,
     "a plan runs on CPUs with the instruction sets that it was built for"},
    {"--runtime-platform", Arity::kOne, "a plan runs where it was built"},
    {"--tiling-optimization-level", Arity::kOne, "tiles are chosen by the kernels"},
    {"--profiling-verbosity", Arity::kOne, "a plan always names its layers in full"},
    {"--allocation-strategy", Arity::kOne, "memory is allocated for the shapes that come"},
    {"--tactic-sources", Arity::kAny,
     "there are no tactic sources: --disable-tactics leaves single tactics out"},
    {"--preview-features", Arity::kAny, "there are no preview features"},
    {"--quantization-flags", Arity::kAny, "there are no quantisation flags"},
    {"--regression-cutoff", Arity::kOne,
     "IInt8LegacyCalibrator goes by --quantile alone: what TensorRT does with the cutoff is not published"},
    {"--dla-workspace-allocation-strategy", Arity::kOne, "a CPU has no deep learning accelerator"},
    {"--enable-uint8-asymmetric-quantization-dla", Arity::kNone, "a CPU has no deep learning accelerator"},
    {"--decomposable-attentions", Arity::kNone,
     "the engine plans attention in parts wherever that is faster"},
    {"--load-runtime", Arity::kOne, "a plan runs with this program alone"},
};

Option idle_option(const Idle& idle) {
  return {.names = {idle.name},
          .help = fmt::format("Accepted, without effect: {}.", idle.reason),
          .arity = idle.arity};
}

std::vector<Option> config_options() {
  std::vector<Option> all = poly::options_of("TensorRT Builder Configuration");
  for (const Idle& idle : kIdle) all.push_back(idle_option(idle));
  return all;
}

int64_t workspace_limit(const ParsedArgs& args) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (const auto bytes = args.text("--workspace")) limit = parse_byte_count(*bytes);
  for (const auto& [pool, bytes] :
       parse_key_texts(args.list("--pool-limit").value_or(std::vector<std::string>()))) {
    std::string name = pool;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "workspace")
      limit = parse_byte_count(bytes);
    else if (name == "dla_managed_sram" || name == "dla_local_dram" || name == "dla_global_dram" ||
             name == "tactic_dram" || name == "tactic_shared_memory")
      log::warning("--pool-limit {}: the engine of this build has no such memory; the limit is ignored.",
                   pool);
    else
      log::critical(ErrorCode::kInvalidArgument,
                    "--pool-limit: '{}' is not a memory pool; `workspace` is one.", pool);
  }
  if (limit < 0) log::critical(ErrorCode::kInvalidArgument, "--pool-limit: a limit cannot be negative.");
  return limit;
}

struct BaseClass {
  const char* name;
  CalibrationAlgorithm algorithm;
};
/// TensorRT's classes, then the algorithms by their names.
constexpr BaseClass kBaseClasses[] = {
    {"IInt8EntropyCalibrator2", CalibrationAlgorithm::kEntropy2},
    {"IInt8EntropyCalibrator", CalibrationAlgorithm::kEntropy},
    {"IInt8MinMaxCalibrator", CalibrationAlgorithm::kMinMax},
    {"IInt8LegacyCalibrator", CalibrationAlgorithm::kLegacy},
    {"IInt8Calibrator", CalibrationAlgorithm::kEntropy2},
    {"mean-squared-error", CalibrationAlgorithm::kMeanSquaredError},
    {"entropy-2", CalibrationAlgorithm::kEntropy2},
    {"entropy", CalibrationAlgorithm::kEntropy},
    {"min-max", CalibrationAlgorithm::kMinMax},
    {"percentile", CalibrationAlgorithm::kLegacy},
};

void read_calibration(const ParsedArgs& args, poly::RunEngine& engine) {
  const auto base = args.text("--calib-base-cls");
  if (!args.has("--int8") && (base || !engine.calibration_cache.empty()))
    log::warning(
        "Some int8 calibrator options were set, but int8 precision is not enabled. "
        "Calibration options will be ignored. Please set --int8 to enable calibration. ");
  if (base) {
    const auto known = std::find_if(std::begin(kBaseClasses), std::end(kBaseClasses),
                                    [&](const BaseClass& c) { return *base == c.name; });
    if (known == std::end(kBaseClasses)) {
      std::string all;
      for (const BaseClass& c : kBaseClasses) all += (all.empty() ? "" : ", ") + std::string(c.name);
      log::critical(ErrorCode::kNotFound,
                    "--calib-base-cls: there is no calibrator '{}'. The calibrators are: {}.", *base, all);
    }
    engine.calibration_algorithm = known->algorithm;
  }
  if (const auto quantile = args.number("--quantile")) {
    engine.calibration_quantile = *quantile;
    if (!(*quantile > 0 && *quantile <= 1))
      log::critical(ErrorCode::kInvalidArgument, "--quantile: {} is not above 0 and up to 1.", *quantile);
  }
}

std::vector<poly::RunProfile> read_profiles(const ParsedArgs& args) {
  std::vector<poly::RunProfile> profiles(count_profiles(args));
  for (size_t k = 0; k < 3; ++k) {
    const auto uses = args.all(kProfileOptions[k]);
    for (size_t i = 0; i < uses.size(); ++i) {
      auto& list = k == 0 ? profiles[i].min : k == 1 ? profiles[i].opt : profiles[i].max;
      for (const InputShape& s : parse_input_shapes(kProfileOptions[k], uses[i]))
        list.emplace_back(s.name, s.dims);
    }
  }
  return profiles;
}

void require_tactics(const std::vector<std::string>& names, const char* option,
                     const engine::TacticSet& tactics) {
  for (const std::string& name : names)
    if (tactics.find(name.substr(0, name.find(':'))) == nullptr) {
      std::string all;
      for (const engine::TacticDef* t : tactics.all())
        all += (all.empty() ? "" : ", ") + std::string(t->name);
      log::critical(ErrorCode::kNotFound, "{}: there is no tactic '{}'. The tactics are: {}.", option, name,
                    all);
    }
}

}  // namespace

size_t count_profiles(const ParsedArgs& args) {
  size_t count = 0;
  for (const char* option : kProfileOptions) count = std::max(count, args.all(option).size());
  return count;
}

void add_engine_building_options(ArgParser& parser, bool runs) {
  parser.add_group("TensorRT Builder Configuration", "How the engine in TensorRT's role is built.").options =
      config_options();
  std::vector<const char*> titles = {"TensorRT Network Loading"};
  if (runs) titles.push_back("TensorRT Engine");
  for (const char* title : titles) parser.add_group(title).options = poly::options_of(title);
}

std::vector<std::string> builder_option_names() {
  std::vector<std::string> names = {"--trt-outputs", "--trt-exclude-outputs", "--trt-config-script",
                                    "--trt-network-postprocess-script", "--trt-config-postprocess-script"};
  for (const Option& o : config_options())
    if (std::none_of(std::begin(kIdle), std::end(kIdle), [&](const Idle& i) { return o.names[0] == i.name; }))
      names.push_back(o.names[0]);
  return names;
}

const char* calibrator_class(CalibrationAlgorithm algorithm) {
  return std::find_if(std::begin(kBaseClasses), std::end(kBaseClasses),
                      [&](const BaseClass& c) { return c.algorithm == algorithm; })
      ->name;
}

void warn_about_idle_options(const ParsedArgs& args) {
  for (const Idle& idle : kIdle)
    if (args.has(idle.name)) log::warning("{} has no effect: {}.", idle.name, idle.reason);
}

void read_building_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                            poly::RunEngine& engine) {
  BuilderConfig& config = engine.config;
  engine.profiles = read_profiles(args);
  // Without a build there is nothing to report.
  if (!args.declares("--trt") || args.has("--trt"))
    read_layer_types(args, as_upstream, /*as_bench=*/false, config);
  apply_strong_types(args, "--strongly-typed", as_upstream, config);
  read_calibration(args, engine);
  config.workspace_limit = workspace_limit(args);
  require_tactics(config.disabled_tactics, "--disable-tactics", tactics);
  for (const auto& [node, tactic] : config.pinned_tactics)
    require_tactics({tactic}, "--pin-tactics", tactics);
  for (const IoType& t : read_io_types(args)) engine.tensor_types.emplace_back(t.name, t.dtype);
}

void read_engine_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                          poly::RunSettings& settings) {
  poly::RunEngine& engine = settings.engine;
  warn_about_idle_options(args);
  read_run_part(args, poly::RunPart::kEngine, settings);
  engine.config_script = script_of(args, "--trt-config-script",
                                   args.text("--trt-config-func-name").value_or(script::kConfigFunction));
  for (const std::string& script :
       args.list("--trt-network-postprocess-script").value_or(std::vector<std::string>()))
    engine.network_postprocess_scripts.push_back(
        script::parse_reference(script, script::kNetworkPostprocessFunction).str());
  engine.config_postprocess_script =
      script_of(args, "--trt-config-postprocess-script", script::kConfigPostprocessFunction);
  read_outputs(args, "--trt-outputs", engine.mark_all, engine.outputs);
  read_building_settings(args, as_upstream, tactics, engine);
}

EngineBuildOptions read_engine_building_options(const ParsedArgs& args, bool as_upstream,
                                                const std::vector<InputShape>& input_shapes,
                                                const engine::TacticSet& tactics) {
  poly::RunSettings settings;
  read_engine_settings(args, as_upstream, tactics, settings);
  for (const InputShape& s : input_shapes) settings.data.shapes.emplace_back(s.name, s.dims);
  return poly::engine_building(settings.engine, settings.data);
}

}  // namespace assay::cli
