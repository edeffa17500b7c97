// What a run found, output by output, over all its iterations: for reports in other programs' formats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "run/observer.h"

namespace assay {

/// An output of two runners under one function; numbers are the worst of all iterations.
struct ComparedRow {
  std::string runner0, runner1, output, function;
  DType dtype = DType::kUndefined;
  Shape shape;
  int64_t iterations = 0, failed = 0;
  double error = 0, relative = 0, mean_error = 0;  ///< absolute and relative; NaN: nothing was measured
  double metric = 0;                               ///< of a function with a number of its own; else NaN
  std::string problem;                             ///< why nothing was measured
};

/// The verdict on an output of a runner: the gravest of all iterations.
struct JudgedRow {
  ArbiterVerdict verdict;
  int64_t iteration = 0;
  double share = 0;  ///< of the runner's final error that the node makes
};

struct RunTables {
  std::vector<ComparedRow> compared;
  std::vector<JudgedRow> judged;

  /// Failed ones first, then by error.
  std::vector<const ComparedRow*> ranked(const std::string& runner0, const std::string& runner1) const;
};

/// Fills the tables from a run's events.
class TableCollector {
 public:
  void begin_iteration(int64_t index) { iteration_ = index; }
  /// `label`: what the log calls the function.
  void add(const OutputComparison& c, const std::string& label);
  void add(const Arbitration& verdict, int64_t iteration);
  const RunTables& tables() const { return tables_; }

 private:
  RunTables tables_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> compared_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> judged_;
  int64_t iteration_ = 0;
};

/// How grave a verdict is: larger is worse.
int gravity(Verdict v);

/// One line for each row of both tables, under one header line. Throws Error (kIo).
void save_tables_csv(const RunTables& tables, const std::string& path);
/// Runners, tables, the outcome. Throws Error (kIo).
void save_tables_json(const RunTables& tables, const RunReport& report, const std::string& command,
                      const std::string& path);

/// passed, failed, unclear.
std::string_view outcome_name(RunOutcome outcome);

}  // namespace assay
