#include "cli/run_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/log_format.h"
#include "cli/options/comparator.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/extensions.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/run_part.h"
#include "cli/values.h"
#include "poly/run_parts.h"

namespace assay::cli {
namespace {

using poly::RunPart;
using poly::RunSettings;

const char* level_name(log::Severity severity) {
  switch (severity) {
    case log::Severity::kUltraVerbose:
      return "ULTRA_VERBOSE";
    case log::Severity::kSuperVerbose:
      return "SUPER_VERBOSE";
    case log::Severity::kExtraVerbose:
      return "EXTRA_VERBOSE";
    case log::Severity::kVerbose:
      return "VERBOSE";
    case log::Severity::kInfo:
      return "INFO";
    case log::Severity::kStart:
      return "START";
    case log::Severity::kFinish:
      return "FINISH";
    case log::Severity::kWarning:
      return "WARNING";
    case log::Severity::kError:
      return "ERROR";
    case log::Severity::kCritical:
      return "CRITICAL";
  }
  fail(ErrorCode::kInternal, "a severity without a name");
}

std::vector<std::string> verbosity_of(const ParsedArgs& args) {
  if (args.has("--silent")) return {"CRITICAL"};
  std::vector<std::string> levels;
  if (args.has("-v") || args.has("-q"))
    levels.emplace_back(level_name(log::severity_from_counts(args.count("-v"), args.count("-q"))));
  for (const std::string& value : args.list("--verbosity").value_or(std::vector<std::string>()))
    levels.push_back(value);
  return levels;
}

}  // namespace

void read_log_settings(const ParsedArgs& args, RunSettings& settings) {
  read_run_part(args, RunPart::kProcess, settings);
  if (!args.declares("--log-file")) return;
  poly::RunLog log{.verbosity = verbosity_of(args)};
  bool is_given = !log.verbosity.empty();
  for (const std::string& format : args.list("--log-format").value_or(std::vector<std::string>())) {
    is_given = true;
    log.timestamp = log.timestamp || format == "timestamp";
    log.line_info = log.line_info || format == "line-info";
    log.colors = log.colors && format != "no-colors";
  }
  log.file = args.text("--log-file").value_or("");
  if (is_given || !log.file.empty()) settings.log = std::move(log);
}

void read_session_settings(const ParsedArgs& args, RunSettings& settings) {
  read_run_part(args, RunPart::kSession, settings);
  if (const auto threads = args.integer("--threads"))
    settings.session.threads =
        static_cast<int>(std::min<int64_t>(require_at_least("--threads", *threads, 1), 4096));
  settings.session.graph_optimization_level = read_graph_optimization_level(args);
}

RunSettings read_run_settings(const ParsedArgs& args, bool as_upstream, const Registries& registries,
                              const poly::ModelEdits& edits) {
  RunSettings settings;
  read_log_settings(args, settings);
  read_session_settings(args, settings);
  const ModelOptions given = read_model_options(args, Plans::kAndForeign);
  read_engine_settings(args, as_upstream, *registries.tactics, settings);
  read_data_settings(args, settings);
  settings.runners = read_runners(args, registries.backends, registries.plugins);
  read_model_settings(args, given, settings);
  read_module_settings(args, registries, settings.extensions);
  read_run_part(args, RunPart::kOrder, settings);
  read_run_part(args, RunPart::kOutput, settings);
  ModelLoaderOptions model = poly::model_loader_options(settings.model);
  model.import.ops = registries.ops;
  model.edits = edits;
  read_comparison_settings(args, model, registries, settings);
  return settings;
}

}  // namespace assay::cli
