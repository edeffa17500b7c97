// What a run is asked to do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/arbiter.h"
#include "compare/accuracy.h"
#include "compare/postprocess.h"
#include "run/data_loader.h"
#include "run/data_source.h"
#include "run/model_loader.h"
#include "run/runner.h"

namespace assay {

struct RunOptions {
  std::vector<RunnerChoice> runners;  ///< in order; may be empty when only saved outputs are compared
  SessionOptions session;
  ModelLoaderOptions model;  ///< an empty path: no model was given

  DataLoaderOptions data;
  std::vector<std::string> load_inputs;  ///< files and folders that replace `data`
  std::shared_ptr<DataSource> source;    ///< replaces both; used up by the run

  /// A path with an extension is one file, one without a folder with a file per iteration. Empty: nothing is
  /// saved.
  std::string save_inputs, save_outputs;
  /// Folder for the raw bytes of each input tensor: ITERATION/NAME.bin. Empty: they are not saved.
  std::string save_input_blobs;

  /// One runner after the other, all iterations of each, instead of all runners in each iteration.
  bool sequential_runners = false;
  int64_t warm_up = 0;                    ///< runs that do not count; only with sequential_runners
  bool use_subprocess = false;            ///< the same
  std::vector<std::string> load_outputs;  ///< files and folders whose results join those of the runners

  std::shared_ptr<const Postprocess> postprocess;  ///< null: none
  std::vector<std::shared_ptr<const Comparison>> functions;
  bool fail_fast = false;
  bool check_average = false;  ///< the mean of each metric over the iterations decides
  bool validate = false;
  std::string save_accuracy_results;  ///< JSON; empty: not saved

  bool arbitrate = false;  ///< tell who is right, against the float64 reference
  ArbiterOptions arbiter;
  std::string save_verdict;  ///< JSON; empty: not saved
  /// The types that engines compute in where runners build them (BackendInfo::builds_engines), with their
  /// scales as soon as one has been built; null: as the model says.
  std::shared_ptr<const NarrowTypes> asked;
  bool trace = true;     ///< run again with every layer marked where an output seems wrong
  bool partial = false;  ///< saved results may lack outputs and iterations, and hold others
  /// The user chose how outputs are compared. If not, and with `arbitrate`, the verdict alone decides: the
  /// built-in tolerances know nothing of the network.
  bool comparison_chosen = false;

  Aggregation aggregation() const { return check_average ? Aggregation::kAverage : Aggregation::kPerSample; }
};

}  // namespace assay
