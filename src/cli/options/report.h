// What a command reports besides its lines: files for other programs, and conditions under which it fails.
#pragma once

#include <string>
#include <vector>

#include "base/junit.h"
#include "cli/args.h"
#include "cli/thresholds.h"

namespace assay::cli {

/// --junit, and --fail-if with `names`, unless there are none.
std::vector<Option> report_options(std::span<const std::string_view> names);

/// Reads them, and writes what was found.
class TestReport {
 public:
  /// `suite`: the command. Throws Error for a condition that is none.
  TestReport(const ParsedArgs& args, std::string suite, std::span<const std::string_view> names);

  const Thresholds& thresholds() const { return thresholds_; }
  void add(TestResult result) { results_.push_back(std::move(result)); }
  /// Holds what was measured of `group` and `name` against the conditions; logs a line for each that is
  /// reached. False when there is one.
  bool check(const std::string& group, const std::string& name, const Measured& measured);
  /// Writes the file, if one is wanted.
  void save() const;

 private:
  std::string suite_, path_;
  Thresholds thresholds_;
  std::vector<TestResult> results_;
};

}  // namespace assay::cli
