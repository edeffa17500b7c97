#include "base/log_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "assay/error.h"
#include "base/visible_text.h"

namespace assay::log {
namespace {

struct SeverityTraits {
  Severity severity;
  std::string_view name;
  char letter;
  int color;  ///< in the 256-colour table of terminals; -1: none
};
constexpr std::array<SeverityTraits, 10> kSeverities{{
    {Severity::kUltraVerbose, "ULTRA_VERBOSE", 'U', 8},
    {Severity::kSuperVerbose, "SUPER_VERBOSE", 'S', 126},
    {Severity::kExtraVerbose, "EXTRA_VERBOSE", 'X', 104},
    {Severity::kVerbose, "VERBOSE", 'V', 13},
    {Severity::kInfo, "INFO", 'I', -1},
    {Severity::kStart, "START", 'I', 14},
    {Severity::kFinish, "FINISH", 'I', 10},
    {Severity::kWarning, "WARNING", 'W', 11},
    {Severity::kError, "ERROR", 'E', 9},
    {Severity::kCritical, "CRITICAL", '!', 9},
}};

const SeverityTraits& traits(Severity severity) {
  for (const SeverityTraits& t : kSeverities)
    if (t.severity == severity) return t;
  return kSeverities[4];
}

/// Bytes of the line break at the beginning of `text`; 0 if there is none.
size_t line_break(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c == '\r') return text.substr(0, 2) == "\r\n" ? 2 : 1;
  if (c == '\n' || c == '\v' || c == '\f' || (c >= 0x1c && c <= 0x1e)) return 1;
  if (text.substr(0, 2) == "\xc2\x85") return 2;
  const std::string_view three = text.substr(0, 3);
  return three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9" ? 3 : 0;
}

std::string render(const Prefix& prefix) {
  std::string text = fmt::format("[{}] ", traits(prefix.severity).letter);
  if (prefix.time) {
    std::tm local{};
    localtime_r(&*prefix.time, &local);
    char clock[64];
    text.append("(").append(clock, std::strftime(clock, sizeof clock, "%X", &local)).append(") ");
  }
  if (prefix.where)
    text += fmt::format("[{}:{}] ", source_path(prefix.where->file_name()), prefix.where->line());
  return text;
}

/// True when `path` is `folder` or is below it.
bool lies_below(std::string_view path, std::string_view folder) {
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Maps our sources to Polygraphy's, so that its command lines select the same messages.
struct UpstreamPlace {
  std::string_view ours;  ///< the beginning of a path below src/
  std::string_view theirs;
};
constexpr UpstreamPlace kUpstreamPlaces[] = {
    {"backends/engine", "backend/trt/loader.py"},
    {"backends/onnxrt", "backend/onnxrt/loader.py"},
    {"backends/reference", "backend/pluginref/runner.py"},
    {"run/model_loader", "backend/onnx/loader.py"},
    {"run/model_saver", "backend/onnx/loader.py"},
    {"run/observed_types", "tools/args/backend/onnx/loader.py"},
    {"run/runner", "backend/base/runner.py"},
    {"run/data_loader", "comparator/data_loader.py"},
    {"run/loader_cache", "comparator/data_loader.py"},
    {"run/", "comparator/comparator.py"},
    {"compare/accuracy", "comparator/comparator.py"},
    {"compare/", "comparator/compare.py"},
    {"console/comparison_text", "comparator/compare.py"},
    {"console/text_renderer", "comparator/comparator.py"},
    {"view/", "comparator/util.py"},
    {"graph/", "backend/onnx/loader.py"},
    {"onnx/", "backend/onnx/loader.py"},
    {"passes/", "backend/onnx/loader.py"},
    {"ops/", "backend/onnx/loader.py"},
    {"engine/", "backend/trt/loader.py"},
    {"reference/", "backend/pluginref/runner.py"},
    {"surgeon/", "tools/surgeon"},
    {"inspect/", "tools/inspect"},
    {"lint/", "tools/check/subtool/lint.py"},
    {"plugin/", "tools/plugin"},
    {"cli/options/onnx_model", "backend/onnx/loader.py"},
    {"cli/cmd_run", "tools/run"},
    {"cli/cmd_surgeon", "tools/surgeon"},
    {"cli/model_editing", "tools/surgeon"},
    {"cli/cmd_inspect", "tools/inspect"},
    {"cli/cmd_check", "tools/check"},
    {"cli/cmd_plugin", "tools/plugin"},
    {"cli/cmd_data", "tools/data"},
    {"cli/cmd_template", "tools/template"},
    {"cli/", "tools"},
};

/// Empty without a counterpart in upstream.
std::string_view upstream_path(std::string_view path) {
  for (const UpstreamPlace& place : kUpstreamPlaces)
    if (path.starts_with(place.ours)) return place.theirs;
  return {};
}

std::string_view without_slashes(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

std::string layout(const Prefix& prefix, int indentation, std::string_view text) {
  std::string out = render(prefix);
  const std::string tab(static_cast<size_t>(std::max(indentation, 0)) * 4, ' ');
  const std::string new_line = "\n" + tab + std::string(out.size(), ' ');
  out += tab;
  for (size_t from = 0, at = 0; at <= text.size();) {
    const size_t bytes = at < text.size() ? line_break(text.substr(at)) : 1;
    if (bytes == 0) {
      ++at;
      continue;
    }
    out += visible_text(text.substr(from, at - from), Lines::kOne);
    from = at += bytes;
    if (at < text.size()) out += new_line;
  }
  return out;
}

std::string colored(Severity severity, std::string_view lines) {
  const int color = traits(severity).color;
  if (color < 0) return std::string(lines);
  return fmt::format("\x1b[38;5;{}m{}\x1b[0m\n", color, lines.substr(0, lines.size() - 1));
}

std::string_view source_path(std::string_view file) {
  // Compilers name a file as the command line does, whole or from the build's folder.
  constexpr std::string_view kFolder = "src/";
  const size_t at = file.rfind(kFolder);
  const bool is_below = at != std::string_view::npos && (at == 0 || file[at - 1] == '/');
  return is_below ? file.substr(at + kFolder.size()) : file;
}

Severity threshold_for(const Config& config, std::string_view file) {
  Severity found = config.threshold;
  size_t longest = 0;
  const std::string_view path = config.path_thresholds.empty() ? file : source_path(file);
  const std::string_view theirs = config.path_thresholds.empty() ? std::string_view() : upstream_path(path);
  for (const auto& [entry, severity] : config.path_thresholds) {
    const std::string_view folder = without_slashes(entry);
    if (folder.size() < longest || (!lies_below(path, folder) && !lies_below(theirs, folder))) continue;
    longest = folder.size();
    found = severity;
  }
  return found;
}

bool is_source_path(std::string_view path) {
  static constexpr std::string_view kFiles[] = {
#include <source_paths.inc>
  };
  const std::string_view wanted = without_slashes(path);
  return std::any_of(std::begin(kFiles), std::end(kFiles), [&](std::string_view file) {
    return lies_below(file, wanted) || lies_below(upstream_path(file), wanted);
  });
}

Severity severity_from_counts(int verbose, int quiet) {
  const int level = verbose - quiet;
  if (level < -4) return Severity::kCritical;
  constexpr std::array<Severity, 9> kLevels = {
      Severity::kError,        Severity::kWarning,      Severity::kFinish,
      Severity::kStart,        Severity::kInfo,         Severity::kVerbose,
      Severity::kExtraVerbose, Severity::kSuperVerbose, Severity::kUltraVerbose};
  return kLevels[static_cast<size_t>(std::min(level, 4) + 4)];
}

std::optional<Severity> severity_from_name(std::string_view name) {
  for (const SeverityTraits& t : kSeverities)
    if (std::equal(name.begin(), name.end(), t.name.begin(), t.name.end(),
                   [](unsigned char a, char b) { return std::toupper(a) == b; }))
      return t.severity;
  return std::nullopt;
}

void add_verbosity(Config& config, std::string_view value) {
  const size_t colon = value.rfind(':');
  const std::string_view name = colon == std::string_view::npos ? value : value.substr(colon + 1);
  const std::optional<Severity> severity = severity_from_name(name);
  if (!severity) {
    std::string known;
    for (const SeverityTraits& t : kSeverities) known.append(known.empty() ? "" : ", ").append(t.name);
    fail(ErrorCode::kInvalidArgument, "'{}' is not a log level; the levels are {}", name, known);
  }
  const std::string_view path =
      colon == std::string_view::npos ? "" : without_slashes(value.substr(0, colon));
  if (path.empty())
    config.threshold = *severity;
  else
    config.path_thresholds.emplace_back(path, *severity);
}

}  // namespace assay::log
