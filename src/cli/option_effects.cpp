#include "cli/option_effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.h"
#include "cli/options/engine_building.h"
#include "debug/accuracy_goal.h"

namespace assay::cli {
namespace {

std::vector<std::string> as_strings(std::initializer_list<const char*> options) {
  return {options.begin(), options.end()};
}

bool has_any(const ParsedArgs& args, std::initializer_list<const char*> options) {
  return std::any_of(options.begin(), options.end(),
                     [&](const char* o) { return args.declares(o) && args.has(o); });
}

constexpr std::initializer_list<const char*> kRandomData = {
    "--seed",      "--val-range", "--int-min",    "--int-max",
    "--float-min", "--float-max", "--iterations", "--data-loader-backend-module"};
constexpr std::initializer_list<const char*> kModelChanges = {
    "--onnx-outputs",      "--onnx-outputs-by-type", "--onnx-exclude-outputs", "--fp-to-fp16",
    "--external-data-dir", "--ignore-external-data", "--shape-inference",      "--save-onnx"};
constexpr std::initializer_list<const char*> kComparing = {"--compare",
                                                           "--rtol",
                                                           "--atol",
                                                           "--check-error-stat",
                                                           "--error-quantile",
                                                           "--infinities-compare-equal",
                                                           "--index-tolerance",
                                                           "--l2-threshold",
                                                           "--cosine-similarity-threshold",
                                                           "--psnr-threshold",
                                                           "--snr-threshold",
                                                           "--lpips-threshold",
                                                           "--compare-func-script",
                                                           "--no-shape-check",
                                                           "--check-average",
                                                           "--save-accuracy-results",
                                                           "--save-heatmaps",
                                                           "--save-error-metrics-plot"};

/// The opset applies to a conversion from TensorFlow.
void check_opset(OptionEffects& effects, const ParsedArgs& args, bool is_foreign) {
  if (is_foreign && args.has("--opset"))
    log::critical(
        ErrorCode::kUnsupported,
        "--opset is not available yet: the runner for TensorFlow converts nothing to ONNX. Leave it out.");
  const std::string opset = args.text("--opset").value_or("N");
  effects.none({"--opset"},
               "it is the opset of a conversion from TensorFlow, and a model in ONNX keeps its own",
               fmt::format("To convert the model: assay surgeon convert-opset {} --to {} -o OUT.onnx.",
                           args.text("model_file").value_or("MODEL"), opset));
}

/// Options for data and engines of `run` and `convert`.
void check_common(OptionEffects& effects, const ParsedArgs& args, bool is_script) {
  if (has_any(args, {"--load-inputs", "--data-loader-script"}))
    effects.warn_unless_upstream(kRandomData, "the inputs are loaded, none is drawn at random");
  if (args.has("--data-loader-script"))
    effects.none({"--load-inputs"}, "the inputs come from --data-loader-script", "Give one of the two.");
  else
    effects.none({"--data-loader-func-name"}, "there is no --data-loader-script",
                 "Name the script: --data-loader-script FILE:FUNCTION.");
  if (!args.has("--trt-config-script"))
    effects.none({"--trt-config-func-name"}, "there is no --trt-config-script",
                 "Name the script: --trt-config-script FILE.py:FUNCTION.");
  if (!is_script)
    effects.none({"--trt-network-func-name"}, "the model is not a network script", "Leave it out.");
}

void check_external_data(OptionEffects& effects, const ParsedArgs& args, std::string_view path_option,
                         bool saves_model) {
  if (!saves_model)
    return effects.none(
        {"--save-external-data", "--external-data-size-threshold", "--no-save-all-tensors-to-one-file"},
        "no ONNX model is saved", fmt::format("Name where to save one with {}.", path_option));
  if (!args.has("--save-external-data"))
    effects.warn_unless_upstream({"--external-data-size-threshold", "--no-save-all-tensors-to-one-file"},
                                 "no weights are saved outside of the model");
}

/// Options of the builder that apply to a quantized ONNX model, too.
constexpr std::string_view kQuantizing[] = {
    "--int8",        "--calibration-cache",     "--calib-base-cls",   "--quantile",
    "--float-nodes", "--precision-constraints", "--layer-precisions", "--trt-min-shapes",
    "--explain",     "--trt-opt-shapes",        "--trt-max-shapes"};

void check_int8(OptionEffects& effects, const ParsedArgs& args) {
  if (!args.has("--int8")) {
    effects.warn_unless_upstream({"--calibration-cache", "--calib-base-cls"},
                                 "nothing is calibrated without --int8");
    effects.none({"--quantile"}, "nothing is calibrated without --int8",
                 "Add --int8 --calib-base-cls percentile.");
    if (!args.declares("--int4") || !args.has("--int4"))
      effects.none({"--float-nodes"}, "nothing is computed in 8-bit integers without --int8", "Add --int8.");
  } else if (const auto by = args.text("--calib-base-cls");
             by != "IInt8LegacyCalibrator" && by != "percentile") {
    effects.none({"--quantile"}, "only percentile (IInt8LegacyCalibrator) goes by it",
                 "Add --calib-base-cls percentile.");
  }
}

/// --workspace and the pool `workspace` are equivalent, and the pool takes precedence.
void check_workspace(OptionEffects& effects, const ParsedArgs& args) {
  if (!args.has("--workspace") || !args.has("--pool-limit")) return;
  const std::vector<std::string> pools = args.list("--pool-limit").value();
  for (const std::string& word : pools)
    if (word.starts_with("workspace:"))
      effects.none({"--workspace"}, fmt::format("--pool-limit {} says it", word), "Give one of the two.");
}

void check_runner_options(OptionEffects& effects, const ParsedArgs& args) {
  const auto needs = [&](std::initializer_list<const char*> options, const char* runner) {
    if (!args.has(runner))
      effects.warn(options, fmt::format("it is about the runner {}, which is not given", runner));
  };
  needs({"--strict-trt"}, "--trt");
  needs({"--runner-options"}, "--runner-script");
  needs({"--tf-outputs", "--save-pb", "--ckpt"}, "--tf");
  needs({"--pytorch-inputs"}, "--pytorch");
  needs({"--ref-precision"}, "--ref");
  if (args.declares("--onnxrt")) needs({"--providers", "--graph-optimization-level"}, "--onnxrt");
  // ONNX Runtime evaluates operators unknown to the reference for it, too.
  if (!has_any(args, {"--onnxrt", "--ref", "--arbiter", "--save-verdict"}))
    needs({"--custom-ops"}, "--onnxrt");
}

void check_builder_options(OptionEffects& effects, const ParsedArgs& args, const RunSituation& s) {
  if (s.is_plan) {
    effects.none(builder_option_names(), "the model is a plan, whose engine is built already",
                 "Leave it out, or give the ONNX model.");
    if (!has_any(args, {"--trt", "--engine"}))
      effects.none({"--save-engine", "--optimization-profile"}, "no runner of plans is given",
                   "Add --engine or --trt.");
    return;
  }
  if (args.has("--trt")) {
    check_int8(effects, args);
    return check_workspace(effects, args);
  }
  std::vector<std::string> all = builder_option_names();
  all.insert(all.end(), {"--save-engine", "--optimization-profile"});
  effects.none(all, "it is about the engine that --trt builds, and --trt is not among the runners",
               args.declares("--engine") && args.has("--engine")
                   ? "--engine builds with its defaults: say --trt in its place, or leave it out."
                   : "Add --trt, or leave it out.");
}

}  // namespace

bool refuses_idle_options(const ParsedArgs& args) {
  return !args.is_upstream() && !(args.declares("--gen") && args.has("--gen"));
}

void OptionEffects::none(std::span<const std::string> options, std::string_view why,
                         std::string_view remedy) {
  add({options.begin(), options.end()}, why, remedy, Under::kError);
}
void OptionEffects::none(std::initializer_list<const char*> options, std::string_view why,
                         std::string_view remedy) {
  add(as_strings(options), why, remedy, Under::kError);
}
void OptionEffects::warn_unless_upstream(std::initializer_list<const char*> options, std::string_view why) {
  add(as_strings(options), why, {}, args_.is_upstream() ? Under::kSilence : Under::kWarning);
}
void OptionEffects::warn(std::initializer_list<const char*> options, std::string_view why) {
  add(as_strings(options), why, {}, Under::kWarning);
}

void OptionEffects::add(const std::vector<std::string>& options, std::string_view why,
                        std::string_view remedy, Under rule) {
  std::vector<std::string> given;
  for (const std::string& option : options)
    if (args_.declares(option) && args_.has(option) &&
        std::find(without_effect_.begin(), without_effect_.end(), option) == without_effect_.end())
      given.push_back(option);
  if (given.empty()) return;
  std::vector<std::string> labels;
  for (const std::string& option : given)
    for (const Option* o : args_.given())
      if (o->names.front() == option) {
        labels.push_back(o->label());
        break;
      }
  without_effect_.insert(without_effect_.end(), given.begin(), given.end());
  const std::string sentence =
      fmt::format("{} {} no effect: {}.", fmt::join(labels, ", "), given.size() == 1 ? "has" : "have", why);
  if (refuses_idle_options(args_) && rule == Under::kError)
    log::critical(ErrorCode::kInvalidArgument, "{} {}", sentence, remedy);
  if (rule != Under::kSilence) log::warning("{}", sentence);
}

void OptionEffects::problem(std::string_view sentence, std::string_view remedy) {
  if (refuses_idle_options(args_)) log::critical(ErrorCode::kInvalidArgument, "{} {}", sentence, remedy);
  log::warning("{}", sentence);
}

std::vector<std::string> check_run_effects(const ParsedArgs& args, const RunSituation& s) {
  OptionEffects effects(args);
  const bool loads_outputs = args.has("--load-outputs");
  if (s.runners == 0 && !loads_outputs)
    effects.problem(
        "No runner is given, so nothing is run.",
        "Name one or more, as in --engine or --onnxrt --ref; `assay convert` saves a changed model.");
  if (s.runners == 1 && !loads_outputs)
    effects.warn_unless_upstream(kComparing,
                                 "there is one runner and no --load-outputs, so nothing is compared");
  check_opset(effects, args, s.is_foreign);
  check_runner_options(effects, args);
  check_builder_options(effects, args, s);
  check_common(effects, args, s.is_script);
  check_external_data(effects, args, "--save-onnx", args.has("--save-onnx"));
  if (s.is_plan || s.is_foreign)
    effects.none(kModelChanges, s.is_plan ? "the model is a plan" : "the model is not in ONNX",
                 "Give the ONNX model, or leave it out.");
  if (!loads_outputs) effects.warn({"--partial"}, "there is no --load-outputs");
  if (!has_any(args, {"--arbiter", "--arbiter-samples", "--save-verdict", "--ref"}))
    effects.warn({"--no-trace", "--no-excuse"}, "nothing is judged");
  if (const auto n = args.integer("--iterations"); n && *n < 1)
    effects.problem(
        fmt::format("--iterations: {} is too small; it must be at least 1, or nothing is run.", *n),
        "Give the number of sets of inputs to run.");
  return effects.without_effect();
}

namespace {

void check_quantizing(OptionEffects& effects, const ParsedArgs& args, std::string_view target) {
  const bool int4 = args.has("--int4"), int8 = args.has("--int8");
  if (int4 && int8)
    log::critical(
        ErrorCode::kInvalidArgument,
        "--int4 and --int8 exclude each other: products have weights of 4 bits and inputs in floating "
        "point, or both in 8 bits.");
  if (int8 && target == "trt")
    effects.none({"--symmetric"}, "a plan has a form of its own", "Leave it out, or write an ONNX model.");
  if (!int8)
    effects.none({"--accuracy-report", "--accuracy-target", "--symmetric"},
                 "nothing is calibrated without --int8", "Add --int8.");
  else if (const auto accuracy = args.text("--accuracy-target"))
    debug::AccuracyGoal::parse(*accuracy);
  if (!int4)
    effects.none({"--weight-format", "--weight-block", "--round-rows"},
                 "no weights are stored in 4 bits without --int4", "Add --int4.");
  else if (target == "onnx-like-trt-network")
    effects.none({"--int4"}, "the network of the engine's passes is written", "Write a model or a plan.");
  else if (target == "trt")
    effects.none({"--weight-format"}, "a plan has a form of its own",
                 "Leave it out, or write an ONNX model.");
  else if (args.text("--weight-format") != "matmul-nbits")
    effects.none({"--round-rows"}, "a DequantizeLinear says nothing about what is multiplied by its weights",
                 "Add --weight-format matmul-nbits.");
}

}  // namespace

std::vector<std::string> check_convert_effects(const ParsedArgs& args, std::string_view target,
                                               bool is_script) {
  OptionEffects effects(args);
  const bool builds = target == "trt",
             is_quantized = target == "onnx" && args.has("--int8") && !args.is_upstream();
  check_opset(effects, args, /*is_foreign=*/false);
  check_quantizing(effects, args, target);
  if (!builds) {
    std::vector<std::string> all = builder_option_names();
    if (is_quantized || args.has("--int4"))
      std::erase_if(all, [&](const std::string& name) {
        return is_quantized
                   ? std::find(std::begin(kQuantizing), std::end(kQuantizing), name) != std::end(kQuantizing)
                   : name == "--float-nodes";
      });
    if (!is_quantized) all.insert(all.end(), {"--threads", "--input-shapes"});
    effects.none(all, "no engine is built, an ONNX model is written",
                 args.has("--fp16") ? "--fp-to-fp16 converts the model itself to float16."
                                    : "Leave it out, or write a plan.");
  }
  if (builds || is_quantized) check_int8(effects, args);
  if (builds) check_workspace(effects, args);
  if (!args.has("--int8") || !(builds || is_quantized)) {
    const char* const why = "a conversion without calibration needs no data";
    effects.warn(kRandomData, why);
    effects.warn({"--load-inputs", "--data-loader-script", "--data-loader-func-name"}, why);
  }
  check_common(effects, args, is_script);
  if (target == "onnx")
    effects.none({"--save-onnx"}, "-o says where the model is saved", "Give one of the two.");
  check_external_data(effects, args, "--save-onnx", !builds || args.has("--save-onnx"));
  return effects.without_effect();
}

std::vector<std::string> check_bench_effects(const ParsedArgs& args, const bench::Options& o) {
  const std::initializer_list<const char*> kBuilding = {"--min-shapes",
                                                        "--opt-shapes",
                                                        "--max-shapes",
                                                        "--profile",
                                                        "--builder-optimization-level",
                                                        "--timing-cache",
                                                        "--error-on-timing-cache-miss",
                                                        "--workspace",
                                                        "--mem-pool-size",
                                                        "--fp16",
                                                        "--bf16",
                                                        "--int8",
                                                        "--calib",
                                                        "--best",
                                                        "--refit",
                                                        "--strip-weights",
                                                        "--explain"};
  const std::initializer_list<const char*> kRunning = {
      "--shapes",       "--use-profile",    "--load-inputs",     "--warm-up",       "--duration",
      "--iterations",   "--streams",        "--record",          "--idle-time",     "--sleep-time",
      "--avg-runs",     "--percentile",     "--dump-profile",    "--dump-roofline", "--dump-output",
      "--export-times", "--export-profile", "--export-timeline", "--export-output"};
  const std::initializer_list<const char*> kAboutEngines = {"--dump-refit", "--dump-optimization-profile",
                                                            "--record"};
  OptionEffects effects(args);
  const bool has_engine = std::any_of(o.backends.begin(), o.backends.end(), [](const std::string& name) {
    return name == "engine" || name.starts_with("engine:");
  });
  if (!o.plan.empty())
    effects.none(kBuilding, fmt::format("the engine of {} is built already", o.plan),
                 "Leave it out, or give the ONNX model.");
  if (!o.plan.empty() && !o.refits)
    effects.none({"--save-engine"},
                 fmt::format("the engine is loaded from {} and not built, so nothing is saved", o.plan),
                 "Leave it out; with --onnx and --refit-from-onnx the refitted engine is saved.");
  if (!o.must_refit()) effects.none({"--time-refit"}, "nothing is refitted", "Add --refit-from-onnx.");
  if (o.plan.empty() && !has_engine)
    effects.none(kBuilding, "no engine is among the backends", "Leave it out, or add engine to --backends.");
  if (!has_engine)
    effects.none(kAboutEngines, "no engine is among the backends",
                 "Leave it out, or add engine to --backends.");
  if (o.skips_inference) {
    // Shapes of a run define a profile, too.
    for (const char* option : kRunning)
      if (!(std::string_view(option) == "--shapes" && o.plan.empty()) &&
          !(std::string_view(option) == "--load-inputs" && o.plan.empty()))
        effects.none({option}, "nothing is run with --skip-inference", "Leave one of the two out.");
  }
  if (!o.build.int8)
    effects.none({"--calib"}, "nothing is computed in 8-bit integers without --int8", "Add --int8.");
  if (!args.has("--dump-layer-info") && !args.has("--export-layer-info"))
    effects.warn_unless_upstream({"--profiling-verbosity"}, "no layers are shown");
  return effects.without_effect();
}

}  // namespace assay::cli
