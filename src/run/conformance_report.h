// The report of a conformance run: expected failures, failures, and the table.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "run/conformance_suite.h"

namespace assay {

/// The known failures, from a text of lines `TARGET CASE: REASON`. Target and case are
/// patterns with
/// `*` and `?`; lines that begin with # and empty
/// ones are ignored. The first matching line applies.
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

/// Comparison of outcomes with expectations.
struct ConformanceReport {
  int passed = 0, failed = 0, skipped = 0;
  /// One line each: `FAILED engine node/test_abs: reason`, and passes of cases that were expected to fail.
  std::vector<std::string> problems;
  /// Number of skipped cases, by target and reason of the expectations.
  std::map<std::pair<std::string, std::string>, int> reasons;
  /// A row for each opset, one for each operator, and the totals; a column for each target. A case counts in
  /// the row of each opset and operator that it uses. A cell has the number of passed cases, and the outcomes
  /// of others.
  std::string table;

  bool is_good() const { return problems.empty(); }
};

/// Cases that fail as expected count as skipped; expected failures that pass, and entries that match no case
/// although `complete` says that all cases have run, are problems.
ConformanceReport conformance_report(std::span<const ConformanceOutcome> outcomes,
                                     const ConformanceExpectations& expectations, bool complete);

}  // namespace assay
