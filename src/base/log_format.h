// Which log messages are shown, and how one becomes lines.
#pragma once

#include <ctime>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "base/log_config.h"

namespace assay::log {

/// The prefix before the indentation.
struct Prefix {
  Severity severity = Severity::kInfo;
  std::optional<std::time_t> time;              ///< absent: no timestamp
  const std::source_location* where = nullptr;  ///< null: no file and line
};

/// The whole message without its final newline: prefix, indentation, text, continuation lines. Lines end
/// where Python's str.splitlines ends them; other control characters are shown as \x1b, so that a name in a
/// model cannot drive the terminal.
std::string layout(const Prefix& prefix, int indentation, std::string_view text);

/// Wraps lines (ended by a newline) into the terminal colour of the severity, if it has one.
std::string colored(Severity severity, std::string_view lines);

/// The threshold that `-v` given `verbose` times and `-q` given `quiet` times stand for.
Severity severity_from_counts(int verbose, int quiet);
/// ULTRA_VERBOSE, SUPER_VERBOSE, ..., CRITICAL, in upper or lower case.
std::optional<Severity> severity_from_name(std::string_view name);
/// Applies one value of `--verbosity`: `LEVEL` or `path:LEVEL`. Throws Error (kInvalidArgument) naming the
/// valid ones.
void add_verbosity(Config& config, std::string_view value);

/// The threshold that holds for a source file, given as the compiler names it. The paths of the thresholds
/// are ours or Polygraphy's (backend/onnxrt), which mean the files that say the same.
Severity threshold_for(const Config& config, std::string_view file);

/// True when a source file is at or below the path, which is ours or a corresponding one of Polygraphy.
bool is_source_path(std::string_view path);

/// The file's path relative to src/; other paths unchanged.
std::string_view source_path(std::string_view file);

}  // namespace assay::log
