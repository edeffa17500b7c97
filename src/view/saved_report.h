// Files that commands save, as a report: verdicts, profiles and traces of engines, measurements, findings,
// differences.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "view/report.h"

namespace assay {

/// The kinds of JSON files that commands of this program save.
enum class SavedKind : uint8_t {
  kVerdict,   ///< run --save-verdict
  kProfile,   ///< bench --export-profile
  kTrace,     ///< bench --export-timeline, and trace events of others
  kBench,     ///< bench --json
  kFindings,  ///< check lint -o
  kDiff,      ///< inspect diff --json
  kResults,   ///< run --save-outputs
};
/// `a verdict`, `results`, ...
std::string_view kind_text(SavedKind kind);

/// By its first keys; nothing for other files.
std::optional<SavedKind> saved_kind(std::string_view text);

/// Adds the file's content to a report. `name` is the file in errors. Of results, see the tensors of the
/// report; they are read by run/results.h. Throws Error (kInvalidArgument) for text that is damaged or is not
/// of that kind.
void add_saved(Report& report, SavedKind kind, std::string_view text, const std::string& name);

}  // namespace assay
