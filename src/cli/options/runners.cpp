#include "cli/options/runners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/values.h"
#include "poly/run_parts.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

constexpr const char* kStrict = "--strict-trt";
constexpr const char *kRunnerScriptFlag = "--runner-script", *kTensorFlowFlag = "--tf",
                     *kPyTorchFlag = "--pytorch";

/// The arguments of TensorFlow's runner class.
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

/// The arguments of --runner-options.
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

/// TensorRT itself, in an interpreter that the user named or insists on.
bool wants_tensorrt(const ParsedArgs& args) {
  const char* interpreter = std::getenv("ASSAY_TENSORRT");
  return args.has(kStrict) || (interpreter != nullptr && *interpreter != 0);
}

/// The key of RunRunner::backend. The engine, built by TensorRT's options, has the role of TensorRT unless
/// that is available.
std::string backend_for(const Backend& backend, const ParsedArgs& args) {
  if (!backend.builds_engines) return std::string(backend.name);
  if (wants_tensorrt(args)) return "tensorrt";
  log::once(log::Severity::kWarning,
            "{}: TensorRT is not part of this build; its own engine (--engine) runs in that role.",
            flag_of(backend));
  return std::string(backend.name);
}

Option plugin_option(const script::PluginOption& o) {
  constexpr std::pair<std::string_view, Arity> kArities[] = {{"none", Arity::kNone},
                                                             {"one", Arity::kOne},
                                                             {"optional", Arity::kOptional},
                                                             {"any", Arity::kAny},
                                                             {"at least one", Arity::kAtLeastOne}};
  Option option = {.names = o.names, .help = o.help, .choices = o.choices};
  for (const auto& [name, arity] : kArities)
    if (name == o.arity) option.arity = arity;
  return option;
}

/// The words of options that packages add, and of others that their groups may query.
std::string plugin_words(const ParsedArgs& args) {
  std::vector<std::string> words;
  for (const GivenOption& o : args.occurrences()) {
    if (!o.name.starts_with("-")) continue;
    words.push_back(o.name);
    words.insert(words.end(), o.words.begin(), o.words.end());
  }
  return python_list_repr(words);
}

}  // namespace

std::string flag_of(const Backend& backend) { return "--" + std::string(backend.option); }

namespace {
Option option_of_run(const char* name) { return poly::find_run_option(name)->option; }
}  // namespace

Option providers_option() { return option_of_run("--providers"); }
Option graph_optimization_option() { return option_of_run("--graph-optimization-level"); }
Option custom_ops_option() { return option_of_run("--custom-ops"); }
Option opset_option() { return option_of_run("--opset"); }
Option onnxrt_library_option() { return option_of_run("--onnxrt-library"); }

namespace {
constexpr std::pair<std::string_view, int> kLevels[] = {{"ORT_DISABLE_ALL", 0},
                                                        {"ORT_ENABLE_BASIC", 1},
                                                        {"ORT_ENABLE_EXTENDED", 2},
                                                        {"ORT_ENABLE_LAYOUT", 3},
                                                        {"ORT_ENABLE_ALL", 99}};
}  // namespace

std::string graph_optimization_name(int level) {
  for (const auto& [name, known] : kLevels)
    if (known == level) return std::string(name);
  return {};
}

std::optional<int> read_graph_optimization_level(const ParsedArgs& args) {
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

void add_runner_options(ArgParser& parser, const BackendSet& backends) {
  OptionGroup& runners =
      parser.add_group("Runners", "May be repeated and mixed; they run in the order given.");
  for (const Backend* backend : backends.all()) {
    std::string help(backend->summary);
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    runners.options.push_back({.names = {flag_of(*backend)}, .help = help + ".", .arity = Arity::kNone});
  }
  for (Option& o : poly::options_of("Runners")) runners.options.push_back(std::move(o));
  for (const char* title : {"TensorFlow and PyTorch", "Backends"})
    parser.add_group(title).options = poly::options_of(title);
}

void add_plugin_options(ArgParser& parser, const script::RunPlugins& plugins) {
  const auto is_new = [&](const script::PluginOption& o) {
    return std::none_of(o.names.begin(), o.names.end(),
                        [&](const std::string& name) { return parser.has_option(name); });
  };
  const auto add = [&](const std::string& title, const std::string& description, const auto& options) {
    std::vector<Option> added;
    for (const script::PluginOption& o : options)
      if (is_new(o)) added.push_back(plugin_option(o));
    if (!added.empty()) parser.add_group(title, description).options = std::move(added);
  };
  add("Runners of packages", "", plugins.runners);
  for (const script::PluginOptionGroup& g : plugins.groups) add(g.title, g.description, g.options);
}

std::vector<poly::RunRunner> read_runners(const ParsedArgs& args, const BackendSet& backends,
                                          const script::RunPlugins& plugins) {
  std::vector<std::string> flags = {kRunnerScriptFlag, kTensorFlowFlag, kPyTorchFlag};
  for (const Backend* backend : backends.all()) flags.push_back(flag_of(*backend));
  for (const script::PluginOption& r : plugins.runners)
    if (args.declares(r.names.front())) flags.push_back(r.names.front());
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
      for (const script::PluginOption& r : plugins.runners)
        if (r.names.front() == flag)
          runners.push_back({.script = flag.substr(2), .options = {{"words", plugin_words(args)}}});
    }
  }
  return runners;
}

}  // namespace assay::cli
