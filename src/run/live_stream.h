// Runners that run in lockstep: all of them in each iteration.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "run/loader_cache.h"
#include "run/observer.h"
#include "run/output_recorder.h"
#include "run/result_stream.h"
#include "run/run_options.h"
#include "run/savers.h"

namespace assay {

/// Activates all runners, then feeds them iteration by iteration, and saves results as requested. Its
/// arguments must outlive it.
class LiveStream {
 public:
  LiveStream(const RunOptions& options, ModelLoader& loader, std::shared_ptr<DataSource> source,
             TensorStore& store, RunObserver& observer);
  const std::vector<Runner>& runners() const { return runners_; }
  /// The data of the iteration that was run last.
  const std::optional<TensorList>& data() const { return data_; }

  /// The next iteration. When there is none, completes the files. Throws Error of the first runner that
  /// fails, after the others have run.
  std::optional<std::vector<IterationResult>> next();
  /// The same as a stream, which must not outlive this.
  std::unique_ptr<ResultStream> results();
  /// Results of the other runners in the iteration in which one failed.
  const std::vector<IterationResult>& survivors() const { return survivors_; }
  /// Completes the files.
  void finish();
  /// The same when another error already ends the run.
  void finish_quietly() noexcept;

 private:
  const RunOptions& options_;
  std::shared_ptr<DataSource> source_;
  TensorStore& store_;
  RunObserver& observer_;
  std::vector<Runner> runners_;
  std::vector<std::unique_ptr<ActiveRunner>> active_;
  std::optional<InputsSaver> inputs_saver_;
  std::optional<BlobSaver> blob_saver_;
  std::optional<OutputsSaver> outputs_saver_;
  std::optional<TensorList> data_;
  std::vector<IterationResult> survivors_;
  int64_t iteration_ = 0;
};

/// Saves results and inputs of sequential runners.
void save_sequential_results(const RunOptions& options, const LoaderCache& cache,
                             const std::vector<std::vector<IterationResult>>& runs, RunObserver& observer);
/// All iterations of files and folders.
InputData load_all_inputs_aloud(const std::vector<std::string>& paths);
/// All iterations of a file or a folder.
RunResults load_all_results_aloud(const std::string& path);

}  // namespace assay
