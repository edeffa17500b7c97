#include "cli/options/engine_building.h"

#include <algorithm>

#include "base/log.h"
#include "cli/options/layer_types.h"
#include "cli/options/onnx_model.h"
#include "cli/values.h"
#include "engine/tactics/tactic_set.h"
#include "run/script_parts.h"
#include "script/network_script.h"

namespace assay::cli {
namespace {

struct Idle {
  const char* name;
  Arity arity;
  const char* reason;
};

/// Upstream's options that have nothing to act on in this engine, and why.
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
  std::vector<Option> all;
  const char* const kWhich[] = {"Least", "Best", "Largest"};
  for (size_t i = 0; i < 3; ++i)
    all.push_back({.names = {kProfileOptions[i]},
                   .help = fmt::format("{} shapes of a profile, as in image:[1,3,224,224]; for a "
                                       "shape tensor its elements. Each further use begins "
                                       "another profile.",
                                       kWhich[i]),
                   .arity = Arity::kAtLeastOne,
                   .metavar = "NAME:SHAPE"});
  const Option options[] = {
      {.names = {"--fp16"},
       .help = "Weights and other float32 numbers may be stored in float16 where that is faster, and faster "
               "algorithms may round more; arithmetic stays float32.",
       .arity = Arity::kNone},
      {.names = {"--bf16"},
       .help = "The same with bfloat16, to which factors of products may be rounded, too.",
       .arity = Arity::kNone},
      {.names = {"--int8"},
       .help = "Products with constant weights may be computed in 8-bit integers. Scales come from "
               "--calibration-cache, or are found by running the network on the data that the data loader's "
               "options "
               "describe. A network with QuantizeLinear and DequantizeLinear needs neither.",
       .arity = Arity::kNone},
      {.names = {"--strongly-typed"},
       .help = "All types are those of the network: nothing is computed in others.",
       .arity = Arity::kNone},
      {.names = {"--calibration-cache"},
       .help = "Scales for --int8, in TensorRT's format: read if the file is there, else written.",
       .metavar = "FILE"},
      {.names = {"--calib-base-cls", "--calibration-base-class"},
       .help = "How scales are found: IInt8EntropyCalibrator2 (default), IInt8EntropyCalibrator, "
               "IInt8MinMaxCalibrator, IInt8LegacyCalibrator (by --quantile).",
       .metavar = "CLASS"},
      {.names = {"--quantile"},
       .help = "For IInt8LegacyCalibrator: the part of a tensor's magnitudes that is not clipped; default: "
               "0.9999.",
       .metavar = "NUM",
       .kind = ValueKind::kNumber},
      {.names = {"--refittable"},
       .help = "Other weights can be given to the engine later.",
       .arity = Arity::kNone},
      {.names = {"--strip-plan"},
       .help = "Leave the weights out of the plan: a refit gives them.",
       .arity = Arity::kNone},
      {.names = {"--load-timing-cache"},
       .help = "Times that were measured before. A missing file is not an error.",
       .metavar = "FILE"},
      {.names = {"--save-timing-cache"},
       .help = "Add the times that were measured to this file.",
       .metavar = "FILE"},
      {.names = {"--error-on-timing-cache-miss"},
       .help = "Measure nothing: a candidate whose time the cache does not have is an error.",
       .arity = Arity::kNone},
      {.names = {"--save-tactics", "--save-tactic-replay"},
       .help = "Save which tactic each layer got.",
       .metavar = "FILE",
       .exclusive = "tactic replays"},
      {.names = {"--load-tactics", "--load-tactic-replay"},
       .help = "Give each layer the tactic that a saved replay has for it.",
       .metavar = "FILE",
       .exclusive = "tactic replays"},
      {.names = {"--pool-limit", "--memory-pool-limit"},
       .help = "Limits of memory pools, as in workspace:1G: scratch memory of a layer. Other pools have no "
               "meaning on a CPU.",
       .arity = Arity::kAtLeastOne,
       .metavar = "POOL:BYTES"},
      {.names = {"--workspace"}, .help = "The same as --pool-limit workspace:BYTES.", .metavar = "BYTES"},
      {.names = {"--builder-optimization-level"},
       .help = "0: a model of cost chooses tactics, nothing is timed; 1 to 5: they are timed, ever more "
               "thoroughly. Default: 3.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--disable-tactics"},
       .help = "Tactics to leave out, by name (gemv) or one of their ways (dnnl_conv:row).",
       .arity = Arity::kAtLeastOne,
       .metavar = "TACTIC"},
      {.names = {"--pin-tactics"},
       .help = "Nodes of the model that must run on a tactic, as in conv1=dnnl_conv.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NODE=TACTIC"},
      {.names = {"--disable-passes"},
       .help = "Optimising passes to leave out.",
       .arity = Arity::kAtLeastOne,
       .metavar = "PASS"},
      {.names = {"--max-edits"},
       .help = "Stop optimising after so many edits: the way to find the one that breaks a model.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--verify-passes"}, .help = "Check the graph after every pass.", .arity = Arity::kNone},
      {.names = {"--explain"},
       .help = "Say for each region of the network which candidates there were, what they took, and why "
               "others were refused.",
       .arity = Arity::kNone},
  };
  all.insert(all.end(), std::begin(options), std::end(options));
  for (Option& o : layer_type_options(false)) all.push_back(std::move(o));
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
constexpr BaseClass kBaseClasses[] = {
    {"IInt8EntropyCalibrator2", CalibrationAlgorithm::kEntropy2},
    {"IInt8EntropyCalibrator", CalibrationAlgorithm::kEntropy},
    {"IInt8MinMaxCalibrator", CalibrationAlgorithm::kMinMax},
    {"IInt8LegacyCalibrator", CalibrationAlgorithm::kLegacy},
    {"IInt8Calibrator", CalibrationAlgorithm::kEntropy2},
};

CalibrationOptions read_calibration(const ParsedArgs& args) {
  CalibrationOptions options;
  const auto base = args.text("--calib-base-cls");
  options.cache = args.text("--calibration-cache").value_or("");
  if (!args.has("--int8") && (base || !options.cache.empty()))
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
    options.algorithm = known->algorithm;
  }
  if (const auto quantile = args.number("--quantile")) {
    options.quantile = *quantile;
    if (!(options.quantile > 0 && options.quantile <= 1))
      log::critical(ErrorCode::kInvalidArgument, "--quantile: {} is not above 0 and up to 1.",
                    options.quantile);
  }
  return options;
}

std::vector<ProfileShapes> read_profiles(const ParsedArgs& args) {
  std::vector<ProfileShapes> profiles(count_profiles(args));
  for (size_t k = 0; k < 3; ++k) {
    const auto uses = args.all(kProfileOptions[k]);
    for (size_t i = 0; i < uses.size(); ++i) {
      auto& list = k == 0 ? profiles[i].min : k == 1 ? profiles[i].opt : profiles[i].max;
      list = parse_input_shapes(kProfileOptions[k], uses[i]);
    }
  }
  return profiles;
}

std::vector<std::string> known_tactics(const std::vector<std::string>& names, const char* option,
                                       const engine::TacticSet& tactics) {
  for (const std::string& name : names)
    if (tactics.find(name.substr(0, name.find(':'))) == nullptr) {
      std::string all;
      for (const engine::TacticDef* t : tactics.all())
        all += (all.empty() ? "" : ", ") + std::string(t->name);
      log::critical(ErrorCode::kNotFound, "{}: there is no tactic '{}'. The tactics are: {}.", option, name,
                    all);
    }
  return names;
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
  parser.add_group("TensorRT Network Loading").options = {
      {.names = {"--trt-outputs"},
       .help = "Tensors to use as the engine's outputs, or '*' for every tensor.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .names_what = Names::kTensors},
      {.names = {"--trt-exclude-outputs"},
       .help = "Outputs of the engine to leave out.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .names_what = Names::kTensors},
      {.names = {"--tensor-dtypes", "--tensor-datatypes"},
       .help = "Types of the engine's inputs and outputs in the place of those that the model declares, as "
               "x:float16; a "
               "pattern means those with floating-point numbers.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME:TYPE"},
      {.names = {"--all-tensor-dtypes", "--all-tensor-datatypes"},
       .help = "One type for all inputs and outputs with floating-point numbers.",
       .metavar = "TYPE"},
      {.names = {"--trt-outputs-by-type"},
       .help = "The outputs of all layers of these types of TensorRT, as CONVOLUTION, beside those of "
               "--trt-outputs. "
               "Each node of the model counts as the layer that TensorRT's parser makes of it.",
       .arity = Arity::kAtLeastOne,
       .metavar = "LAYER_TYPE"},
      {.names = {"--trt-network-func-name"},
       .help = "Deprecated, name it behind the file: the function of a network script.",
       .metavar = "NAME"},
      {.names = {"--trt-config-script"},
       .help = "A Python script whose function (load_config, unless it is named) configures the builder with "
               "TensorRT's objects "
               "(docs/network-scripts.md).",
       .metavar = "FILE.py[:FUNCTION]"},
      {.names = {"--trt-network-postprocess-script", "--trt-npps"},
       .help = "Python scripts whose functions (postprocess, unless one is named) change the network with "
               "TensorRT's objects, one "
               "after the other.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FILE.py[:FUNCTION]"},
      {.names = {"--trt-config-postprocess-script", "--trt-cpps"},
       .help = "A Python script whose function (postprocess_config, unless it is named) changes the complete "
               "configuration of the "
               "builder with TensorRT's objects.",
       .metavar = "FILE.py[:FUNCTION]"},
      {.names = {"--trt-config-func-name"},
       .help = "Deprecated, name it behind the file: the function of --trt-config-script.",
       .metavar = "NAME"},
  };
  if (!runs) return;
  parser.add_group("TensorRT Engine").options = {
      {.names = {"--save-engine"},
       .help = "Save the engine's plan; it can be given as the model later.",
       .metavar = "FILE"},
      {.names = {"--optimization-profile"},
       .help = "The profile to run with, from 0 on.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
  };
}

std::vector<std::string> builder_option_names() {
  std::vector<std::string> names = {"--trt-outputs", "--trt-exclude-outputs", "--trt-config-script",
                                    "--trt-network-postprocess-script", "--trt-config-postprocess-script"};
  for (const Option& o : config_options())
    if (std::none_of(std::begin(kIdle), std::end(kIdle), [&](const Idle& i) { return o.names[0] == i.name; }))
      names.push_back(o.names[0]);
  return names;
}

EngineBuildOptions read_engine_building_options(const ParsedArgs& args, bool as_upstream,
                                                std::vector<InputShape> input_shapes,
                                                const engine::TacticSet& tactics) {
  for (const Idle& idle : kIdle)
    if (args.has(idle.name)) log::warning("{} has no effect: {}.", idle.name, idle.reason);
  EngineBuildOptions options;
  options.input_shapes = std::move(input_shapes);
  if (const auto script = args.text("--trt-config-script"))
    options.configure = script_config(script::parse_reference(
        *script, args.text("--trt-config-func-name").value_or(script::kConfigFunction)));
  for (const std::string& script :
       args.list("--trt-network-postprocess-script").value_or(std::vector<std::string>()))
    options.change_network.push_back(
        script_network_change(script::parse_reference(script, script::kNetworkPostprocessFunction)));
  if (const auto script = args.text("--trt-config-postprocess-script"))
    options.change_config =
        script_config_change(script::parse_reference(*script, script::kConfigPostprocessFunction));
  options.profiles = read_profiles(args);
  BuilderConfig& config = options.config;
  if (const auto level = args.integer("--builder-optimization-level")) {
    if (*level < 0 || *level > BuilderConfig::kMaxOptimizationLevel)
      log::critical(ErrorCode::kInvalidArgument, "--builder-optimization-level: {} is not between 0 and {}.",
                    *level, BuilderConfig::kMaxOptimizationLevel);
    config.optimization_level = static_cast<int>(*level);
  }
  config.fp16 = args.has("--fp16");
  config.bf16 = args.has("--bf16");
  config.int8 = args.has("--int8");
  read_layer_types(args, as_upstream, /*as_bench=*/false, config);
  apply_strong_types(args, "--strongly-typed", as_upstream, config);
  options.calibration = read_calibration(args);
  config.is_refittable = args.has("--refittable");
  config.strips_weights = args.has("--strip-plan");
  config.use_timing_cache_only = args.has("--error-on-timing-cache-miss");
  config.workspace_limit = workspace_limit(args);
  config.disabled_tactics = known_tactics(args.list("--disable-tactics").value_or(std::vector<std::string>()),
                                          "--disable-tactics", tactics);
  for (const std::string& pin : args.list("--pin-tactics").value_or(std::vector<std::string>())) {
    const size_t equal = pin.rfind('=');
    if (equal == std::string::npos)
      log::critical(ErrorCode::kInvalidArgument, "--pin-tactics: '{}' is not of the form NODE=TACTIC.", pin);
    known_tactics({pin.substr(equal + 1)}, "--pin-tactics", tactics);
    config.pinned_tactics[pin.substr(0, equal)] = pin.substr(equal + 1);
  }
  config.disabled_passes = args.list("--disable-passes").value_or(std::vector<std::string>());
  if (const auto edits = args.integer("--max-edits"))
    config.max_edits = require_at_least("--max-edits", *edits, 0);
  config.verify_passes = args.has("--verify-passes");
  options.explain = args.has("--explain");
  options.load_timing_cache = args.text("--load-timing-cache").value_or("");
  options.save_timing_cache = args.text("--save-timing-cache").value_or("");
  options.save_tactics = args.text("--save-tactics").value_or("");
  options.load_tactics = args.text("--load-tactics").value_or("");
  options.outputs = args.list("--trt-outputs");
  options.mark_all = means_all_tensors(options.outputs);
  if (options.mark_all) options.outputs.reset();
  options.exclude_outputs = args.list("--trt-exclude-outputs");
  options.io_types = read_io_types(args);
  options.output_layer_types = args.list("--trt-outputs-by-type").value_or(std::vector<std::string>());
  if (args.declares("--save-engine")) {
    options.save_engine = args.text("--save-engine").value_or("");
    if (const auto profile = args.integer("--optimization-profile"))
      options.profile = static_cast<size_t>(require_at_least("--optimization-profile", *profile, 0));
  }
  return options;
}

}  // namespace assay::cli
