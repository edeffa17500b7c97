#include "cli/options/data_loader.h"

#include <iterator>

#include "base/log.h"
#include "cli/options/model.h"
#include "cli/values.h"
#include "run/script_parts.h"
#include "script/data_script.h"

namespace assay::cli {
namespace {

Option deprecated(const char* name, const char* what, ValueKind kind) {
  return {.names = {name},
          .help = std::string("Deprecated, use --val-range: ") + what,
          .metavar = "NUM",
          .kind = kind};
}

std::optional<ValueRange> deprecated_range(std::optional<PythonValue> low, std::optional<PythonValue> high) {
  if (!low && !high) return std::nullopt;
  return ValueRange{std::move(low), std::move(high)};
}

std::optional<PythonValue> integer(const ParsedArgs& args, const char* name) {
  if (const auto v = args.integer(name)) return PythonValue(*v);
  return std::nullopt;
}

std::optional<PythonValue> number(const ParsedArgs& args, const char* name) {
  if (const auto v = args.number(name)) return PythonValue(*v);
  return std::nullopt;
}

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
  group.options = {
      {.names = {"--seed"},
       .help = "Seed of random inputs; default: 1.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--val-range"},
       .help = "Smallest and largest value to generate, for all inputs or for one; default: [0,1].",
       .arity = Arity::kAtLeastOne,
       .metavar = "[INPUT:][MIN,MAX]",
       .names_what = Names::kInputs},
      deprecated("--int-min", "smallest integer.", ValueKind::kInteger),
      deprecated("--int-max", "largest integer.", ValueKind::kInteger),
      deprecated("--float-min", "smallest number.", ValueKind::kNumber),
      deprecated("--float-max", "largest number.", ValueKind::kNumber),
      {.names = {"--iterations", "--iters"},
       .help = "Sets of inputs to generate and to run; default: 1.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--data-loader-backend-module"},
       .help = "Whose random generator to use. This build has NumPy's.",
       .choices = {"numpy", "torch"}},
      {.names = {"--load-inputs", "--load-input-data"},
       .help = "Run on the inputs that these files hold, instead of random ones.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FILE"},
      {.names = {"--data-loader-script"},
       .help = no_scripts.empty()
                   ? "Run on what a function of this script gives (load_data, unless it is named): "
                     "dictionaries from input "
                     "names to arrays, one for each iteration. Python (.py), C++ (.cpp) or a library (.so)."
                   : "",
       .metavar = "FILE[:FUNCTION]",
       .refusal = no_scripts},
      {.names = {"--data-loader-func-name"},
       .help = no_scripts.empty()
                   ? "Deprecated, name it behind the file: the function of --data-loader-script."
                   : "",
       .metavar = "NAME",
       .refusal = no_scripts},
  };
  return group;
}

void add_unused_data_loader_options(ArgParser& parser) { name_nothing(add_data_loader_options(parser)); }

void warn_about_unused_data_options(const ParsedArgs& args, std::string_view what) {
  for (const char* option :
       {"--seed", "--val-range", "--int-min", "--int-max", "--float-min", "--float-max", "--iterations",
        "--data-loader-backend-module", "--load-inputs", "--data-loader-script", "--data-loader-func-name"})
    if (args.has(option)) log::warning("{} has no effect on {}; it is ignored.", option, what);
}

DataOptions read_data_options(const ParsedArgs& args, std::vector<InputShape> shapes) {
  DataOptions options;
  DataLoaderOptions& random = options.random;
  random.shapes = std::move(shapes);
  if (const char* name = shapes_option(args)) random.shapes_option = name;
  random.seed = args.integer("--seed").value_or(1);
  random.iterations = args.integer("--iterations").value_or(1);
  random.integer_range = deprecated_range(integer(args, "--int-min"), integer(args, "--int-max"));
  random.float_range = deprecated_range(number(args, "--float-min"), number(args, "--float-max"));
  if (random.integer_range || random.float_range)
    log::warning(
        "--int-min/--int-max and --float-min/--float-max is deprecated and will be removed in Polygraphy "
        "0.50.0. Use "
        "--val-range, which allows you to specify per-input data ranges, instead.");
  if (const auto ranges = args.list("--val-range")) random.ranges = parse_value_ranges(*ranges);
  if (args.text("--data-loader-backend-module") == "torch")
    log::critical(
        ErrorCode::kUnsupported,
        "--data-loader-backend-module torch is not available yet: this build has NumPy's random generator. "
        "Save the inputs elsewhere and load them with --load-inputs.");
  options.load_inputs = args.list("--load-inputs").value_or(std::vector<std::string>{});
  if (const auto file = args.text("--data-loader-script"))
    options.script = script::parse_reference(
        *file, args.text("--data-loader-func-name").value_or(script::DataScript::kDefaultFunction));
  if (!options.load_inputs.empty() || options.script) warn_about_ignored(args);
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
