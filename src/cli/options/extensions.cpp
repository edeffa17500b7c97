#include "cli/options/extensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "cli/options/compare_functions.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

constexpr const char *kExtension = "--extension", *kNoExtensions = "--no-extensions",
                     *kSettings = "--settings";

std::vector<std::string> split(const char* names) {
  std::vector<std::string> list;
  for (std::string_view rest = names; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) list.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return list;
}

Option option_of(const AssayOption& given) {
  AssayOption o{};
  std::memcpy(&o, &given, std::min<uint64_t>(given.size, sizeof o));
  Option option = {.names = split(o.names), .help = o.help != nullptr ? o.help : ""};
  constexpr Arity kArities[] = {Arity::kNone, Arity::kOne, Arity::kOptional, Arity::kAny, Arity::kAtLeastOne};
  constexpr ValueKind kKinds[] = {ValueKind::kText, ValueKind::kInteger, ValueKind::kNumber};
  option.arity = kArities[o.arity];
  option.kind = kKinds[o.kind];
  if (o.metavar != nullptr) option.metavar = o.metavar;
  for (const char* const* choice = o.choices; choice != nullptr && *choice != nullptr; ++choice)
    option.choices.emplace_back(*choice);
  option.required =
      option.is_positional() && (option.arity == Arity::kOne || option.arity == Arity::kAtLeastOne);
  return option;
}

/// The flags that choose a module's loaders.
std::vector<Option> loader_flags(const extension::Extension& module) {
  std::vector<Option> flags;
  for (const AssayLoader& l : module.loaders())
    if (l.option != nullptr)
      flags.push_back({.names = {l.option},
                       .help = fmt::format("{}.", l.summary != nullptr ? l.summary : l.name),
                       .arity = Arity::kNone});
  return flags;
}

class View final : public extension::Args {
 public:
  explicit View(const ParsedArgs& args) : args_(args) {}
  bool has(std::string_view option) const override {
    check(option);
    return args_.has(option);
  }
  std::vector<std::string> words(std::string_view option) const override {
    check(option);
    return args_.list(option).value_or(std::vector<std::string>());
  }

 private:
  void check(std::string_view option) const {
    require(args_.declares(option), ErrorCode::kInvalidArgument, "this command has no option {}", option);
  }
  const ParsedArgs& args_;
};

struct ModuleCommand : Command {
  std::shared_ptr<extension::Extension> owner;
  AssayCommand module{};
};

void add_module_command_options(ArgParser& parser, const Registries&, const Command& command) {
  const auto& own = static_cast<const ModuleCommand&>(command);
  OptionGroup& group = parser.add_group("Options");
  for (uint64_t i = 0; i < own.module.option_count; ++i)
    group.options.push_back(option_of(*own.module.options[i]));
}

int run_module_command(CommandContext& context) {
  const auto& own = static_cast<const ModuleCommand&>(context.command());
  const ExtensionArgs args(context.args(), context.registries());
  return extension::run_command(*own.owner, own.module);
}

}  // namespace

void add_extension_options(ArgParser& parser) {
  parser.add_group("Extensions").options = poly::options_of("Extensions");
}

std::vector<extension::Candidate> extensions_of(std::span<const std::string> words) {
  std::vector<extension::Candidate> named;
  bool searches = true;
  const bool runs = !words.empty() && words[0] == "run";
  const auto add_settings = [&](const std::string& file) {
    for (const std::string& path : poly::load_run_settings(file).extensions.modules) {
      std::error_code ec;
      if (!std::filesystem::exists(path, ec))
        throw Error(ErrorCode::kNotFound,
                    fmt::format("'extensions.modules' names {}, which is not there", path))
            .add_context("in " + file)
            .set_remedy("Correct the settings.");
      named.push_back({.path = path, .from = kExtension});
    }
  };
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kNoExtensions) searches = false;
    if (runs && words[i] == kSettings && i + 1 < words.size()) add_settings(words[i + 1]);
    if (runs && words[i].starts_with(std::string(kSettings) + "="))
      add_settings(words[i].substr(std::string_view(kSettings).size() + 1));
    const std::string start = std::string(kExtension) + "=";
    if (words[i] == kExtension && i + 1 < words.size())
      named.push_back({.path = words[++i], .from = kExtension});
    else if (words[i].starts_with(start))
      named.push_back({.path = words[i].substr(start.size()), .from = kExtension});
  }
  std::vector<extension::Candidate> all =
      searches ? extension::find_extensions() : std::vector<extension::Candidate>();
  // A module that is both found and named is loaded once.
  const auto is_named = [&](const extension::Candidate& found) {
    std::error_code ignored;
    return std::any_of(named.begin(), named.end(), [&](const extension::Candidate& n) {
      return std::filesystem::equivalent(n.path, found.path, ignored);
    });
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_named), all.end());
  all.insert(all.begin(), named.begin(), named.end());
  return all;
}

namespace {

/// Throws Error when the module has an option that `run` has already, of itself or of another module.
void check_extension_options(const extension::Extension& module, const Registries& registries) {
  ArgParser run("assay run", "");
  command_run::def.add_options(run, registries, command_run::def);
  std::vector<Option> added = loader_flags(module);
  for (const AssayRunner& r : module.runners()) added.push_back({.names = {r.option}});
  for (const AssayOptionGroup& g : module.option_groups())
    for (uint64_t i = 0; i < g.option_count; ++i) added.push_back(option_of(*g.options[i]));
  std::vector<std::string> seen;
  for (const Option& o : added)
    for (const std::string& name : o.names) {
      require(!run.has_option(name) && std::find(seen.begin(), seen.end(), name) == seen.end(),
              ErrorCode::kInvalidArgument, "its option {} is there already", name);
      seen.push_back(name);
    }
  std::vector<std::string> comparisons = compare_option(registries.extensions).choices;
  for (const AssayComparison& c : module.comparisons()) {
    require(std::find(comparisons.begin(), comparisons.end(), c.name) == comparisons.end(),
            ErrorCode::kInvalidArgument, "its comparison function {} is there already", c.name);
    comparisons.emplace_back(c.name);
  }
  std::vector<std::string> postprocesses = extension::postprocess_names(registries.extensions);
  for (const AssayPostprocess& p : module.postprocesses()) {
    require(!std::string_view(p.name).starts_with("top-") &&
                std::find(postprocesses.begin(), postprocesses.end(), p.name) == postprocesses.end(),
            ErrorCode::kInvalidArgument, "its post-processing function {} is there already", p.name);
    postprocesses.emplace_back(p.name);
  }
}

void add_extension_commands(const std::shared_ptr<extension::Extension>& module, CommandSet& commands) {
  for (const AssayCommand& c : module->commands()) {
    auto command = std::make_shared<ModuleCommand>();
    command->name = c.name;
    command->summary = c.summary != nullptr ? c.summary : "";
    command->description = c.description != nullptr ? c.description : command->summary;
    command->add_options = OptionAdder(add_module_command_options);
    command->run = run_module_command;
    command->owner = module;
    command->module = c;
    commands.add(*command, command);
  }
}

}  // namespace

void add_extension(const std::shared_ptr<extension::Extension>& module, Registries& registries) {
  Registries changed = registries;
  changed.extension::Registries::add(module);
  with_context([&] { return extension::place_of(*module); },
               [&] {
                 add_extension_commands(module, changed.commands);
                 check_extension_options(*module, registries);
               });
  registries = std::move(changed);
}

std::vector<std::string> load_extensions(Registries& registries,
                                         std::span<const extension::Candidate> candidates) {
  std::vector<std::string> left_out;
  for (const extension::Candidate& c : candidates) {
    const bool is_loaded = std::any_of(registries.extensions.begin(), registries.extensions.end(),
                                       [&](const auto& e) { return e->info().path == c.path; });
    if (is_loaded) continue;
    try {
      add_extension(extension::Extension::load(c.path), registries);
    } catch (const Error& e) {
      if (c.from == kExtension) throw;
      left_out.push_back(fmt::format("An extension is left out: {}", e.what()));
    }
  }
  return left_out;
}

void add_module_options(ArgParser& parser, const Registries& registries) {
  for (const auto& module : registries.extensions) {
    if (std::vector<Option> flags = loader_flags(*module); !flags.empty())
      parser.add_group(fmt::format("Loaders of the extension {}", module->info().name)).options =
          std::move(flags);
    for (const AssayOptionGroup& g : module->option_groups()) {
      OptionGroup& group = parser.add_group(g.title, g.description != nullptr ? g.description : "");
      for (uint64_t i = 0; i < g.option_count; ++i) group.options.push_back(option_of(*g.options[i]));
    }
  }
}

bool is_module_option(const Registries& registries, std::string_view name) {
  ArgParser modules("", "");
  add_module_options(modules, registries);
  return modules.has_option(name);
}

namespace {

/// A module that only adds runners takes part when one of them, or one of its options, is given.
bool takes_part(const extension::Extension& module, const ParsedArgs& args) {
  if (!module.operators().empty() || !module.passes().empty() || !module.tactics().empty() ||
      !module.loaders().empty() || !module.postprocesses().empty() || !module.comparisons().empty())
    return true;
  std::vector<std::string> names;
  for (const AssayRunner& r : module.runners()) names.emplace_back(r.option);
  for (const AssayOptionGroup& g : module.option_groups())
    for (uint64_t i = 0; i < g.option_count; ++i)
      for (std::string& name : split(g.options[i]->names)) names.push_back(std::move(name));
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return args.declares(name) && args.has(name); });
}

}  // namespace

void read_module_settings(const ParsedArgs& args, const Registries& registries,
                          poly::RunExtensions& settings) {
  for (const auto& module : registries.extensions)
    if (takes_part(*module, args)) settings.modules.push_back(module->info().path);
  for (const GivenOption& given : args.occurrences())
    if (is_module_option(registries, given.name)) settings.options.emplace_back(given.name, given.words);
}

ExtensionArgs::ExtensionArgs(const ParsedArgs& args, const Registries& registries)
    : view_(std::make_unique<View>(args)), args_(args), registries_(registries) {
  for (const auto& module : registries_.extensions) module->set_args(view_.get());
}
ExtensionArgs::~ExtensionArgs() {
  for (const auto& module : registries_.extensions) module->set_args(nullptr);
}

void ExtensionArgs::validate() const {
  for (const auto& module : registries_.extensions)
    for (const AssayOptionGroup& g : module->option_groups()) extension::validate_options(*module, g);
}

std::vector<std::function<void(const std::shared_ptr<Model>&)>> ExtensionArgs::model_edits() const {
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> edits;
  for (const auto& module : registries_.extensions)
    for (const AssayLoader& l : module->loaders())
      if (l.option != nullptr && args_.has(l.option))
        edits.emplace_back([module, &l](const std::shared_ptr<Model>& model) {
          extension::apply_loader(*module, l, model);
        });
  return edits;
}

}  // namespace assay::cli
