// `run` from end to end: every runner on the same data, then comparison, validation and the verdict.
#pragma once

#include "run/observer.h"
#include "run/run_options.h"

namespace assay {

struct RunOptions {
  std::vector<RunnerChoice> runners;  ///< in order; may be empty when only saved outputs are compared
  SessionOptions session;
  ModelLoaderOptions model;  ///< an empty path: no model was given

  DataLoaderOptions data;
  std::vector<std::string> load_inputs;  ///< files and folders that replace `data`
  std::shared_ptr<DataSource> source;    ///< replaces both; used up by the run

  /// A path with an extension is one file; one without is a folder with a file per iteration. Empty: not
  /// saved.
  std::string save_inputs, save_outputs;
  /// Folder for the raw bytes of each input tensor: ITERATION/NAME.bin. Empty: they are not saved.
  std::string save_input_blobs;

  /// One runner after the other, all iterations of each, instead of all runners in each iteration.
  bool sequential_runners = false;
  int64_t warm_up = 0;                    ///< warm-up runs; only with sequential_runners
  bool use_subprocess = false;            ///< the same
  std::vector<std::string> load_outputs;  ///< files and folders whose results join those of the runners

  std::shared_ptr<const Postprocess> postprocess;  ///< null: none
  std::vector<std::shared_ptr<const Comparison>> functions;
  bool fail_fast = false;
  bool check_average = false;  ///< the mean of each metric over the iterations decides
  bool validate = false;
  std::string save_accuracy_results;  ///< JSON; empty: not saved

  bool arbitrate = false;  ///< give a verdict against the float64 reference
  ArbiterOptions arbiter;
  std::string save_verdict;  ///< JSON; empty: not saved
  /// The computation types of engines that runners build (BackendInfo::builds_engines), with their scales as
  /// soon as one has been built; null: those of the model.
  std::shared_ptr<const NarrowTypes> asked;
  bool trace = true;     ///< run again with every layer marked where an output seems wrong
  bool partial = false;  ///< saved results may lack outputs and iterations, and hold others
  /// The user configured the comparison. If not, and with `arbitrate`, only the verdict decides: the default
  /// tolerances are not adapted to the network.
  bool comparison_chosen = false;

  Aggregation aggregation() const { return check_average ? Aggregation::kAverage : Aggregation::kPerSample; }
};

/// Throws Error for contradictory options. Also called by run().
void check_options(const RunOptions& options);

/// Throws Error for what ends the run. Completed results stay saved.
RunReport run(const RunOptions& options, RunObserver& observer);

}  // namespace assay
