#include "cli/bench_ignored.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace assay::cli {
namespace {

struct Ignored {
  std::string_view names;  // separated by blanks
  Arity arity;
};
struct Reason {
  std::span<const Ignored> options;
  std::string_view sentence;
};

constexpr auto kNone = Arity::kNone;
constexpr auto kOne = Arity::kOne;

constexpr Ignored kNarrow[] = {{"--fp8", kNone}, {"--int4", kNone}};
constexpr Ignored kTf32[] = {{"--noTF32", kNone}};
constexpr Ignored kSparsity[] = {{"--sparsity", kOne}};
constexpr Ignored kDevices[] = {{"--device", kOne},
                                {"--useDLACore", kOne},
                                {"--allowGPUFallback", kNone},
                                {"--buildDLAStandalone", kNone},
                                {"--layerDeviceTypes", kOne},
                                {"--adjustForDLA", kNone},
                                {"--reportCapabilityDLA", kNone},
                                {"--uint8AsymmetricQuantizationDLA", kNone},
                                {"--cpuOnly", kNone},
                                {"--remoteAutoTuningConfig", kOne},
                                {"--hardwareCompatibilityLevel", kOne},
                                {"--runtimePlatform", kOne},
                                {"--maxAuxStreams", kOne},
                                {"--persistentCacheRatio", kOne},
                                {"--useSpinWait", kNone},
                                {"--noSpinWait", kNone},
                                {"--tilingOptimizationLevel", kOne},
                                {"--l2LimitForTiling", kOne},
                                {"--monitorMemory", kNone}};
constexpr Ignored kTransfers[] = {{"--noDataTransfers", kNone},     {"--includeDataTransfers", kNone},
                                  {"--exposeDMA", kNone},           {"--useManagedMemory", kNone},
                                  {"--allocationStrategy", kOne},   {"--allowWeightStreaming", kNone},
                                  {"--weightStreamingBudget", kOne}};
constexpr Ignored kGraphs[] = {{"--noCudaGraph", kNone}};
constexpr Ignored kThreads[] = {{"--threads", kNone}};
constexpr Ignored kSeparate[] = {{"--separateProfileRun", kNone}};
constexpr Ignored kCache[] = {{"--noBuilderCache", kNone}, {"--noCompilationCache", kNone}};
constexpr Ignored kTiming[] = {
    {"--avgTiming", kOne}, {"--minTiming", kOne}, {"--heuristic", kNone}, {"--maxTactics", kOne}};
constexpr Ignored kSettings[] = {{"--tacticSources", kOne},
                                 {"--preview", kOne},
                                 {"--versionCompatible --vc", kNone},
                                 {"--excludeLeanRuntime", kNone},
                                 {"--useRuntime", kOne},
                                 {"--tempdir", kOne},
                                 {"--tempfileControls", kOne},
                                 {"--pluginInstanceNorm --pi", kNone},
                                 {"--nativeInstanceNorm --ni", kNone},
                                 {"--enablePluginOverride", kNone},
                                 {"--asyncFileReader", kNone},
                                 {"--directIO", kNone},
                                 {"--nvtxMode", kOne}};
constexpr Ignored kSafety[] = {
    {"--safe", kNone}, {"--std", kNone}, {"--consistency", kNone}, {"--restricted", kNone}};
constexpr Ignored kExplicit[] = {{"--explicitBatch", kNone}, {"--explicitPrecision", kNone}};
constexpr Ignored kOutput[] = {{"--output", kOne}};
constexpr Ignored kAttentions[] = {{"--decomposableAttentions", kOne}};

constexpr Reason kIgnored[] = {
    {kNarrow, "the engine of this build has no products of such numbers; they are computed in float32."},
    {kTf32, "a CPU has no TF32; products of float32 are computed in float32."},
    {kSparsity, "the engine of this build has no kernels for sparse weights."},
    {kDevices, "it is about GPUs and other devices, and the engine runs on the CPU."},
    {kTransfers, "inputs and outputs are used where they lie, so nothing is transferred."},
    {kGraphs, "nothing is recorded unless --useCudaGraph is given."},
    {kThreads, "each stream has a thread of its own; the option for threads of a run is --cpuThreads."},
    {kSeparate, "times of layers always come from runs of their own."},
    {kCache, "without --timingCacheFile nothing is kept from build to build."},
    {kTiming, "how thoroughly is measured follows from --builderOptimizationLevel."},
    {kSettings, "the engine of this build has no such setting."},
    {kSafety, "the engine of this build has one mode only."},
    {kExplicit, "an ONNX model always says its batch and its types itself."},
    {kOutput, "an ONNX model says itself what its outputs are."},
    {kAttentions, "the engine plans attention in parts wherever that is faster."},
};

constexpr Ignored kReferences[] = {{"--loadRefOutputs", kOne},
                                   {"--accuracyAlgorithm", kOne},
                                   {"--accuracyThreshold", kOne},
                                   {"--refPair", kOne},
                                   {"--atol", kOne},
                                   {"--rtol", kOne}};
constexpr Ignored kPlugins[] = {{"--plugins --staticPlugins", kOne}, {"--dynamicPlugins", kOne},
                                {"--setPluginsToSerialize", kOne},   {"--ignoreParsedPluginLibs", kNone},
                                {"--safetyPlugins", kOne},           {"--leanDLLPath", kOne}};
constexpr Ignored kCalibration[] = {{"--minShapesCalib", kOne},
                                    {"--optShapesCalib", kOne},
                                    {"--maxShapesCalib", kOne},
                                    {"--calibProfile", kOne}};
constexpr Ignored kOldModels[] = {{"--uff", kOne},      {"--deploy", kOne},   {"--model", kOne},
                                  {"--uffInput", kOne}, {"--uffNHWC", kNone}, {"--batch --maxBatch", kOne}};
constexpr Ignored kDebug[] = {{"--markDebug", kOne},
                              {"--markUnfusedTensorsAsDebugTensors", kNone},
                              {"--saveDebugTensors", kOne},
                              {"--saveAllDebugTensors", kOne}};
constexpr Ignored kIndependence[] = {{"--distributiveIndependence", kNone}};
constexpr Ignored kKernelText[] = {{"--dumpKernelText", kNone}};
constexpr Ignored kOthers[] = {
    {"--timeDeserialize", kNone}, {"--getPlanVersionOnly", kNone}, {"--dumpRawBindingsToFile", kNone}};
constexpr Ignored kTuningChild[] = {{"--tuningResultFile", kOne}};
constexpr Ignored kSerialized[] = {{"--serialized", kOne}};

constexpr Reason kRefused[] = {
    {kReferences, "bench measures times only. assay run compares results: --load-inputs, --load-outputs."},
    {kPlugins, "this build cannot load TensorRT plugins or runtimes."},
    {kCalibration,
     "bench has its scales from --calib. assay convert --int8 calibrates, and writes such a file."},
    {kOldModels, "this build reads ONNX models, whose shapes include the batch. Use --onnx and --shapes."},
    {kDebug, "bench measures times only. assay run shows inner tensors: --onnx-outputs, --save-outputs."},
    {kIndependence,
     "kernels add up in another order at the edges of a tensor, so that equal rows may differ in their "
     "rounding. "
     "--builderOptimizationLevel=0 makes every build choose the same kernels, no more."},
    {kKernelText,
     "the engine compiles no kernels, so that they have no text. --dumpLayerInfo names the kernel of each "
     "layer."},
    {kOthers, "bench does not do this."},
    {kTuningChild,
     "routes are tried in this process, so that none tells another. --tuningCacheFile has the results."},
    {kSerialized, "there is no form of a network but the model. --saveEngine saves the plan of the engine."},
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

}  // namespace

void add_ignored_bench_options(ArgParser& parser, bool as_trtexec) {
  OptionGroup& ignored = parser.add_group("Without effect");
  for (const Reason& reason : kIgnored)
    for (const Ignored& option : reason.options)
      if (as_trtexec || option.names != "--threads")
        ignored.options.push_back({.names = split(option.names),
                                   .help = "No effect: " + std::string(reason.sentence),
                                   .arity = option.arity});
  OptionGroup& refused = parser.add_group("Not available yet");
  for (const Reason& reason : kRefused)
    for (const Ignored& option : reason.options)
      refused.options.push_back(
          {.names = split(option.names), .arity = option.arity, .refusal = std::string(reason.sentence)});
}

void warn_of_ignored_bench_options(const ParsedArgs& args) {
  std::vector<std::string> told;
  for (const Option* given : args.given())
    for (const Reason& reason : kIgnored)
      for (const Ignored& option : reason.options) {
        const std::string name = split(option.names).front();
        // --threads of `assay bench` itself takes a number and has an effect.
        if (given->names.front() != name || given->arity != option.arity ||
            std::find(told.begin(), told.end(), name) != told.end())
          continue;
        told.push_back(name);
        log::warning("{} has no effect: {}", given->label(), reason.sentence);
      }
}

}  // namespace assay::cli
