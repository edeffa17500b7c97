// assay plugin autotune: finds the replacements by plugins that make a model faster, by timing engines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/output_path.h"
#include "base/progress_line.h"
#include "bench/autotune.h"
#include "cli/cmd_plugin.h"
#include "cli/options/extensions.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/plugin_scripts.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "plugin/config_file.h"
#include "run/model_saver.h"

namespace assay::cli::command_plugin_autotune {
namespace {

namespace fs = std::filesystem;

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true,
                    "Shapes of inputs with open extents, for the timing, as in image:[1,3,224,224]; extents "
                    "of which nothing "
                    "is said are 1.",
                    {"--input-shapes", "--inputs"}, Names::kInputs);
  add_onnx_load_options(parser);
  add_onnx_output_options(parser);
  OptionGroup& plugins = parser.add_group("Plugins");
  plugins.options = plugin_choice_options();
  plugins.options.insert(plugins.options.end(),
                         {{.names = {"--plugin-libraries"},
                           .help = "Extension modules with the operators and tactics of the plugins "
                                   "(docs/guide/extensions.md), as --extension. One "
                                   "that cannot be loaded gets a warning.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "FILE"},
                          {.names = {"--python-plugins"},
                           .help = "Accepted with a warning: the engine runs no operators in Python.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "FILE"}});
  parser.add_group("Tuning").options = {
      {.names = {"--autotune-mode"},
       .help = "`greedy` tries replacement after replacement and keeps one if the network is then faster; "
               "`exhaustive` "
               "tries all sets of replacements. Default: greedy.",
       .choices = {"greedy", "exhaustive"}},
      {.names = {"--max-combinations"},
       .help = "The most sets that `exhaustive` tries; default: 1000.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--threshold"},
       .help =
           "`exhaustive` stops at a set that saves more than this fraction of the unchanged network's time; "
           "default: 0.1.",
       .metavar = "FRACTION",
       .kind = ValueKind::kNumber},
      {.names = {"--timing-cache"},
       .help = "Times of tactics that are known from earlier builds; the file is made or brought up to date.",
       .metavar = "FILE"},
      {.names = {"--no-timing-cache"},
       .help = "Let each build measure all of its tactics again.",
       .arity = Arity::kNone},
      {.names = {"--save-config-yaml"},
       .help = "Where to save what was found; default: config.yaml next to the model, and with the option "
               "alone in the "
               "current folder.",
       .arity = Arity::kOptional,
       .metavar = "FILE"},
      {.names = {"--load-config-yaml"},
       .help = "Take the matches from this file, as `plugin match` saves it, instead of searching.",
       .metavar = "FILE"},
      {.names = {"--skip-autotuning"},
       .help = "Only search, and save what was found.",
       .arity = Arity::kNone},
      {.names = {"--report"}, .help = "Save a report on the tuning as text.", .metavar = "FILE"},
  };
}

/// The registries, with the additions of --plugin-libraries. A failing library gets a warning.
Registries registries_with_libraries(const CommandContext& context) {
  const ParsedArgs& args = context.args();
  Registries all;
  for (const auto& module : context.registries().extensions) add_extension(module, all);
  for (const std::string& file : args.list("--python-plugins").value_or(std::vector<std::string>())) {
    std::error_code ec;
    if (!fs::exists(file, ec))
      log::warning("  Plugin file not found: {}", file);
    else
      log::warning(
          "  {} is not imported: the engine runs no operators in Python. Give it the operator in an "
          "extension module "
          "(assay template extension) with --plugin-libraries.",
          file);
  }
  const auto libraries = args.list("--plugin-libraries");
  if (libraries) log::info("Loading plugin libraries...");
  for (const std::string& file : libraries.value_or(std::vector<std::string>())) {
    std::error_code ec;
    if (!fs::exists(file, ec)) {
      log::warning("  Library not found: {}", file);
      continue;
    }
    const extension::Candidate candidate{.path = fs::absolute(file).string(), .from = "--extension"};
    try {
      load_extensions(all, {&candidate, 1});
      log::info("  Loaded: {}", fs::path(file).filename().string());
    } catch (const Error& e) {
      log::warning("  Failed to load {}: {}", file, e.what());
    }
  }
  return all;
}

std::vector<PluginMatches> matches(const ParsedArgs& args, const std::string& path,
                                   const Registries& registries) {
  std::string config;
  if (const auto given = args.text("--load-config-yaml")) {
    config = *given;
  } else {
    config = args.has("--save-config-yaml") ? args.text("--save-config-yaml").value_or("config.yaml")
                                            : plugin_config_beside(path);
    check_output_file(config);
    save_plugin_matches(find_plugin_matches(args, path, registries), config);
  }
  log::info("Loading plugin config from {}", config);
  std::vector<PluginMatches> plugins = load_plugin_config(config);
  const auto is_left_out = [&](const PluginMatches& plugin) {
    const auto names = [&](const char* option) {
      return args.list(option).value_or(std::vector<std::string>());
    };
    const auto has = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), plugin.name) != list.end();
    };
    return (args.has("--include") && !has(names("--include"))) || has(names("--exclude"));
  };
  std::erase_if(plugins, is_left_out);
  return plugins;
}

/// Plugins whose pattern.py replaces by a function of its own: it is called for every set that is tried.
std::map<std::string, bench::OwnReplacement> own_replacements(const ParsedArgs& args,
                                                              const std::vector<PluginMatches>& plugins,
                                                              const Registries& registries) {
  std::map<std::string, bench::OwnReplacement> all;
  for (const PluginMatches& plugin : plugins)
    if (const std::shared_ptr<script::PluginScript> script = own_replacement(args, plugin.name))
      all[plugin.name] = [script, &registries](const Model& model, const PluginMatches& part) {
        script::PluginScript::Replaced replaced = replace_by_script(*script, model, part, registries);
        require(replaced.count == static_cast<int64_t>(part.instances.size()), ErrorCode::kInvalidArgument,
                "replace_with_plugin of the plugin {} replaced {} of {} instances", part.name, replaced.count,
                part.instances.size());
        return std::move(replaced.model);
      };
  return all;
}

bench::ShapeSet shapes_of(const std::vector<InputShape>& given) {
  bench::ShapeSet set;
  for (const InputShape& shape : given) {
    bench::InputExtents extents{.name = shape.name, .extents = {}};
    for (const Dim& d : shape.dims)
      if (d.is_known()) extents.extents.push_back(d.value());
    require(extents.extents.size() == shape.dims.size(), ErrorCode::kInvalidArgument,
            "--input-shapes: the shape of '{}' must be known to the last extent, since the network is run "
            "with it",
            shape.name);
    set.push_back(std::move(extents));
  }
  return set;
}

bench::SearchOptions read_search_options(const ParsedArgs& args) {
  bench::SearchOptions options;
  if (args.text("--autotune-mode").value_or("greedy") == "exhaustive")
    options.mode = bench::SearchMode::kExhaustive;
  if (const auto most = args.integer("--max-combinations"))
    options.most_combinations = static_cast<size_t>(require_at_least("--max-combinations", *most, 1));
  options.threshold = args.number("--threshold").value_or(options.threshold);
  return options;
}

/// The lines of a tuning.
class AutotuneRenderer final : public bench::AutotuneObserver {
 public:
  AutotuneRenderer(bench::SearchMode mode, size_t instances) : mode_(mode), instances_(instances) {}

  void on_input_note(const std::string& sentence) override { log::warning("{}", sentence); }
  void on_baseline(const bench::Performance& performance) override {
    log::info("Baseline Performance (without plugin replacements): {}", performance.text());
    if (mode_ == bench::SearchMode::kGreedy)
      log::info("Starting greedy optimization with {} subgraph patterns", instances_);
  }
  void on_decision(const bench::TunedInstance& instance, bool is_replaced,
                   const bench::Performance& performance) override {
    progress_.clear();
    log::info("Decided {} {}: {}", is_replaced ? "to replace" : "not to replace", instance.name,
              performance.text());
  }
  void on_best(size_t number, const bench::Performance& performance) override {
    progress_.clear();
    log::info("New best strategy found (combination {}): {}", number, performance.text());
  }
  void on_difference(double difference) override {
    log::warning(
        "With it the outputs differ from the unchanged network's by up to {:.3g} of their largest "
        "magnitude. Compare the saved model before you use it: assay run --ref.",
        difference);
  }
  void on_failure(const std::vector<std::string>& names, const std::string& reason) override {
    progress_.clear();
    log::warning("Failed to test replacement for {}: {}", fmt::join(names, ", "), reason);
  }
  void on_progress(size_t done, size_t most) override {
    progress_.show(fmt::format("timing network {} of {}", done + 1, most));
  }
  void on_end(const bench::SearchResult& result) override {
    progress_.clear();
    if (!result.is_complete)
      log::info(
          "Not all sets of replacements were tried: {} were, as --max-combinations and --threshold ask for.",
          result.tested);
  }

 private:
  bench::SearchMode mode_;
  size_t instances_;
  ProgressLine progress_;
};

std::shared_ptr<TimingCache> open_cache(const ParsedArgs& args, const Runtime& runtime) {
  if (args.has("--no-timing-cache")) return nullptr;
  auto cache = std::make_shared<TimingCache>(runtime.timing_environment());
  std::error_code ec;
  if (const auto path = args.text("--timing-cache"); path && fs::exists(*path, ec)) cache->load(*path);
  return cache;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions given = read_model_options(args);
  const ModelSaveOptions save = read_onnx_save_options(args, kOutputOption);
  context.announce();
  const Registries registries = registries_with_libraries(context);
  const std::vector<PluginMatches> plugins = matches(args, given.path, registries);
  if (args.has("--skip-autotuning")) return 0;

  const std::shared_ptr<Model> model = load_plugin_model(args, given.path, registries);
  const std::vector<bench::TunedInstance> instances =
      bench::instances_of(plugins, own_replacements(args, plugins, registries));
  if (instances.empty())
    log::critical(ErrorCode::kNotFound, "No optimization strategy found: no plugin matches anything in {}.",
                  given.path);
  const Runtime runtime(registries.for_runtime());
  const bench::AutotuneOptions options{.search = read_search_options(args),
                                       .shapes = shapes_of(given.input_shapes),
                                       .cache = open_cache(args, runtime)};
  AutotuneRenderer renderer(options.search.mode, instances.size());
  const bench::AutotuneReport report = bench::autotune(runtime, model, instances, options, renderer);
  const auto save_cache = [&] {
    if (const auto path = args.text("--timing-cache"); path && options.cache != nullptr)
      options.cache->save(*path);
  };
  if (report.model == nullptr) {
    save_cache();
    log::critical(ErrorCode::kInvalidArgument,
                  "No optimization strategy found: with none of the {} replacements was the network "
                  "measurably faster. Nothing is "
                  "saved.",
                  instances.size());
  }
  log::info("Best strategy: {} replacements", report.search.best.size());
  save_onnx_model(*report.model, save);
  log::info("Optimized model saved to: {}", save.path);
  if (const auto path = args.text("--report")) {
    AtomicFile file(*path);
    file.write(bench::autotune_text(report, instances));
    file.commit();
    log::info("Optimization report saved to: {}", *path);
  }
  save_cache();
  log::finish("Optimization completed successfully!");
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "autotune",
    .summary = "Replace what plugins make faster.",
    .description =
        "Finds the subgraphs that plugins can replace, builds engines with and without them, times these in "
        "turns, and saves the "
        "model with the replacements that make it faster. A replacement counts as faster when it is in so "
        "many parts of the measurement that chance is no explanation; where that is open, the measurement "
        "goes on.",
    .add_options = add_options,
    .run = run,
    .traces = true,
};

}  // namespace assay::cli::command_plugin_autotune
