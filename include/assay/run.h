// A run from end to end, as `assay run` does it: every runner on the same data, one iteration after the other
// in bounded memory; results saved, compared and judged against the float64 reference. `assay run
// --gen-script FILE.cpp` writes a program that fills RunSettings.
//
//   RunSettings run;
//   run.model.path = "model.onnx";
//   run.runners = {{.backend = "engine"}, {.backend = "onnxrt"}};
//   run.compare_funcs = {CompareFunc::simple({.atol = 1e-3})};
//   if (poly::run(run).outcome == RunSummary::Outcome::kPassed) ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/accuracy.h"
#include "assay/api.h"
#include "assay/run_settings.h"

namespace ASSAY_API assay {
namespace poly {

/// The findings of a run.
struct RunSummary {
  enum class Outcome : uint8_t {
    kPassed = 0,
    kFailed = 1,   ///< outputs differ, are invalid or are wrong
    kUnclear = 3,  ///< nothing is wrong, but a verdict is undecided or was not made
  };
  Outcome outcome = Outcome::kPassed;
  std::vector<std::string> runners = {};  ///< names: those that ran, then those whose results were loaded
  int64_t iterations = 0;                 ///< common to all of them
  AccuracyResult accuracy = {};           ///< of the compared ones
  std::vector<std::string> invalid =
      {};  ///< outputs with NaN or infinity, as RUNNER/OUTPUT: the first hundred
  /// Number of occurrences of each verdict, by its name in the JSON of a verdict.
  std::map<std::string, int64_t> verdicts = {};

  /// Exit status, as of `assay run`.
  int exit_status() const { return static_cast<int>(outcome); }
};

/// Runs, with log lines in Polygraphy's format. Throws Error for
/// what ends the run; completed results stay saved. Settings with
/// `data.source` can be run once; calibration reads from a copy of it.
RunSummary run(const RunSettings& settings);

/// The body of main() in a program for one run: `describe` fills the settings, the log begins with RUNNING
/// and the command line, and ends with PASSED or FAILED; an Error is logged in a line. Signals and
/// broken pipes are handled as in `assay`. Returns the exit status. Once per process.
int run_main(int argc, const char* const* argv, const std::function<void(RunSettings&)>& describe);

}  // namespace poly
}  // namespace assay
