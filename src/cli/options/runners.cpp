#include "cli/options/runners.h"

#include <cctype>

#include "base/log.h"
#include "cli/values.h"

namespace assay::cli {
namespace {

constexpr const char *kTensorRtRole = "--trt", *kStrict = "--strict-trt";

}  // namespace

Option providers_option() {
  return {.names = {"--providers", "--execution-providers"},
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
    runners.options.push_back(
        {.names = {std::string(backend->option)}, .help = help + ".", .arity = Arity::kNone});
  }
  runners.options.push_back(
      {.names = {kTensorRtRole},
       .help = "The role that TensorRT has in existing command lines: runs the engine of this build.",
       .arity = Arity::kNone});
  runners.options.push_back({.names = {kStrict},
                             .help = "With --trt: end with an error where TensorRT cannot run, instead of running "
                                     "the engine of this build.",
                             .arity = Arity::kNone});

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
      graph_optimization_option(),
  };
}

std::vector<RunnerChoice> read_runner_choices(const ParsedArgs& args, const BackendSet& backends,
                                              const EngineBuildOptions& building, bool is_plan) {
  const auto open = [building](const ModelSource& source, const SessionOptions& session) { return open_engine_session(source, session, building); };
  std::vector<std::string> flags = {kTensorRtRole};
  for (const Backend* backend : backends.all()) flags.emplace_back(backend->option);
  std::vector<RunnerChoice> choices;
  for (const std::string& flag : args.sequence(flags)) {
    if (flag == kTensorRtRole) {
      if (args.has(kStrict))
        log::critical(
            ErrorCode::kUnsupported,
            "--trt: TensorRT is not part of this build, and {} forbids to run another engine in its "
            "role. Leave {} out, or say --engine.",
            kStrict, kStrict);
      log::once(log::Severity::kWarning,
                "--trt: TensorRT is not part of this build; its own engine (--engine) runs in that role.");
      choices.push_back({.backend = &backends.get("engine"),
                         .prefix = "trt-runner",
                         .human_name = "TensorRT",
                         .open = open,
                         .note = "run by the engine of assay, not by TensorRT"});
      continue;
    }
    for (const Backend* backend : backends.all())
      if (backend->option == flag)
        choices.push_back({.backend = backend,
                           .prefix = std::string(backend->runner_prefix),
                           .human_name = std::string(backend->human_name),
                           .open = is_plan && backend->name == "engine" ? open : decltype(RunnerChoice::open)()});
  }
  for (const char* saving : {"--save-engine", "--save-tactics", "--save-timing-cache"})
    if (args.has(saving) && !args.has(kTensorRtRole) && !is_plan) log::warning("{} has no effect without {}.", saving, kTensorRtRole);
  if (args.has(kStrict) && !args.has(kTensorRtRole))
    log::warning("{} has no effect without {}.", kStrict, kTensorRtRole);
  return choices;
}

SessionOptions read_session_options(const ParsedArgs& args) {
  SessionOptions options;
  if (const auto threads = args.integer("--threads"))
    options.threads = static_cast<int>(std::min<int64_t>(require_at_least("--threads", *threads, 1), 4096));
  if (args.text("--ref-precision") == "stored") options.reference_precision = ReferencePrecision::kStored;
  options.providers = args.list("--providers").value_or(std::vector<std::string>{});
  options.library = args.text("--onnxrt-library").value_or("");
  options.graph_optimization_level = read_graph_optimization_level(args);
  return options;
}

}  // namespace assay::cli
