// Tests of the interpretation of the options of `run`.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/log.h"
#include "cli/options/comparator.h"
#include "cli/options/compare_functions.h"
#include "cli/options/data_loader.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/run_settings.h"
#include "compare/indices.h"
#include "compare/simple.h"

namespace assay::cli::cmd_run_test {
namespace {

using Words = std::vector<std::string>;

ArgParser run_parser() {
  ArgParser parser("assay run", "");
  command_run::def.add_options(parser, Registries(), command_run::def);
  return parser;
}

ParsedArgs parse(const Words& words) { return run_parser().parse(words); }

poly::RunSettings read_comparator(const Words& words) {
  poly::RunSettings settings;
  read_comparison_settings(parse(words), {}, extension::Registries(), settings);
  return settings;
}

/// Every option of upstream's `run` (version 0.49), as its own parser lists them, with its arity: 0 for a
/// flag, 1 for a value, ? + * as in argparse.
const std::map<std::string, char> kUpstream = {{"-v", '0'},
                                               {"--verbose", '0'},
                                               {"-q", '0'},
                                               {"--quiet", '0'},
                                               {"--verbosity", '+'},
                                               {"--silent", '0'},
                                               {"--log-format", '+'},
                                               {"--log-file", '1'},
                                               {"--tf", '0'},
                                               {"--onnxrt", '0'},
                                               {"--pluginref", '0'},
                                               {"--trt", '0'},
                                               {"--model-type", '1'},
                                               {"--input-shapes", '+'},
                                               {"--inputs", '+'},
                                               {"--tftrt", '0'},
                                               {"--use-tftrt", '0'},
                                               {"--minimum-segment-size", '1'},
                                               {"--dynamic-op", '0'},
                                               {"--ckpt", '1'},
                                               {"--tf-outputs", '+'},
                                               {"--save-pb", '1'},
                                               {"--save-tensorboard", '1'},
                                               {"--freeze-graph", '0'},
                                               {"--gpu-memory-fraction", '1'},
                                               {"--allow-growth", '0'},
                                               {"--xla", '0'},
                                               {"--save-timeline", '1'},
                                               {"--opset", '1'},
                                               {"--save-onnx", '1'},
                                               {"--save-external-data", '?'},
                                               {"--external-data-path", '?'},
                                               {"--external-data-size-threshold", '1'},
                                               {"--no-save-all-tensors-to-one-file", '0'},
                                               {"--shape-inference", '0'},
                                               {"--do-shape-inference", '0'},
                                               {"--no-onnxruntime-shape-inference", '0'},
                                               {"--external-data-dir", '1'},
                                               {"--load-external-data", '1'},
                                               {"--ext", '1'},
                                               {"--ignore-external-data", '0'},
                                               {"--onnx-outputs", '+'},
                                               {"--onnx-exclude-outputs", '+'},
                                               {"--fp-to-fp16", '0'},
                                               {"--providers", '+'},
                                               {"--execution-providers", '+'},
                                               {"--trt-min-shapes", '+'},
                                               {"--trt-opt-shapes", '+'},
                                               {"--trt-max-shapes", '+'},
                                               {"--tf32", '0'},
                                               {"--fp16", '0'},
                                               {"--bf16", '0'},
                                               {"--fp8", '0'},
                                               {"--int8", '0'},
                                               {"--precision-constraints", '1'},
                                               {"--sparse-weights", '0'},
                                               {"--version-compatible", '0'},
                                               {"--exclude-lean-runtime", '0'},
                                               {"--calibration-cache", '1'},
                                               {"--calib-base-cls", '1'},
                                               {"--calibration-base-class", '1'},
                                               {"--quantile", '1'},
                                               {"--regression-cutoff", '1'},
                                               {"--load-timing-cache", '1'},
                                               {"--error-on-timing-cache-miss", '0'},
                                               {"--disable-compilation-cache", '0'},
                                               {"--save-tactics", '1'},
                                               {"--save-tactic-replay", '1'},
                                               {"--load-tactics", '1'},
                                               {"--load-tactic-replay", '1'},
                                               {"--tactic-sources", '*'},
                                               {"--trt-config-script", '1'},
                                               {"--trt-config-func-name", '1'},
                                               {"--trt-config-postprocess-script", '1'},
                                               {"--trt-cpps", '1'},
                                               {"--trt-safety-restricted", '0'},
                                               {"--refittable", '0'},
                                               {"--strip-plan", '0'},
                                               {"--use-dla", '0'},
                                               {"--allow-gpu-fallback", '0'},
                                               {"--pool-limit", '+'},
                                               {"--memory-pool-limit", '+'},
                                               {"--preview-features", '*'},
                                               {"--builder-optimization-level", '1'},
                                               {"--hardware-compatibility-level", '1'},
                                               {"--max-aux-streams", '1'},
                                               {"--quantization-flags", '*'},
                                               {"--profiling-verbosity", '1'},
                                               {"--weight-streaming", '0'},
                                               {"--runtime-platform", '1'},
                                               {"--tiling-optimization-level", '1'},
                                               {"--plugins", '+'},
                                               {"--onnx-flags", '+'},
                                               {"--plugin-instancenorm", '0'},
                                               {"--trt-outputs", '+'},
                                               {"--trt-exclude-outputs", '+'},
                                               {"--layer-precisions", '+'},
                                               {"--tensor-dtypes", '+'},
                                               {"--tensor-datatypes", '+'},
                                               {"--trt-network-func-name", '1'},
                                               {"--trt-network-postprocess-script", '+'},
                                               {"--trt-npps", '+'},
                                               {"--strongly-typed", '0'},
                                               {"--mark-debug", '+'},
                                               {"--mark-unfused-tensors-as-debug-tensors", '0'},
                                               {"--save-engine", '1'},
                                               {"--save-timing-cache", '1'},
                                               {"--load-runtime", '1'},
                                               {"--optimization-profile", '1'},
                                               {"--allocation-strategy", '1'},
                                               {"--weight-streaming-budget", '1'},
                                               {"--seed", '1'},
                                               {"--val-range", '+'},
                                               {"--int-min", '1'},
                                               {"--int-max", '1'},
                                               {"--float-min", '1'},
                                               {"--float-max", '1'},
                                               {"--iterations", '1'},
                                               {"--iters", '1'},
                                               {"--data-loader-backend-module", '1'},
                                               {"--load-inputs", '+'},
                                               {"--load-input-data", '+'},
                                               {"--data-loader-script", '1'},
                                               {"--data-loader-func-name", '1'},
                                               {"--warm-up", '1'},
                                               {"--use-subprocess", '0'},
                                               {"--save-inputs", '1'},
                                               {"--save-input-data", '1'},
                                               {"--save-outputs", '1'},
                                               {"--save-results", '1'},
                                               {"--postprocess", '+'},
                                               {"--postprocess-func", '+'},
                                               {"--validate", '0'},
                                               {"--fail-fast", '0'},
                                               {"--compare", '+'},
                                               {"--compare-func", '+'},
                                               {"--compare-func-script", '1'},
                                               {"--load-outputs", '+'},
                                               {"--load-results", '+'},
                                               {"--no-shape-check", '0'},
                                               {"--rtol", '+'},
                                               {"--rel-tol", '+'},
                                               {"--atol", '+'},
                                               {"--abs-tol", '+'},
                                               {"--check-error-stat", '+'},
                                               {"--infinities-compare-equal", '0'},
                                               {"--save-heatmaps", '1'},
                                               {"--show-heatmaps", '0'},
                                               {"--save-error-metrics-plot", '1'},
                                               {"--show-error-metrics-plot", '0'},
                                               {"--error-quantile", '+'},
                                               {"--index-tolerance", '+'},
                                               {"--gen", '1'},
                                               {"--gen-script", '1'}};

/// Enough words for the option, of a kind it takes.
Words sample(const std::string& name, char arity) {
  static const std::map<std::string, std::string> kSpecial = {{"--log-format", "no-colors"},
                                                              {"--model-type", "onnx"},
                                                              {"--data-loader-backend-module", "numpy"},
                                                              {"--compare", "simple"},
                                                              {"--compare-func", "simple"},
                                                              {"--precision-constraints", "obey"},
                                                              {"--layer-precisions", "a:fp32"}};
  const auto it = kSpecial.find(name);
  if (arity == '0' || arity == '*') return {name};
  return {name, it == kSpecial.end() ? "1" : it->second};
}

TEST(RunOptions, EveryUpstreamOptionIsKnownWithItsArity) {
  for (const auto& [name, arity] : kUpstream) {
    const ParsedArgs one = parse(sample(name, arity));
    ASSERT_EQ(one.given().size(), 1U) << name;
    EXPECT_TRUE(one.unrecognized().empty()) << name;
    Words two = sample(name, arity);
    two.emplace_back("more");
    const bool takes_many = arity == '+' || arity == '*';
    if (name == "--log-format" || name == "--layer-precisions" || name.starts_with("--compare"))
      continue;  // their words are checked
    EXPECT_EQ(parse(two).text("model_file"), takes_many ? std::nullopt : std::optional<std::string>("more"))
        << name;
    if (arity == '1' || arity == '+') {
      EXPECT_THROW(parse({name}), UsageError) << name;
    }
  }
}

TEST(RunOptions, RefusedOnesHaveAReason) {
  std::set<std::string> refused;
  for (const auto& [name, arity] : kUpstream) {
    const std::string refusal = parse(sample(name, arity)).given().front()->refusal;
    if (refusal.empty()) continue;
    refused.insert(name);
    EXPECT_EQ(refusal.back(), '.') << name;
  }
  for (const char* name : {"--tftrt", "--pluginref", "--plugins"})
    EXPECT_TRUE(refused.contains(name)) << name;
  for (const char* name : {"--onnxrt", "--trt", "--gen-script", "--fp-to-fp16", "--providers", "--rtol",
                           "--use-subprocess", "--iters", "--int8", "--calibration-cache", "--quantile"})
    EXPECT_FALSE(refused.contains(name)) << name;
}

TEST(RunOptions, Model) {
  const log::Capture capture;
  const ModelOptions options = read_model_options(parse({"nowhere.onnx", "--inputs", "x:[1,2]"}));
  EXPECT_EQ(options.path, "nowhere.onnx");
  EXPECT_EQ(options.input_shapes.size(), 1U);
  EXPECT_EQ(capture.out(), "[W] Model path does not exist: nowhere.onnx\n");
  EXPECT_EQ(read_model_options(parse({"nowhere.onnx:ignored"})).path, "nowhere.onnx");
  EXPECT_EQ(read_model_options(parse({})).path, "");
  EXPECT_EQ(read_model_options(parse({"nowhere.bin", "--model-type", "onnx"})).path, "nowhere.bin");
  EXPECT_THROW(read_model_options(parse({"nowhere.bin"})), log::LoggedError);
  EXPECT_THROW(read_model_options(parse({"nowhere.engine"})), log::LoggedError);
  EXPECT_THROW(read_model_options(parse({"/"})), log::LoggedError);
}

TEST(RunOptions, ModelLoader) {
  const auto read = [](const Words& words) {
    return read_model_loader_options(parse(words), {.path = "m.onnx"}, nullptr);
  };
  EXPECT_TRUE(read({"--onnx-outputs", "mark", "all"}).mark_all);
  EXPECT_EQ(read({"--onnx-outputs", "mark"}).outputs, (Words{"mark"}));
  EXPECT_EQ(read({"--onnx-outputs", "mark", "all", "y"}).outputs, (Words{"mark", "all", "y"}));
  EXPECT_EQ(read({"--save-external-data"}).save.external_data_path, "");
  EXPECT_EQ(read({"--save-external-data", "w", "--external-data-path", "v"}).save.external_data_path, "w");
  EXPECT_EQ(read({}).save.external_data_path, std::nullopt);
  EXPECT_EQ(read({"--external-data-size-threshold", "1K"}).save.external_data_threshold, 1024);
  EXPECT_EQ(read({"--ext", "d"}).import.external_data_dir, "d");
}

TEST(RunOptions, Data) {
  const log::Capture capture;
  const DataOptions options = read_data_options(
      parse({"--seed", "3", "--iters", "2", "--val-range", "[0,2]", "x:[1,5]", "--int-min", "4"}), {});
  EXPECT_EQ(options.random.seed, 3);
  EXPECT_EQ(options.random.iterations, 2);
  EXPECT_EQ(options.random.ranges.size(), 2U);
  EXPECT_EQ(options.random.integer_range->low->repr(), "4");
  EXPECT_FALSE(options.random.integer_range->high.has_value());
  EXPECT_FALSE(options.random.float_range.has_value());
  EXPECT_EQ(capture.out(),
            "[W] --int-min/--int-max and --float-min/--float-max is deprecated and will be removed in "
            "Polygraphy 0.50.0. "
            "Use --val-range, which allows you to specify per-input data ranges, instead.\n");
}

TEST(RunOptions, LoadedDataMakeOthersPointless) {
  const log::Capture capture;
  read_data_options(parse({"--load-inputs", "a.json", "--seed", "3"}), {});
  EXPECT_EQ(capture.out(),
            "[W] Argument: '--seed' will be ignored since a custom data loader was provided.\n"
            "    This argument is only valid when using the default data loader.\n");
}

TEST(RunOptions, Postprocessing) {
  const auto top_k = [](const char* text) {
    const poly::RunSettings settings = read_comparator({"--postprocess", text});
    const auto& postprocess = dynamic_cast<const TopKPostprocess&>(*settings.postprocess->function());
    return postprocess.top_k().get("y", TopK{.k = -99});
  };
  EXPECT_EQ(top_k("top-5").k, 5);
  EXPECT_EQ(top_k("top-5").axis, -1);
  EXPECT_EQ(top_k("top-3,axis=-2").axis, -2);
  EXPECT_EQ(top_k("y:top-2,1").axis, 1);
  EXPECT_EQ(top_k("top--5").k, 5) << "upstream drops any of the characters of `top-`";
  EXPECT_EQ(top_k("z:top-2").k, -99);
  for (const char* bad : {"foo", "y:max", "top-", "top-x", "top-5,axis=", "top-5,axis=x"}) {
    const log::Capture capture;
    EXPECT_THROW(top_k(bad), log::LoggedError) << bad;
  }
}

TEST(RunOptions, ComparisonFunctions) {
  OutputNames outputs({});
  const log::Capture capture;
  const auto read = [&](const Words& words) {
    std::vector<CompareFunction> functions;
    ParsedArgs args = parse(words);
    args.set_upstream(true);
    for (const auto& f : read_comparisons(args, outputs).functions)
      functions.push_back(f.function()->function());
    return functions;
  };
  using F = CompareFunction;
  EXPECT_EQ(read({"--rtol", "1"}), (std::vector<F>{F::kSimple}));
  EXPECT_EQ(read({"--compare", "quality_metrics", "l2", "psnr", "distance_metrics"}),
            (std::vector<F>{F::kPsnr, F::kSnr, F::kL2, F::kCosineSimilarity}))
      << "in their order, each once";
  EXPECT_EQ(capture.out(), "");
  EXPECT_EQ(read({"--compare", "indices", "--rel-tol", "1", "--snr-tolerance", "y:3"}),
            (std::vector<F>{F::kIndices}));
  read({"--index-tolerance", "1"});
  EXPECT_EQ(
      capture.out(),
      "[W] Option: --rtol/--rel-tol is only valid for comparison function(s): ['simple']. The selected "
      "comparison "
      "functions are: ['indices'], so this option will be ignored.\n"
      "[W] Option: --snr-threshold/--snr-tolerance is only valid for comparison function(s): ['snr', "
      "'quality_metrics']. The "
      "selected comparison functions are: ['indices'], so this option will be ignored.\n"
      "[W] Option: --index-tolerance is only valid for comparison function(s): ['indices']. The selected "
      "comparison functions are: ['simple'], so this option will be ignored.\n");
  EXPECT_EQ(read({"--compare", "perceptual_metrics"}), (std::vector<F>{F::kLpips}))
      << "what it needs is looked for when the run begins";
}

TEST(RunOptions, WhatUpstreamIgnoresIsAnErrorUnderOurName) {
  OutputNames outputs({});
  for (const Words& words :
       {Words{"--compare", "indices", "--rtol", "1"}, Words{"--index-tolerance", "1"},
        Words{"--error-quantile", "0.5"}, Words{"--check-error-stat", "y:max", "--error-quantile", "0.5"}}) {
    const log::Capture capture;
    EXPECT_THROW(read_comparisons(parse(words), outputs), log::LoggedError) << words.front();
    EXPECT_NE(capture.err().find("has no effect"), std::string::npos) << capture.err();
  }
  const log::Capture capture;
  read_comparisons(parse({"--check-error-stat", "y:quantile", "--error-quantile", "0.5"}), outputs);
  EXPECT_EQ(capture.out() + capture.err(), "");
}

TEST(RunOptions, ThresholdsPerOutputKeepHowTheyWereWritten) {
  OutputNames outputs({});
  const auto functions =
      read_comparisons(parse({"--compare", "psnr", "--psnr-threshold", "4", "y:5.5"}), outputs).functions;
  const Comparison& psnr = *functions.at(0).function();
  EXPECT_EQ(std::get<MetricThreshold>(psnr.threshold_for("x")).value.str(), "4");
  EXPECT_EQ(std::get<MetricThreshold>(psnr.threshold_for("y")).value.str(), "5.5");
}

TEST(RunOptions, WarmUpAndSubprocessTurnTheSequentialOrderOn) {
  for (const Words& words : {Words{"--warm-up", "2"}, Words{"--use-subprocess"}}) {
    const log::Capture capture;
    EXPECT_TRUE(read_comparator(words).sequential_runners);
    EXPECT_EQ(capture.out(),
              "[W] " + words[0] +
                  " needs runners that run one after the other: --sequential-runners is turned on.\n");
  }
  const log::Capture capture;
  read_comparator({"--warm-up", "2", "--sequential-runners"});
  EXPECT_EQ(capture.out(), "");
}

TEST(RunOptions, WhatTheAverageCannotBeTakenOf) {
  const auto check = [](Words words) {
    words.emplace_back("--check-average");
    const log::Capture capture;
    try {
      check_options(poly::run_options(read_comparator(words), extension::Registries(), {}));
    } catch (const ExpectedError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(check({}).find("not supported with check_error_stat='elemwise' (the default)"),
            std::string::npos);
  EXPECT_NE(check({"--check-error-stat", "y:max"}).find("elemwise"), std::string::npos)
      << "other outputs stay elemwise";
  EXPECT_NE(check({"--compare", "indices"}).find("does not produce averageable metrics"), std::string::npos);
  EXPECT_NE(check({"--compare", "l2", "--fail-fast"}).find("a run that ends at the first failure"),
            std::string::npos);
  EXPECT_EQ(check({"--check-error-stat", "max", "--compare", "simple", "snr"}), "");
}

TEST(RunOptions, ComparisonValuesAreCheckedBeforeAnythingRuns) {
  OutputNames outputs({});
  for (const Words& bad :
       {Words{"--rtol", "y:abc"}, Words{"--atol", "[1]"}, Words{"--check-error-stat", "y:min"},
        Words{"--error-quantile", "1.5"}, Words{"--error-quantile", "nan"}, Words{"--index-tolerance", "0.5"},
        Words{"--compare", "l2", "--l2-threshold", "abc"}}) {
    const log::Capture capture;
    EXPECT_THROW(read_comparisons(parse(bad), outputs), log::LoggedError) << bad[0];
  }
}

/// Calls visit(path, parser) for every command, with the options that it takes.
template <typename Visit>
void for_each_command(std::span<const Command* const> commands, const Registries& registries,
                      const std::string& path, const Visit& visit) {
  for (const Command* c : commands) {
    const std::string own = path + " " + std::string(c->name);
    ArgParser parser(own, "");
    c->add_options(parser, registries, *c);
    visit(own, parser);
    for_each_command(c->subcommands, registries, own, visit);
  }
}

TEST(CommandOptions, WhoLoadsInputsTakesDataOfScriptsToo) {
  size_t count = 0;
  const Registries registries;
  for_each_command(registries.commands.all(), registries, "assay",
                   [&](const std::string& command, const ArgParser& parser) {
                     const std::string help = parser.help(100);
                     // Files that `data` writes are for that option, which it lacks itself. That of bench is
                     // trtexec's: files of numbers.
                     if (help.find("--load-inputs") == std::string::npos ||
                         command.starts_with("assay data ") || command == "assay bench")
                       return;
                     ++count;
                     for (const char* name : {"--data-loader-script", "--data-loader-func-name"})
                       EXPECT_NE(help.find(name), std::string::npos) << command << " " << name;
                   });
  EXPECT_GE(count, 7U) << "run, check lint, surgeon extract, sanitize, template trt-config, plugin ...";
}

}  // namespace
}  // namespace assay::cli::cmd_run_test
