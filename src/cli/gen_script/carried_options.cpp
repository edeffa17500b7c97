#include "cli/gen_script/carried_options.h"

#include <algorithm>

#include "base/log.h"
#include "cli/options/extensions.h"
#include "cli/options/runners.h"

namespace assay::cli {
namespace {

bool is_carried(std::string_view name, const Registries& registries) {
  const auto same = [&](const auto& o) { return o.name == name; };
  const auto known = carried_options();
  if (std::any_of(known.begin(), known.end(), same)) return true;
  const auto backends = registries.backends.all();
  return std::any_of(backends.begin(), backends.end(),
                     [&](const Backend* b) { return flag_of(*b) == name; }) ||
         is_module_option(registries, name);
}

}  // namespace

std::span<const CarriedOption> carried_options() {
  using enum InCpp;
  static constexpr CarriedOption kOptions[] = {
      // Logging, resources, modules
      {"-v"},
      {"-q"},
      {"--verbosity"},
      {"--silent"},
      {"--log-format"},
      {"--log-file"},
      {"--memory-limit"},
      {"--extension"},
      {"--no-extensions", kSettled},
      {"--gen", kSettled},
      // Runners
      {"--strict-trt", kSettled},
      {"--runner-script"},
      {"--runner-options"},
      {"--tf"},
      {"--pytorch"},
      {"--tf-outputs"},
      {"--save-pb"},
      {"--ckpt"},
      {"--opset", kSettled},
      {"--pytorch-inputs"},
      {"--threads"},
      {"--ref-precision"},
      {"--providers"},
      {"--onnxrt-library"},
      {"--custom-ops"},
      {"--graph-optimization-level"},
      // Model
      {"model_file"},
      {"--model-type"},
      {"--input-shapes"},
      {"--save-onnx"},
      {"--save-external-data"},
      {"--external-data-size-threshold"},
      {"--no-save-all-tensors-to-one-file"},
      {"--shape-inference"},
      {"--no-onnxruntime-shape-inference", kIdle},
      {"--external-data-dir"},
      {"--ignore-external-data"},
      {"--onnx-outputs"},
      {"--onnx-outputs-by-type"},
      {"--onnx-exclude-outputs"},
      {"--fp-to-fp16"},
      // Data
      {"--seed"},
      {"--val-range"},
      {"--int-min"},
      {"--int-max"},
      {"--float-min"},
      {"--float-max"},
      {"--iterations"},
      {"--data-loader-backend-module", kSettled},
      {"--load-inputs"},
      {"--data-loader-script"},
      {"--data-loader-func-name"},
      // Comparator
      {"--sequential-runners"},
      {"--warm-up"},
      {"--use-subprocess"},
      {"--save-inputs"},
      {"--save-outputs"},
      {"--save-input-blob"},
      {"--postprocess"},
      {"--postprocess-func-script"},
      {"--validate"},
      {"--fail-fast"},
      {"--compare"},
      {"--compare-func-script"},
      {"--no-shape-check"},
      {"--check-average"},
      {"--save-accuracy-results"},
      {"--load-outputs"},
      {"--arbiter"},
      {"--arbiter-samples"},
      {"--save-verdict"},
      {"--no-trace"},
      {"--no-excuse"},
      {"--partial"},
      {"--rtol"},
      {"--atol"},
      {"--check-error-stat"},
      {"--infinities-compare-equal"},
      {"--save-heatmaps"},
      {"--save-error-metrics-plot"},
      {"--error-quantile"},
      {"--index-tolerance"},
      {"--l2-threshold"},
      {"--cosine-similarity-threshold"},
      {"--psnr-threshold"},
      {"--snr-threshold"},
      {"--lpips-threshold"},
      // Engine
      {"--trt-min-shapes"},
      {"--trt-opt-shapes"},
      {"--trt-max-shapes"},
      {"--fp16"},
      {"--bf16"},
      {"--int8"},
      {"--strongly-typed", kIdle},
      {"--precision-constraints"},
      {"--layer-precisions"},
      {"--layer-output-types"},
      {"--tensor-dtypes"},
      {"--all-tensor-dtypes"},
      {"--calibration-cache"},
      {"--calib-base-cls"},
      {"--quantile"},
      {"--refittable"},
      {"--strip-plan"},
      {"--load-timing-cache"},
      {"--save-timing-cache"},
      {"--error-on-timing-cache-miss"},
      {"--save-tactics"},
      {"--load-tactics"},
      {"--pool-limit"},
      {"--workspace"},
      {"--builder-optimization-level"},
      {"--disable-tactics"},
      {"--pin-tactics"},
      {"--disable-passes"},
      {"--max-edits"},
      {"--verify-passes"},
      {"--explain"},
      {"--trt-outputs"},
      {"--trt-exclude-outputs"},
      {"--trt-outputs-by-type"},
      {"--trt-network-func-name"},
      {"--trt-config-script"},
      {"--trt-config-func-name"},
      {"--trt-network-postprocess-script"},
      {"--trt-config-postprocess-script"},
      {"--save-engine"},
      {"--optimization-profile"},
      {"--tf32", kIdle},
      {"--regression-cutoff", kIdle},
      {"--fp8", kIdle},
      {"--sparse-weights", kIdle},
      {"--version-compatible", kIdle},
      {"--exclude-lean-runtime", kIdle},
      {"--trt-safety-restricted", kIdle},
      {"--use-dla", kIdle},
      {"--allow-gpu-fallback", kIdle},
      {"--disable-compilation-cache", kIdle},
      {"--weight-streaming", kIdle},
      {"--weight-streaming-budget", kIdle},
      {"--max-aux-streams", kIdle},
      {"--hardware-compatibility-level", kIdle},
      {"--runtime-platform", kIdle},
      {"--tiling-optimization-level", kIdle},
      {"--profiling-verbosity", kIdle},
      {"--allocation-strategy", kIdle},
      {"--tactic-sources", kIdle},
      {"--preview-features", kIdle},
      {"--quantization-flags", kIdle},
      {"--dla-workspace-allocation-strategy", kIdle},
      {"--enable-uint8-asymmetric-quantization-dla", kIdle},
      {"--decomposable-attentions", kIdle},
      {"--load-runtime", kIdle},
  };
  return kOptions;
}

bool is_module_option(const Registries& registries, std::string_view name) {
  ArgParser modules("", "");
  add_module_options(modules, registries);
  return modules.has_option(name);
}

void refuse_uncarried(const ParsedArgs& args, const Registries& registries) {
  for (const Option* option : args.given())
    if (!is_carried(option->names.front(), registries))
      log::critical(ErrorCode::kUnsupported,
                    "--gen-script: {} cannot be put into a C++ program. A Python script has every option: "
                    "--gen-script FILE.py.",
                    option->label());
}

}  // namespace assay::cli
