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
using poly::RunWords;

/// A given option, and the target of its words.
struct GivenRow {
  const ParsedArgs& args;
  const RunRow& row;

  const std::string& name() const { return row.option.names.front(); }
  std::string text() const { return args.text(name()).value_or(""); }
  std::vector<std::string> words() const { return args.list(name()).value_or(std::vector<std::string>()); }

  int64_t integer() const {
    if (row.words == RunWords::kBytes) return parse_byte_count(text());
    const int64_t value = args.integer(name()).value();
    if (row.most != INT64_MAX && (value < row.least || value > row.most))
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is not between {} and {}.", name(), value, row.least,
                    row.most);
    return require_at_least(name(), value, row.least);
  }
};

// ---- words by the type of the member

void set(const GivenRow& g, bool& member) { member = g.row.words != RunWords::kOffAgain; }
void set(const GivenRow& g, int& member) { member = static_cast<int>(g.integer()); }
void set(const GivenRow& g, int64_t& member) { member = g.integer(); }
void set(const GivenRow& g, size_t& member) { member = static_cast<size_t>(g.integer()); }
void set(const GivenRow& g, std::optional<int64_t>& member) { member = g.integer(); }
void set(const GivenRow& g, double& member) { member = g.args.number(g.name()).value(); }
/// An omitted optional path is the current folder.
void set(const GivenRow& g, std::string& member) {
  member = g.args.text(g.name()).value_or(g.row.option.arity == Arity::kOptional ? "." : "");
}
/// An omitted optional one is empty. The first use applies.
void set(const GivenRow& g, std::optional<std::string>& member) {
  const std::vector<std::string> words = g.args.all(g.name()).front();
  member = words.empty() ? "" : words.front();
}
void set(const GivenRow& g, std::vector<std::string>& member) { member = g.words(); }
void set(const GivenRow& g, std::optional<std::vector<std::string>>& member) { member = g.words(); }
void set(const GivenRow& g, poly::RunShapes& member) {
  member.clear();
  for (const InputShape& s : parse_input_shapes(g.name(), g.words())) member.emplace_back(s.name, s.dims);
}
void set(const GivenRow& g, std::vector<std::pair<std::string, poly::RunRange>>& member) {
  member.clear();
  for (const auto& [name, range] : parse_value_ranges(g.words()))
    member.emplace_back(name, poly::RunRange{run_number(range.low), run_number(range.high)});
}
void set(const GivenRow& g, std::map<std::string, std::string>& member) {
  member.clear();
  for (const std::string& word : g.words()) {
    const size_t equal = word.rfind('=');
    if (equal == std::string::npos)
      log::critical(ErrorCode::kInvalidArgument, "{}: '{}' is not of the form {}.", g.name(), word,
                    g.row.option.metavar);
    member[word.substr(0, equal)] = word.substr(equal + 1);
  }
}
void set(const GivenRow& g, ReferencePrecision& member) {
  member = g.text() == "stored" ? ReferencePrecision::kStored : ReferencePrecision::kFloat64;
}
template <typename T>
void set(const GivenRow& g, T& /*member*/) {
  fail(ErrorCode::kInternal, "the words of {} mean something of their own, and nothing reads them", g.name());
}

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

/// The FILE:FUNCTION of a script option.
std::string script_of(const ParsedArgs& args, const char* option, const std::string& default_function) {
  const auto text = args.text(option);
  return text ? script::parse_reference(*text, default_function).str() : std::string();
}

/// `*` means every tensor.
void read_outputs(const ParsedArgs& args, const char* option, bool& mark_all,
                  std::optional<std::vector<std::string>>& outputs) {
  if (!args.declares(option)) return;
  outputs = args.list(option);
  mark_all = means_all_tensors(outputs);
  if (mark_all) outputs.reset();
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
