// assay plugin: finds the subgraphs of a model that plugins implement, and replaces them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/output_path.h"
#include "base/python_repr.h"
#include "cli/cmd_plugin.h"
#include "cli/options/data_loader.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/plugin_scripts.h"
#include "cli/registries.h"
#include "graph/export.h"
#include "ops/infer.h"
#include "plugin/config_file.h"
#include "plugin/match.h"
#include "plugin/pattern_file.h"
#include "plugin/replace.h"
#include "transform/mark_outputs.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

void add_common_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true, "Accepted; without effect on the search.",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_unused_data_loader_options(parser);  // as upstream, which ignores them
}

Option plugin_dir_option() {
  return {
      .names = {"--plugin-dir"},
      .help =
          "The folder of the plugins: a folder each, named after it, with a file pattern.yaml or pattern.py.",
      .metavar = "DIR",
      .required = true};
}

void add_search_options(ArgParser& parser, bool can_save) {
  add_common_options(parser);
  OptionGroup& group = parser.add_group("Plugins");
  group.options = plugin_choice_options();
  if (can_save)
    group.options.push_back({.names = {"-o", "--output"},
                             .help = "Where to save what was found; default: config.yaml next to the model.",
                             .metavar = "FILE"});
}
void add_match_options(ArgParser& parser) { add_search_options(parser, true); }
void add_list_options(ArgParser& parser) { add_search_options(parser, false); }

void add_replace_options(ArgParser& parser) {
  add_common_options(parser);
  parser.add_group("Plugins").options = {
      plugin_dir_option(),
      {.names = {"--config"},
       .help = "What to replace, as `plugin match` saves it; default: config.yaml next to the model.",
       .metavar = "FILE"},
      {.names = {"-o", "--output"},
       .help = "Where to save the changed model; default: replaced.onnx next to the model.",
       .metavar = "FILE"},
  };
}

/// The folder, which must exist.
fs::path existing_plugin_dir(const ParsedArgs& args) {
  const fs::path dir = fs::absolute(args.text("--plugin-dir").value()).lexically_normal();
  std::error_code ec;
  if (!fs::is_directory(dir, ec))
    log::critical(ErrorCode::kNotFound, "--plugin-dir: there is no folder {}.", dir.string());
  return dir;
}

/// Names of the folders that hold a plugin, sorted.
std::vector<std::string> all_plugins(const fs::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir)) {
    std::error_code ec;
    if (fs::exists(entry.path() / kPatternFile, ec) || fs::exists(entry.path() / kPythonPatternFile, ec))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (names.empty())
    log::critical(ErrorCode::kNotFound, "--plugin-dir: no folder in {} holds a {}.", dir.string(),
                  kPatternFile);
  return names;
}

void require_known(const char* option, const std::vector<std::string>& chosen,
                   const std::vector<std::string>& all) {
  for (const std::string& name : chosen) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    const std::string near = nearest_name(name, all);
    log::critical(ErrorCode::kNotFound, "{}: there is no plugin {}. {}", option, name,
                  near.empty() ? fmt::format("There are {}.", python_list_repr(all))
                               : fmt::format("Did you mean {}?", near));
  }
}

/// In the order of --include, else sorted: the first of two plugins that match the same nodes gets them.
std::vector<std::string> chosen_plugins(const ParsedArgs& args, const fs::path& dir) {
  std::vector<std::string> names = all_plugins(dir);
  if (const auto included = args.list("--include")) {
    require_known("--include", *included, names);
    return *included;
  }
  if (const auto excluded = args.list("--exclude")) {
    require_known("--exclude", *excluded, names);
    std::erase_if(names, [&](const auto& n) {
      return std::find(excluded->begin(), excluded->end(), n) != excluded->end();
    });
  }
  return names;
}

void change_outputs(const ParsedArgs& args, Model& model) {
  if (const auto outputs = args.list("--onnx-outputs")) {
    if (means_all_tensors(outputs))
      mark_all_outputs(model);
    else
      mark_outputs(model, *outputs);
  }
  if (const auto types = args.list("--onnx-outputs-by-type"))
    mark_outputs_by_type(model, *types, /*add=*/args.has("--onnx-outputs"));
  if (const auto outputs = args.list("--onnx-exclude-outputs")) unmark_outputs(model, *outputs);
}

std::string read_path(const ParsedArgs& args) {
  if (args.has("--input-shapes")) log::warning("--input-shapes has no effect on plugins; it is ignored.");
  warn_about_unused_data_options(args, "plugins");
  return read_model_options(args).path;
}

std::string beside(const std::string& model_path, const char* name) {
  return (fs::path(model_path).parent_path() / name).string();
}

void report_overlaps(const PluginClaims& claims) {
  for (const PluginClaims::Overlap& o : claims.overlaps())
    log::warning(
        "The match of {} that begins at node {} is left out: node {} belongs to a match of {} already.",
        o.plugin, o.node, o.shared_node, o.other_plugin);
  for (const PluginClaims::Unnamed& u : claims.unnamed())
    log::warning(
        "The match of {} that begins at node {} is left out: the nodes around its graph have the names of "
        "others, so "
        "that no path in config.yaml can mean it. Give each node a name of its own.",
        u.plugin, u.node);
}

/// A Python dict of plugins with their numbers of matches.
std::string count_text(const std::vector<std::pair<std::string, size_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", python_str_repr(name), count);
  return "{" + text + "}";
}

}  // namespace

std::vector<Option> plugin_choice_options() {
  return {
      plugin_dir_option(),
      {.names = {"--include"},
       .help = "Look for these plugins only.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .exclusive = "plugins"},
      {.names = {"--exclude"},
       .help = "Look for all plugins but these.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .exclusive = "plugins"},
  };
}

std::shared_ptr<Model> load_plugin_model(const ParsedArgs& args, const std::string& path,
                                         const Registries& registries) {
  const std::shared_ptr<Model> model = load_onnx_model(args, path, registries.ops);
  with_context([&] { return file_place(path); }, [&] { change_outputs(args, *model); });
  return model;
}

std::vector<PluginMatches> find_plugin_matches(const ParsedArgs& args, const std::string& path,
                                               const Registries& registries) {
  const fs::path dir = existing_plugin_dir(args);
  std::vector<PluginMatches> found;
  std::vector<std::pair<std::string, size_t>> counts;
  PluginClaims claims;
  std::shared_ptr<Model> model;
  for (const std::string& plugin : chosen_plugins(args, dir)) {
    log::info("checking {} in model", plugin);
    const std::string folder = (dir / plugin).string(), script = plugin_script_of(folder);
    std::optional<PluginPattern> pattern;
    if (script.empty()) pattern = load_plugin_pattern(folder);
    if (model == nullptr) {
      model = load_plugin_model(args, path, registries);
      infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
    }
    found.push_back(pattern ? match_plugin(*pattern, *model, claims) : match_plugin_script(script, *model));
    counts.emplace_back(plugin, found.back().instances.size());
  }
  report_overlaps(claims);
  log::info("the following plugins matched:");
  log::info("{}", count_text(counts));
  return found;
}

void save_plugin_matches(const std::vector<PluginMatches>& found, const std::string& path) {
  AtomicFile file(path);
  file.write(plugin_config_text(found));
  file.commit();
  log::info("Matching subgraphs saved to {}", path);
}

std::string plugin_config_beside(const std::string& model_path) {
  return fs::absolute(beside(model_path, "config.yaml")).lexically_normal().string();
}

std::shared_ptr<script::PluginScript> own_replacement(const ParsedArgs& args, const std::string& plugin) {
  const std::string path = plugin_script_of((existing_plugin_dir(args) / plugin).string());
  if (path.empty()) return nullptr;
  auto script = std::make_shared<script::PluginScript>(path);
  return script->has_replacement() ? script : nullptr;
}

namespace command_plugin {
namespace {

int run_list(CommandContext& context) {
  find_plugin_matches(context.args(), read_path(context.args()), context.registries());
  return 0;
}

int run_match(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_path(args);
  const std::string config = args.text("-o").value_or(plugin_config_beside(path));
  check_output_file(config);
  save_plugin_matches(find_plugin_matches(args, path, context.registries()), config);
  return 0;
}

void replace_all(PluginReplacer& replacer, const PluginMatches& plugin) {
  size_t count = 0, number = 0;
  for (const PluginInstance& instance : plugin.instances) {
    const std::string reason =
        with_context([&] { return fmt::format("at instance {} of plugin {}", number, plugin.name); },
                     [&] { return replacer.replace(plugin, instance); });
    if (reason.empty())
      ++count;
    else
      log::warning("Instance {} of {} is left alone: {}.", number, plugin.name, reason);
    ++number;
  }
  log::info("replaced {} instances of {} plugin", count, plugin.name);
  if (count != plugin.instances.size())
    log::warning("Warning: not all instances of {} were replaced!", plugin.name);
}

/// Applies plugins in order; those with their own replacement get the model as changed so far.
class Replacing {
 public:
  Replacing(std::shared_ptr<Model> model, fs::path dir, const Registries& registries)
      : model_(std::move(model)), dir_(std::move(dir)), registries_(registries) {}

  void replace(const PluginMatches& plugin) {
    const std::string path = plugin_script_of((dir_ / plugin.name).string());
    if (!path.empty()) {
      script::PluginScript script(path);
      if (script.has_replacement()) return replace_by(script, plugin);
    }
    if (!replacer_) replacer_.emplace(*model_);
    replace_all(*replacer_, plugin);
  }

  std::shared_ptr<Model> finish() {
    if (replacer_) replacer_->finish();
    replacer_.reset();
    return model_;
  }

 private:
  void replace_by(script::PluginScript& script, const PluginMatches& plugin) {
    finish();
    script::PluginScript::Replaced replaced = replace_by_script(script, *model_, plugin, registries_);
    model_ = std::move(replaced.model);
    log::info("replaced {} instances of {} plugin", replaced.count, plugin.name);
    if (replaced.count != static_cast<int64_t>(plugin.instances.size()))
      log::warning("Warning: not all instances of {} were replaced!", plugin.name);
  }

  std::shared_ptr<Model> model_;
  fs::path dir_;
  const Registries& registries_;
  std::optional<PluginReplacer> replacer_;
};

int run_replace(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_path(args);
  const fs::path dir = existing_plugin_dir(args);
  std::shared_ptr<Model> model = load_plugin_model(args, path, context.registries());
  const std::string config = args.text("--config").value_or(beside(path, "config.yaml")),
                    out = args.text("-o").value_or(beside(path, "replaced.onnx"));
  check_output_file(out);
  const std::vector<PluginMatches> plugins = load_plugin_config(config);
  with_context([&] { return "in " + config; },
               [&] {
                 Replacing replacing(std::move(model), dir, context.registries());
                 for (const PluginMatches& plugin : plugins) replacing.replace(plugin);
                 model = replacing.finish();
               });
  save_model(*model, out);
  return 0;
}

constexpr Command kMatchCommand = {
    .name = "match",
    .summary = "Find what plugins can replace, and save it.",
    .description =
        "Finds the subgraphs of a model that plugins can replace, also in bodies of If, Loop and Scan and in "
        "local "
        "functions, and saves them in a file that `plugin replace` carries out.",
    .add_options = add_match_options,
    .run = run_match,
};
constexpr Command kListCommand = {
    .name = "list",
    .summary = "Count what plugins can replace.",
    .description = "Counts the subgraphs of a model that each plugin can replace.",
    .add_options = add_list_options,
    .run = run_list,
};
constexpr Command kReplaceCommand = {
    .name = "replace",
    .summary = "Replace subgraphs by the nodes of plugins.",
    .description =
        "Replaces the subgraphs that `plugin match` has found by one node each, and saves the model.",
    .add_options = add_replace_options,
    .run = run_replace,
};
constexpr const Command* kSubcommands[] = {&kMatchCommand, &kListCommand, &kReplaceCommand,
                                           &command_plugin_autotune::def};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "plugin",
    .summary = "Replace subgraphs of a model by plugins.",
    .description = "Finds the subgraphs of a model that plugins stand for, and replaces them.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace command_plugin
}  // namespace assay::cli
