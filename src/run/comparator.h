// `run` from end to end: every runner on the same data, then comparison, validation and the verdict.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "compare/outputs.h"
#include "compare/postprocess.h"
#include "run/data_loader.h"
#include "run/model_loader.h"
#include "run/runner.h"

namespace assay {

struct RunOptions {
  std::vector<RunnerChoice> runners;  ///< in order; may be empty when only saved outputs are compared
  SessionOptions session;
  ModelLoaderOptions model;  ///< an empty path: no model was given

  DataLoaderOptions data;
  std::vector<std::string> load_inputs;  ///< files that replace `data`
  std::string save_inputs;               ///< empty: inputs are not saved

  int64_t warm_up = 0;
  bool use_subprocess = false;
  std::string save_outputs;               ///< empty: outputs are not saved
  std::vector<std::string> load_outputs;  ///< files whose results join those of the runners

  PerOutput<TopK> top_k;  ///< empty: no postprocessing
  std::shared_ptr<const Comparison> comparison;
  bool fail_fast = false;
  bool validate = false;

  bool arbitrate = false;  ///< tell who is right, against the float64 reference
  ArbiterOptions arbiter;
  std::string save_verdict;  ///< JSON; empty: not saved
  bool trace = true;         ///< run again with every layer marked where an output seems wrong
  bool partial = false;      ///< saved results may lack outputs and iterations, and hold others
  /// The user chose how outputs are compared. If not, and with `arbitrate`, the verdict alone decides: the
  /// built-in tolerances know nothing of the network.
  bool comparison_chosen = false;
};

/// How a run ends; the number is the exit code.
enum class RunOutcome : uint8_t {
  kPassed = 0,
  kFailed = 1,   ///< outputs differ, are invalid or are wrong
  kUnclear = 3,  ///< nothing is wrong, but something could not be decided or was not judged
};

/// Does it and logs it. Throws Error for what ends the run.
RunOutcome run_and_compare(const RunOptions& options);

}  // namespace assay
