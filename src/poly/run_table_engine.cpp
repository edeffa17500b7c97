// Rows on building and running the engine in TensorRT's role.
#include "poly/run_table.h"

namespace assay::poly {

using S = RunSettings;
using M = RunMember;
using enum RunPart;
using enum RunWords;

namespace {

constexpr auto profiles_member = [](S& s) -> M { return &s.engine.profiles; };
constexpr auto limit_member = [](S& s) -> M { return &s.engine.config.workspace_limit; };
constexpr auto types_member = [](S& s) -> M { return &s.engine.config.layer_types; };
constexpr auto tensor_types_member = [](S& s) -> M { return &s.engine.tensor_types; };
constexpr auto config_script_member = [](S& s) -> M { return &s.engine.config_script; };

RunRow flag(std::string_view member, RunMember (*at)(S&), const char* name, const char* help) {
  return {.part = kEngine,
          .member = member,
          .at = at,
          .option = {.names = {name}, .help = help, .arity = Arity::kNone}};
}

RunRow shapes_of_profile(const char* name, const char* which) {
  return {
      .part = kEngine,
      .member = "engine.profiles",
      .at = profiles_member,
      .option = {.names = {name},
                 .help = std::string(which) + " shapes of a profile, as in image:[1,3,224,224]; for a shape "
                                              "tensor its elements. Each further use begins another profile.",
                 .arity = Arity::kAtLeastOne,
                 .metavar = "NAME:SHAPE"},
      .words = kOwn};
}

std::vector<RunRow> precision_rows() {
  return {
      shapes_of_profile("--trt-min-shapes", "Least"),
      shapes_of_profile("--trt-opt-shapes", "Best"),
      shapes_of_profile("--trt-max-shapes", "Largest"),
      flag(
          "engine.config.fp16", [](S& s) -> M { return &s.engine.config.fp16; }, "--fp16",
          "Weights and other float32 numbers may be stored in float16 where that is faster, and faster "
          "algorithms may round more; arithmetic stays float32."),
      flag(
          "engine.config.bf16", [](S& s) -> M { return &s.engine.config.bf16; }, "--bf16",
          "The same with bfloat16, to which factors of products may be rounded, too."),
      flag(
          "engine.config.int8", [](S& s) -> M { return &s.engine.config.int8; }, "--int8",
          "Products with constant weights may be computed in 8-bit integers. Scales come from "
          "--calibration-cache, or are found by running the network on the data that the data loader's "
          "options "
          "describe. A network with QuantizeLinear and DequantizeLinear needs neither."),
      // It validates the others.
      {.option = {.names = {"--strongly-typed"},
                  .help = "All types are those of the network: nothing is computed in others.",
                  .arity = Arity::kNone}},
      {.part = kEngine,
       .member = "engine.calibration_cache",
       .at = [](S& s) -> M { return &s.engine.calibration_cache; },
       .option = {.names = {"--calibration-cache"},
                  .help = "Scales for --int8, in TensorRT's format: read if the file is there, else written.",
                  .metavar = "FILE"}},
      {.part = kEngine,
       .member = "engine.calibration_algorithm",
       .at = [](S& s) -> M { return &s.engine.calibration_algorithm; },
       .option = {.names = {"--calib-base-cls", "--calibration-base-class"},
                  .help = "How scales are found: entropy-2 (default; IInt8EntropyCalibrator2), entropy "
                          "(IInt8EntropyCalibrator), min-max (IInt8MinMaxCalibrator), percentile (by "
                          "--quantile; IInt8LegacyCalibrator), mean-squared-error.",
                  .metavar = "CLASS"},
       .words = kOwn},
      {.part = kEngine,
       .member = "engine.calibration_quantile",
       .at = [](S& s) -> M { return &s.engine.calibration_quantile; },
       .option = {.names = {"--quantile"},
                  .help = "For percentile: the part of a tensor's magnitudes that is not clipped; "
                          "default: 0.9999.",
                  .metavar = "NUM",
                  .kind = ValueKind::kNumber},
       .words = kOwn},
  };
}

std::vector<RunRow> building_rows() {
  return {
      flag(
          "engine.config.is_refittable", [](S& s) -> M { return &s.engine.config.is_refittable; },
          "--refittable", "Other weights can be given to the engine later."),
      flag(
          "engine.config.strips_weights", [](S& s) -> M { return &s.engine.config.strips_weights; },
          "--strip-plan", "Leave the weights out of the plan: a refit gives them."),
      {.part = kEngine,
       .member = "engine.load_timing_cache",
       .at = [](S& s) -> M { return &s.engine.load_timing_cache; },
       .option = {.names = {"--load-timing-cache"},
                  .help = "Times that were measured before. A missing file is not an error.",
                  .metavar = "FILE"}},
      {.part = kEngine,
       .member = "engine.save_timing_cache",
       .at = [](S& s) -> M { return &s.engine.save_timing_cache; },
       .option = {.names = {"--save-timing-cache"},
                  .help = "Add the times that were measured to this file.",
                  .metavar = "FILE"}},
      flag(
          "engine.config.use_timing_cache_only",
          [](S& s) -> M { return &s.engine.config.use_timing_cache_only; }, "--error-on-timing-cache-miss",
          "Measure nothing: a candidate whose time the cache does not have is an error."),
      {.part = kEngine,
       .member = "engine.save_tactics",
       .at = [](S& s) -> M { return &s.engine.save_tactics; },
       .option = {.names = {"--save-tactics", "--save-tactic-replay"},
                  .help = "Save which tactic each layer got.",
                  .metavar = "FILE",
                  .exclusive = "tactic replays"}},
      {.part = kEngine,
       .member = "engine.load_tactics",
       .at = [](S& s) -> M { return &s.engine.load_tactics; },
       .option = {.names = {"--load-tactics", "--load-tactic-replay"},
                  .help = "Give each layer the tactic that a saved replay has for it.",
                  .metavar = "FILE",
                  .exclusive = "tactic replays"}},
      {.part = kEngine,
       .member = "engine.config.workspace_limit",
       .at = limit_member,
       .option = {.names = {"--pool-limit", "--memory-pool-limit"},
                  .help =
                      "Limits of memory pools, as in workspace:1G: scratch memory of a layer. Other pools "
                      "have no meaning on a CPU.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "POOL:BYTES"},
       .words = kOwn},
      {.part = kEngine,
       .member = "engine.config.workspace_limit",
       .at = limit_member,
       .option = {.names = {"--workspace"},
                  .help = "The same as --pool-limit workspace:BYTES.",
                  .metavar = "BYTES"},
       .words = kOwn},
      {.part = kEngine,
       .member = "engine.config.optimization_level",
       .at = [](S& s) -> M { return &s.engine.config.optimization_level; },
       .option = {.names = {"--builder-optimization-level"},
                  .help =
                      "0: a model of cost chooses tactics, nothing is timed; 1 to 5: they are timed, ever "
                      "more thoroughly. Default: 3.",
                  .metavar = "NUM",
                  .kind = ValueKind::kInteger},
       .least = 0,
       .most = BuilderConfig::kMaxOptimizationLevel},
      {.part = kEngine,
       .member = "engine.config.disabled_tactics",
       .at = [](S& s) -> M { return &s.engine.config.disabled_tactics; },
       .option = {.names = {"--disable-tactics"},
                  .help = "Tactics to leave out, by name (gemv) or one of their ways (dnnl_conv:row).",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "TACTIC"}},
      {.part = kEngine,
       .member = "engine.config.pinned_tactics",
       .at = [](S& s) -> M { return &s.engine.config.pinned_tactics; },
       .option = {.names = {"--pin-tactics"},
                  .help = "Nodes of the model that must run on a tactic, as in conv1=dnnl_conv.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "NODE=TACTIC"}},
      {.part = kEngine,
       .member = "engine.config.disabled_passes",
       .at = [](S& s) -> M { return &s.engine.config.disabled_passes; },
       .option = {.names = {"--disable-passes"},
                  .help = "Optimising passes to leave out.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "PASS"}},
      {.part = kEngine,
       .member = "engine.config.max_edits",
       .at = [](S& s) -> M { return &s.engine.config.max_edits; },
       .option = {.names = {"--max-edits"},
                  .help = "Stop optimising after so many edits: the way to find the one that breaks a model.",
                  .metavar = "NUM",
                  .kind = ValueKind::kInteger},
       .least = 0},
      flag(
          "engine.config.verify_passes", [](S& s) -> M { return &s.engine.config.verify_passes; },
          "--verify-passes", "Check the graph after every pass."),
      flag(
          "engine.explain", [](S& s) -> M { return &s.engine.explain; }, "--explain",
          "Say for each region of the network which candidates there were, what they took, and why others "
          "were "
          "refused."),
  };
}

std::vector<RunRow> layer_type_rows() {
  return {
      {.part = kEngine,
       .member = "engine.config.precision_constraints",
       .at = [](S& s) -> M { return &s.engine.config.precision_constraints; },
       .option =
           {.names = {"--precision-constraints"},
            .help = "How far the types bind that are asked for single layers: obey (what cannot be followed "
                    "is an error), prefer (a warning), none. Default: obey; under upstream's names none.",
            .choices = {"prefer", "obey", "none"}},
       .words = kOwn},
      {.part = kEngine,
       .member = "engine.config.layer_types",
       .at = types_member,
       .option = {.names = {"--layer-precisions"},
                  .help = "What layers compute in, as in conv1:float32 or 'op:Softmax:float32' "
                          "(docs/reference/selectors.md): float32, float16, bfloat16, int8.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "LAYER:TYPE",
                  .names_what = Names::kNodes},
       .words = kOwn},
      {.part = kEngine,
       .member = "engine.config.layer_types",
       .at = types_member,
       .option = {.names = {"--layer-output-types"},
                  .help =
                      "What the outputs of layers are stored in; types for several outputs with a plus in "
                      "between.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "LAYER:TYPE",
                  .names_what = Names::kNodes},
       .words = kOwn},
      // Under upstream's name a selector that matches no layer is a warning.
      {.part = kEngine,
       .member = "engine.config.skips_unknown_layers",
       .at = [](S& s) -> M { return &s.engine.config.skips_unknown_layers; }},
      // Of networks that are written.
      {.part = kEngine,
       .member = "engine.config.symmetric_int8",
       .at = [](S& s) -> M { return &s.engine.config.symmetric_int8; }},
      {.part = kEngine,
       .member = "engine.config.float_nodes",
       .at = [](S& s) -> M { return &s.engine.config.float_nodes; },
       .option = {.names = {"--float-nodes"},
                  .help = "Nodes of the model that --int8 leaves as they are, by their names.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "NODE"}},
      {.part = kEngine,
       .member = "engine.config.is_lazy",
       .at = [](S& s) -> M { return &s.engine.config.is_lazy; }},
      {.part = kEngine,
       .member = "engine.config.optimize",
       .at = [](S& s) -> M { return &s.engine.config.optimize; }},
  };
}

RunGroup network_group() {
  return {
      .title = "TensorRT Network Loading",
      .description = "",
      .rows = {
          {.part = kEngine, .member = "engine.mark_all", .at = [](S& s) -> M { return &s.engine.mark_all; }},
          {.part = kEngine,
           .member = "engine.outputs",
           .at = [](S& s) -> M { return &s.engine.outputs; },
           .option = {.names = {"--trt-outputs"},
                      .help = "Tensors to use as the engine's outputs, or '*' for every tensor.",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "NAME",
                      .names_what = Names::kTensors},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.exclude_outputs",
           .at = [](S& s) -> M { return &s.engine.exclude_outputs; },
           .option = {.names = {"--trt-exclude-outputs"},
                      .help = "Outputs of the engine to leave out.",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "NAME",
                      .names_what = Names::kTensors}},
          {.part = kEngine,
           .member = "engine.tensor_types",
           .at = tensor_types_member,
           .option = {.names = {"--tensor-dtypes", "--tensor-datatypes"},
                      .help = "Types of the engine's inputs and outputs in place of those that the model "
                              "declares, as x:float16; a pattern means those with floating-point numbers.",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "NAME:TYPE"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.tensor_types",
           .at = tensor_types_member,
           .option = {.names = {"--all-tensor-dtypes", "--all-tensor-datatypes"},
                      .help = "One type for all inputs and outputs with floating-point numbers.",
                      .metavar = "TYPE"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.output_layer_types",
           .at = [](S& s) -> M { return &s.engine.output_layer_types; },
           .option =
               {.names = {"--trt-outputs-by-type"},
                .help =
                    "The outputs of all layers of these types of TensorRT, as CONVOLUTION, in addition to "
                    "those of --trt-outputs. Each node of the model counts as the layer that TensorRT's "
                    "parser makes of it.",
                .arity = Arity::kAtLeastOne,
                .metavar = "LAYER_TYPE"}},
          {.part = kModel,
           .member = "model.network_script",
           .at = [](S& s) -> M { return &s.model.network_script; },
           .option = {.names = {"--trt-network-func-name"},
                      .help = "Deprecated, name it behind the file: the function of a network script.",
                      .metavar = "NAME"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.config_script",
           .at = config_script_member,
           .option = {.names = {"--trt-config-script"},
                      .help =
                          "A Python script whose function (load_config, unless it is named) configures the "
                          "builder with TensorRT's objects (docs/guide/network-scripts.md).",
                      .metavar = "FILE.py[:FUNCTION]"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.network_postprocess_scripts",
           .at = [](S& s) -> M { return &s.engine.network_postprocess_scripts; },
           .option = {.names = {"--trt-network-postprocess-script", "--trt-npps"},
                      .help = "Python scripts whose functions (postprocess, unless one is named) change the "
                              "network with TensorRT's objects, one after the other.",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "FILE.py[:FUNCTION]"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.config_postprocess_script",
           .at = [](S& s) -> M { return &s.engine.config_postprocess_script; },
           .option =
               {.names = {"--trt-config-postprocess-script", "--trt-cpps"},
                .help = "A Python script whose function (postprocess_config, unless it is named) changes the "
                        "complete configuration of the builder with TensorRT's objects.",
                .metavar = "FILE.py[:FUNCTION]"},
           .words = kOwn},
          {.part = kEngine,
           .member = "engine.config_script",
           .at = config_script_member,
           .option = {.names = {"--trt-config-func-name"},
                      .help = "Deprecated, name it behind the file: the function of --trt-config-script.",
                      .metavar = "NAME"},
           .words = kOwn},
      }};
}

}  // namespace

std::vector<RunGroup> engine_rows() {
  RunGroup building{.title = "TensorRT Builder Configuration",
                    .description = "How the engine in TensorRT's role is built.",
                    .rows = precision_rows()};
  for (auto part : {building_rows, layer_type_rows})
    for (RunRow& row : part()) building.rows.push_back(std::move(row));
  return {
      std::move(building),
      network_group(),
      {.title = "TensorRT Engine",
       .description = "",
       .rows =
           {
               {.part = kEngine,
                .member = "engine.save_engine",
                .at = [](S& s) -> M { return &s.engine.save_engine; },
                .option = {.names = {"--save-engine"},
                           .help = "Save the engine's plan; it can be given as the model later.",
                           .metavar = "FILE"}},
               {.part = kEngine,
                .member = "engine.profile",
                .at = [](S& s) -> M { return &s.engine.profile; },
                .option = {.names = {"--optimization-profile"},
                           .help = "The profile to run with, from 0 on.",
                           .metavar = "NUM",
                           .kind = ValueKind::kInteger},
                .least = 0},
           }},
  };
}

}  // namespace assay::poly
