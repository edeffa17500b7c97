// What a conformance run says in the end: what was expected to fail, what failed, and the table.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "run/conformance_suite.h"

namespace assay {

/// The cases that are known not to pass, from a text of lines `TARGET CASE: REASON`. Target and case are
/// patterns with
/// `*` and `?`; lines that begin with # and empty ones count for nothing. The first line that matches
/// decides.
class ConformanceExpectations {
 public:
  struct Entry {
    int line;
    std::string target, test, reason;
  };

  ConformanceExpectations() = default;
  /// Throws Error (kInvalidArgument) naming `name` and the line that has another form.
  ConformanceExpectations(std::string_view text, const std::string& name);

  /// Null when the case must pass.
  const Entry* find(std::string_view target, std::string_view test) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// How outcomes compare with what was expected.
struct ConformanceReport {
  int passed = 0, failed = 0, skipped = 0;
  /// One line each: `FAILED engine node/test_abs: reason`, and passes of cases that were expected to fail.
  std::vector<std::string> problems;
  /// How many cases were skipped, by target and the reason that the expectations give.
  std::map<std::pair<std::string, std::string>, int> reasons;
  /// A row for each opset, one for each operator, and the totals; a column for each target. A case counts in
  /// the row of each opset and operator that it uses. A cell says how many cases passed, and what became of
  /// the others.
  std::string table;

  bool is_good() const { return problems.empty(); }
};

/// Cases that fail as expected count as skipped; expected failures that pass, and entries that match no case
/// although `complete` says that all cases have run, are problems.
ConformanceReport conformance_report(std::span<const ConformanceOutcome> outcomes,
                                     const ConformanceExpectations& expectations, bool complete);

}  // namespace assay
