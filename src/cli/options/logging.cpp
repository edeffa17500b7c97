#include "cli/options/logging.h"

#include <algorithm>

#include "base/log.h"
#include "base/log_format.h"

namespace assay::cli {

void add_logging_options(ArgParser& parser) {
  parser.add_group("Logging").options = {
      {.names = {"-v", "--verbose"}, .help = "Say more. May be repeated.", .arity = Arity::kNone},
      {.names = {"-q", "--quiet"}, .help = "Say less. May be repeated.", .arity = Arity::kNone},
      {.names = {"--verbosity"},
       .help =
           "Level of everything, or of one source folder or file: ULTRA_VERBOSE, SUPER_VERBOSE, "
           "EXTRA_VERBOSE, VERBOSE, INFO, START, FINISH, WARNING, ERROR or CRITICAL. Wins over -v and -q. "
           "A path is one below src/ (backends/onnxrt.cpp), or Polygraphy's (backend/onnxrt).",
       .arity = Arity::kAtLeastOne,
       .metavar = "[PATH:]LEVEL"},
      {.names = {"--silent"}, .help = "Say nothing but what ends the run.", .arity = Arity::kNone},
      {.names = {"--log-format"},
       .help = "Add the time or the source line to each line, or leave out the colours.",
       .arity = Arity::kAtLeastOne,
       .choices = {"timestamp", "line-info", "no-colors"}},
      {.names = {"--log-file"}, .help = "Write the log here too.", .metavar = "FILE"},
  };
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
