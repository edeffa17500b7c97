#include "cli/options/runners.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "base/log.h"
#include "cli/values.h"
#include "poly/run_parts.h"

namespace assay::cli {
namespace {

constexpr const char* kStrict = "--strict-trt";
constexpr const char *kRunnerScriptFlag = "--runner-script", *kTensorFlowFlag = "--tf",
                     *kPyTorchFlag = "--pytorch";

/// What the class of TensorFlow's runner is told.
std::vector<std::pair<std::string, std::string>> tensorflow_options(const ParsedArgs& args) {
  std::vector<std::pair<std::string, std::string>> options;
  if (const auto outputs = args.list("--tf-outputs"))
    options.emplace_back("outputs", fmt::format("{}", fmt::join(*outputs, ",")));
  if (const auto path = args.text("--save-pb")) options.emplace_back("save_pb", *path);
  if (const auto path = args.text("--ckpt")) options.emplace_back("ckpt", *path);
  if (const auto type = args.text("--model-type")) options.emplace_back("model_type", *type);
  if (const auto threads = args.text("--threads")) options.emplace_back("threads", *threads);
  return options;
}

/// Of --runner-options.
std::vector<std::pair<std::string, std::string>> script_options(const ParsedArgs& args) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const std::string& word : args.list("--runner-options").value_or(std::vector<std::string>{})) {
    const size_t equals = word.find('=');
    require(equals != std::string::npos && equals > 0, ErrorCode::kInvalidArgument,
            "--runner-options: '{}' is not NAME=VALUE", word);
    options.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return options;
}

std::vector<std::pair<std::string, std::string>> pytorch_options(const ParsedArgs& args) {
  if (const auto inputs = args.text("--pytorch-inputs")) return {{"inputs", *inputs}};
  return {};
}

/// TensorRT itself, in an interpreter that the user has named or insists on.
bool wants_tensorrt(const ParsedArgs& args) {
  const char* interpreter = std::getenv("ASSAY_TENSORRT");
  return args.has(kStrict) || (interpreter != nullptr && *interpreter != 0);
}

/// The key of RunRunner::backend. The engine that is built as TensorRT's options say has the role of
/// TensorRT, unless TensorRT is there.
std::string backend_for(const Backend& backend, const ParsedArgs& args) {
  if (!backend.builds_engines) return std::string(backend.name);
  if (wants_tensorrt(args)) return "tensorrt";
  log::once(log::Severity::kWarning,
            "{}: TensorRT is not part of this build; its own engine (--engine) runs in that role.",
            flag_of(backend));
  return std::string(backend.name);
}

}  // namespace

std::string flag_of(const Backend& backend) { return "--" + std::string(backend.option); }

Option providers_option() {
  return {
      .names = {"--providers", "--execution-providers"},
      .help =
          "Execution providers of ONNX Runtime in order of priority, by name or part of it; default: cpu.",
      .arity = Arity::kAtLeastOne,
      .metavar = "NAME"};
}

Option graph_optimization_option() {
  return {
      .names = {"--graph-optimization-level"},
      .help =
          "How far ONNX Runtime changes the graph: ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, "
          "ORT_ENABLE_LAYOUT or ORT_ENABLE_ALL; default: ONNX Runtime's.",
      .metavar = "LEVEL"};
}

std::optional<int> read_graph_optimization_level(const ParsedArgs& args) {
  constexpr std::pair<std::string_view, int> kLevels[] = {{"ORT_DISABLE_ALL", 0},
                                                          {"ORT_ENABLE_BASIC", 1},
                                                          {"ORT_ENABLE_EXTENDED", 2},
                                                          {"ORT_ENABLE_LAYOUT", 3},
                                                          {"ORT_ENABLE_ALL", 99}};
  const auto word = args.text("--graph-optimization-level");
  if (!word) return std::nullopt;
  std::string upper = *word;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const auto& [name, level] : kLevels)
    if (upper == name) return level;
  log::critical(
      ErrorCode::kInvalidArgument,
      "--graph-optimization-level: {} is none of ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, "
      "ORT_ENABLE_LAYOUT and ORT_ENABLE_ALL.",
      *word);
}

Option custom_ops_option() {
  return {
      .names = {"--custom-ops"},
      .help =
          "Shared libraries with operators of your own for ONNX Runtime, as its register_custom_ops_library "
          "takes them.",
      .arity = Arity::kAtLeastOne,
      .metavar = "LIBRARY"};
}

Option opset_option() {
  return {.names = {"--opset"},
          .help =
              "The opset of a conversion from TensorFlow, which this build does not make. A model in ONNX "
              "keeps its own: surgeon convert-opset converts it.",
          .metavar = "N",
          .kind = ValueKind::kInteger};
}

Option onnxrt_library_option() {
  return {.names = {"--onnxrt-library"},
          .help = "The shared library of ONNX Runtime; default: the first one found.",
          .metavar = "FILE"};
}

void add_runner_options(ArgParser& parser, const BackendSet& backends) {
  OptionGroup& runners =
      parser.add_group("Runners", "May be repeated and mixed; they run in the order given.");
  for (const Backend* backend : backends.all()) {
    std::string help(backend->summary);
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    runners.options.push_back({.names = {flag_of(*backend)}, .help = help + ".", .arity = Arity::kNone});
  }
  runners.options.push_back(
      {.names = {kStrict},
       .help = "With --trt: TensorRT itself, by the tensorrt package of ASSAY_TENSORRT or of python3, and "
               "an error where it cannot run.",
       .arity = Arity::kNone});
  runners.options.push_back(
      {.names = {kRunnerScriptFlag},
       .help = "A class of this Python file, which loads the model and infers in your own interpreter "
               "(docs/guide/runners.md); or the name of a runner that a package of that interpreter adds.",
       .metavar = "FILE.py[:CLASS]"});
  runners.options.push_back({.names = {"--runner-options"},
                             .help = "Keyword arguments for the class of --runner-script.",
                             .arity = Arity::kAtLeastOne,
                             .metavar = "NAME=VALUE"});
  runners.options.push_back(
      {.names = {kTensorFlowFlag},
       .help =
           "TensorFlow of your own interpreter (ASSAY_TENSORFLOW, or python3): frozen graphs, SavedModels, "
           "Keras models and checkpoints.",
       .arity = Arity::kNone});
  runners.options.push_back(
      {.names = {kPyTorchFlag},
       .help =
           "PyTorch of your own interpreter (ASSAY_TORCH, or python3): TorchScript and exported programs.",
       .arity = Arity::kNone});
  parser.add_group("TensorFlow and PyTorch").options = {
      {.names = {"--tf-outputs"},
       .help = "Outputs of a TensorFlow graph; default: those that nothing uses.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME"},
      {.names = {"--save-pb"}, .help = "Save the frozen TensorFlow graph.", .metavar = "FILE"},
      {.names = {"--ckpt"}, .help = "Name of the checkpoint in its folder.", .metavar = "NAME"},
      opset_option(),
      {.names = {"--pytorch-inputs"},
       .help = "Types and shapes of a TorchScript model's inputs, which it does not keep: {\"x\": "
               "[\"float32\", [1,3,224,224]]}.",
       .metavar = "JSON"},
  };

  parser.add_group("Backends").options = {
      {.names = {"--threads"},
       .help = "Threads of each backend; default: the CPUs this process may use.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--ref-precision"},
       .help = "What --ref computes in: everything in float64 (default), or each result rounded to the type "
               "that the "
               "model declares.",
       .choices = {"float64", "stored"}},
      providers_option(),
      onnxrt_library_option(),
      custom_ops_option(),
      graph_optimization_option(),
  };
}

std::vector<poly::RunRunner> read_runners(const ParsedArgs& args, const BackendSet& backends) {
  std::vector<std::string> flags = {kRunnerScriptFlag, kTensorFlowFlag, kPyTorchFlag};
  for (const Backend* backend : backends.all()) flags.push_back(flag_of(*backend));
  const auto scripts = args.all(kRunnerScriptFlag);
  auto script = scripts.begin();
  std::vector<poly::RunRunner> runners;
  for (const std::string& flag : args.sequence(flags)) {
    if (flag == kRunnerScriptFlag) {
      runners.push_back({.script = (script++)->front(), .options = script_options(args)});
    } else if (flag == kTensorFlowFlag) {
      runners.push_back({.backend = "tensorflow", .options = tensorflow_options(args)});
    } else if (flag == kPyTorchFlag) {
      runners.push_back({.backend = "pytorch", .options = pytorch_options(args)});
    } else {
      for (const Backend* backend : backends.all())
        if (flag_of(*backend) == flag) runners.push_back({.backend = backend_for(*backend, args)});
    }
  }
  return runners;
}

SessionOptions read_session_options(const ParsedArgs& args) {
  SessionOptions options;
  if (const auto threads = args.integer("--threads"))
    options.threads = static_cast<int>(std::min<int64_t>(require_at_least("--threads", *threads, 1), 4096));
  if (args.text("--ref-precision") == "stored") options.reference_precision = ReferencePrecision::kStored;
  options.providers = args.list("--providers").value_or(std::vector<std::string>{});
  options.library = args.text("--onnxrt-library").value_or("");
  options.custom_ops = args.list("--custom-ops").value_or(std::vector<std::string>{});
  options.graph_optimization_level = read_graph_optimization_level(args);
  return options;
}

}  // namespace assay::cli
