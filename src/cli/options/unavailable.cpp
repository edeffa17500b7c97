#include "cli/options/unavailable.h"

#include <span>
#include <string>
#include <string_view>

namespace assay::cli {
namespace {

struct Unavailable {
  std::string_view names;  // separated by blanks
  Arity arity;
};

constexpr auto kNone = Arity::kNone;
constexpr auto kOne = Arity::kOne;
constexpr auto kMany = Arity::kAtLeastOne;
constexpr auto kAny = Arity::kAny;

constexpr Unavailable kTensorFlow[] = {
    {"--tf", kNone},
    {"--tftrt --use-tftrt", kNone},
    {"--minimum-segment-size", kOne},
    {"--dynamic-op", kNone},
    {"--ckpt", kOne},
    {"--tf-outputs", kMany},
    {"--save-pb", kOne},
    {"--save-tensorboard", kOne},
    {"--freeze-graph", kNone},
    {"--gpu-memory-fraction", kOne},
    {"--allow-growth", kNone},
    {"--xla", kNone},
    {"--save-timeline", kOne},
};

/// Of `run`, which runs TensorFlow in the user's Python.
constexpr Unavailable kTensorFlowSettings[] = {
    {"--tftrt --use-tftrt", kNone}, {"--minimum-segment-size", kOne},
    {"--dynamic-op", kNone},        {"--save-tensorboard", kOne},
    {"--freeze-graph", kNone},      {"--gpu-memory-fraction", kOne},
    {"--allow-growth", kNone},      {"--xla", kNone},
    {"--save-timeline", kOne},
};

constexpr Unavailable kPluginReference[] = {{"--pluginref", kNone}};

constexpr Unavailable kDebugTensors[] = {{"--mark-debug", kMany},
                                         {"--mark-unfused-tensors-as-debug-tensors", kNone}};

constexpr Unavailable kPlugins[] = {
    {"--plugins", kMany},
    {"--onnx-flags", kMany},
    {"--plugin-instancenorm", kNone},
};

constexpr Unavailable kWindows[] = {{"--show-heatmaps", kNone}, {"--show-error-metrics-plot", kNone}};

constexpr Unavailable kTensorFlowGraphs[] = {{"--ckpt", kOne}, {"--freeze-graph", kNone}};

constexpr Unavailable kTensorRtModels[] = {
    {"--plugins", kMany},
    {"--onnx-flags", kMany},
    {"--plugin-instancenorm", kNone},
    {"--layer-precisions", kMany},
    {"--tensor-dtypes --tensor-datatypes", kMany},
    {"--trt-network-postprocess-script --trt-npps", kMany},
    {"--strongly-typed", kNone},
    {"--mark-debug", kMany},
    {"--mark-unfused-tensors-as-debug-tensors", kNone},
    {"--save-timing-cache", kOne},
    {"--load-runtime", kOne},
    {"--all-tensor-dtypes --all-tensor-datatypes", kOne},
    {"--all-tensor-formats", kMany},
    {"--tensor-formats", kMany},
    {"--decomposable-attentions", kNone},
    {"--dla-workspace-allocation-strategy", kOne},
    {"--enable-uint8-asymmetric-quantization-dla", kNone},
};

constexpr Unavailable kFormats[] = {{"--tensor-formats", kMany},
                                    {"--all-tensor-formats", kMany},
                                    {"--direct-io", kNone},
                                    {"--engine-capability", kOne}};

struct Reason {
  std::span<const Unavailable> options;
  std::string_view sentence;
};

constexpr Reason kReasons[] = {
    {kTensorFlowSettings,
     "the runner for TensorFlow has no such setting. Set it in a runner of your own (--runner-script, "
     "docs/guide/runners.md)."},
    {kPluginReference,
     "the plugin reference runner is replaced by --ref, which knows every operator of this build."},
    {kDebugTensors, "the engine of this build has no debug tensors. Use --trt-outputs to see inner tensors."},
    {kPlugins, "this build cannot load TensorRT plugins or parser settings."},
    {kWindows,
     "this build opens no windows. Save the pictures with --save-heatmaps or --save-error-metrics-plot."},
    {kFormats, "inputs and outputs of the engine keep the types that the model declares, row-major."},
};

constexpr Reason kConvertReasons[] = {
    {kTensorFlow, "this build reads ONNX models only. Convert the model to ONNX first."},
    {kDebugTensors, "the engine of this build has no debug tensors. Use --trt-outputs to see inner tensors."},
    {kPlugins, "this build cannot load TensorRT plugins or parser settings."},
    {kFormats, "inputs and outputs of the engine keep the types that the model declares, row-major."},
};

constexpr Reason kInspectReasons[] = {
    {kTensorFlowGraphs, "this build reads ONNX models only. Convert the model to ONNX first."},
    {kTensorRtModels,
     "it says how TensorRT is to see the model, and this build shows ONNX models as they are."},
};

constexpr Unavailable kNetworkScript[] = {
    {"--plugins", kMany},
    {"--trt-outputs", kMany},
    {"--trt-exclude-outputs", kMany},
    {"--layer-precisions", kMany},
    {"--tensor-dtypes --tensor-datatypes", kMany},
    {"--trt-network-func-name", kOne},
    {"--trt-network-postprocess-script --trt-npps", kMany},
    {"--mark-debug", kMany},
    {"--onnx-flags", kMany},
    {"--all-tensor-dtypes --all-tensor-datatypes", kOne},
    {"--all-tensor-formats", kMany},
    {"--tensor-formats", kMany},
    {"--decomposable-attentions", kNone},
    {"--enable-uint8-asymmetric-quantization-dla", kNone},
    {"--trt-outputs-by-type", kMany},
};
constexpr Unavailable kNetworkTensorFlow[] = {
    {"--ckpt", kOne}, {"--tf-outputs", kMany}, {"--freeze-graph", kNone}, {"--opset", kOne}};

constexpr Unavailable kConfigScript[] = {
    {"--calibration-cache", kOne},
    {"--calib-base-cls --calibration-base-class", kOne},
    {"--quantile", kOne},
    {"--regression-cutoff", kOne},
    {"--save-tactics --save-tactic-replay", kOne},
    {"--load-tactics --load-tactic-replay", kOne},
    {"--tactic-sources", kAny},
    {"--preview-features", kAny},
    {"--quantization-flags", kAny},
    {"--trt-config-script", kOne},
    {"--trt-config-func-name", kOne},
    {"--trt-config-postprocess-script --trt-cpps", kOne},
    {"--pool-limit --memory-pool-limit", kMany},
    {"--hardware-compatibility-level", kOne},
    {"--profiling-verbosity", kOne},
    {"--runtime-platform", kOne},
    {"--tiling-optimization-level", kOne},
    {"--direct-io", kNone},
};

constexpr Reason kNetworkReasons[] = {
    {kNetworkTensorFlow, "this build reads ONNX models only. Convert the model to ONNX first."},
    {kNetworkScript, "this build does not put it into the script. Write it into the function load_network."},
};
constexpr Reason kConfigReasons[] = {
    {kConfigScript, "this build does not put it into the script. Write it into the function load_config."},
};

std::vector<std::string> split(std::string_view names) {
  std::vector<std::string> parts;
  while (!names.empty()) {
    const size_t blank = names.find(' ');
    parts.emplace_back(names.substr(0, blank));
    names = blank == std::string_view::npos ? std::string_view() : names.substr(blank + 1);
  }
  return parts;
}

OptionGroup& add_refused(ArgParser& parser, std::span<const Reason> reasons) {
  OptionGroup& group = parser.add_group("Not available yet");
  for (const Reason& reason : reasons)
    for (const Unavailable& option : reason.options)
      group.options.push_back(
          {.names = split(option.names), .arity = option.arity, .refusal = std::string(reason.sentence)});
  return group;
}

}  // namespace

void add_unavailable_run_options(ArgParser& parser) { add_refused(parser, kReasons); }

void add_unavailable_convert_options(ArgParser& parser) { add_refused(parser, kConvertReasons); }

void add_unavailable_network_options(ArgParser& parser) { add_refused(parser, kNetworkReasons); }

void add_unavailable_config_options(ArgParser& parser) { add_refused(parser, kConfigReasons); }

void add_unavailable_inspect_options(ArgParser& parser) { add_refused(parser, kInspectReasons); }

}  // namespace assay::cli
