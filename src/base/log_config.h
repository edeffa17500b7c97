// The settings of the log (base/log.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"

namespace assay::log {

using diag::Severity;

/// Selects the messages that are shown, and their form.
struct Config {
  Severity threshold = Severity::kInfo;
  /// Thresholds of single source folders or files ("compare", "backends/onnxrt.cpp"), relative to src/. The
  /// longest match wins, the later one among equals.
  std::vector<std::pair<std::string, Severity>> path_thresholds;
  bool timestamp = false;  ///< `(HH:MM:SS) ` in the prefix
  bool line_info = false;  ///< `[file:line] ` in the prefix
  bool colors = true;      ///< false: no colours, not even on a terminal
  std::string file;        ///< also write every shown line here, without colours; empty: no file
};

}  // namespace assay::log
