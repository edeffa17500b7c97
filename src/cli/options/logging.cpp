#include "cli/options/logging.h"

#include <algorithm>

#include "base/guess.h"
#include "base/held_error.h"
#include "base/log.h"
#include "base/log_format.h"
#include "poly/run_table.h"

namespace assay::cli {

void add_logging_options(ArgParser& parser) {
  OptionGroup& group = parser.add_group("Logging");
  group.options = poly::options_of("Logging");
  group.options.push_back({.names = {"--strict"},
                           .help =
                               "What would be guessed with a warning, such as the shape of an input or which "
                               "outputs belong together, is an error.",
                           .arity = Arity::kNone});
}

void apply_logging_options(const ParsedArgs& args) {
  if (!args.declares("--log-file")) return;
  log::Config config;
  config.threshold = log::severity_from_counts(args.count("-v"), args.count("-q"));
  for (const std::string& value : args.list("--verbosity").value_or(std::vector<std::string>{}))
    log::add_verbosity(config, value);
  if (args.has("--silent")) {
    config.threshold = log::Severity::kCritical;
    config.path_thresholds.clear();
  }
  log::hold_errors(args.has("--silent") && !args.is_upstream());
  diag::refuse_guesses(args.declares("--strict") && args.has("--strict"));
  const auto formats = args.list("--log-format").value_or(std::vector<std::string>{});
  const auto wants = [&](const char* name) {
    return std::find(formats.begin(), formats.end(), name) != formats.end();
  };
  config.timestamp = wants("timestamp");
  config.line_info = wants("line-info");
  config.colors = !wants("no-colors");
  config.file = args.text("--log-file").value_or("");
  std::vector<std::string> unknown;
  for (const auto& [path, severity] : config.path_thresholds)
    if (!log::is_source_path(path)) unknown.push_back(path);
  log::configure(std::move(config));
  for (const std::string& path : unknown)
    log::warning(
        "--verbosity: no message comes from '{}'. A path is a folder or file below src/ (backends, "
        "backends/onnxrt.cpp), or Polygraphy's (backend/onnxrt).",
        path);
}

}  // namespace assay::cli
