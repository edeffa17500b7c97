#include "cli/options/data_loader.h"

#include <iterator>

#include "base/log.h"
#include "cli/options/model.h"
#include "cli/run_part.h"
#include "poly/run_parts.h"
#include "poly/run_table.h"
#include "run/script_parts.h"
#include "script/data_script.h"

namespace assay::cli {
namespace {

void warn_about_ignored(const ParsedArgs& args) {
  for (const char* name :
       {"--seed", "--int-min", "--int-max", "--float-min", "--float-max", "--val-range", "--iterations"})
    if (args.has(name))
      log::warning(
          "Argument: '{}' will be ignored since a custom data loader was provided.\n"
          "This argument is only valid when using the default data loader.",
          name);
}

}  // namespace

OptionGroup& add_data_loader_options(ArgParser& parser, const std::string& no_scripts) {
  OptionGroup& group = parser.add_group("Data Loader");
  group.options = poly::options_of("Data Loader");
  for (Option& o : group.options)
    if (!no_scripts.empty() &&
        (o.names.front() == "--data-loader-script" || o.names.front() == "--data-loader-func-name")) {
      o.help.clear();
      o.refusal = no_scripts;
    }
  return group;
}

void add_unused_data_loader_options(ArgParser& parser) { name_nothing(add_data_loader_options(parser)); }

void warn_about_unused_data_options(const ParsedArgs& args, std::string_view what) {
  for (const char* option :
       {"--seed", "--val-range", "--int-min", "--int-max", "--float-min", "--float-max", "--iterations",
        "--data-loader-backend-module", "--load-inputs", "--data-loader-script", "--data-loader-func-name"})
    if (args.has(option)) log::warning("{} has no effect on {}; it is ignored.", option, what);
}

void warn_about_data_options(const ParsedArgs& args) {
  if (args.has("--int-min") || args.has("--int-max") || args.has("--float-min") || args.has("--float-max"))
    log::warning(
        "--int-min/--int-max and --float-min/--float-max is deprecated and will be removed in Polygraphy "
        "0.50.0. Use "
        "--val-range, which allows you to specify per-input data ranges, instead.");
  if (args.text("--data-loader-backend-module") == "torch")
    log::critical(
        ErrorCode::kUnsupported,
        "--data-loader-backend-module torch is not available yet: this build has NumPy's random generator. "
        "Save the inputs elsewhere and load them with --load-inputs.");
  if (args.has("--load-inputs") || args.has("--data-loader-script")) warn_about_ignored(args);
}

void read_data_settings(const ParsedArgs& args, poly::RunSettings& settings) {
  poly::RunData& data = settings.data;
  read_run_part(args, poly::RunPart::kData, settings);
  const auto integer = [&](const char* name) -> std::optional<poly::Number> {
    const auto value = args.integer(name);
    return value ? std::optional<poly::Number>(*value) : std::nullopt;
  };
  const auto number = [&](const char* name) -> std::optional<poly::Number> {
    const auto value = args.number(name);
    return value ? std::optional<poly::Number>(*value) : std::nullopt;
  };
  if (args.has("--int-min") || args.has("--int-max"))
    data.integer_range = poly::RunRange{integer("--int-min"), integer("--int-max")};
  if (args.has("--float-min") || args.has("--float-max"))
    data.float_range = poly::RunRange{number("--float-min"), number("--float-max")};
  data.script =
      script_of(args, "--data-loader-script",
                args.text("--data-loader-func-name").value_or(script::DataScript::kDefaultFunction));
  warn_about_data_options(args);
}

DataOptions read_data_options(const ParsedArgs& args, std::vector<InputShape> shapes) {
  poly::RunSettings settings;
  read_data_settings(args, settings);
  DataOptions options{.random = poly::random_data_options(settings.data),
                      .load_inputs = settings.data.load_inputs};
  options.random.shapes = std::move(shapes);
  if (const char* name = shapes_option(args)) options.random.shapes_option = name;
  if (!settings.data.script.empty())
    options.script = script::parse_reference(settings.data.script, script::DataScript::kDefaultFunction);
  return options;
}

std::function<std::shared_ptr<DataSource>()> calibration_data(const DataOptions& data) {
  if (data.script) return [reference = *data.script] { return script_data(reference); };
  if (!data.load_inputs.empty()) return [paths = data.load_inputs] { return saved_data(paths); };
  return [random = data.random] { return random_data(random); };
}

bool are_drawn(const DataOptions& data) { return data.load_inputs.empty() && !data.script; }

LoaderCache input_cache(const DataOptions& data) {
  if (data.script) return LoaderCache(script_data(*data.script));
  if (data.load_inputs.empty()) return LoaderCache(DataLoader(data.random));
  InputData all;
  for (const std::string& path : data.load_inputs)
    for (const std::string& file : iteration_files(path)) {
      InputData part = load_inputs(file);
      std::move(part.begin(), part.end(), std::back_inserter(all));
    }
  return LoaderCache(std::move(all));
}

}  // namespace assay::cli
