// --use-subprocess: a runner in a separate process, so that a crash or a leak ends with it.
#pragma once

#include "run/runner.h"

namespace assay {

/// Like execute_runner(), in a child process whose results stream back through a pipe; the child's copy of
/// `observer` gets its events. The caller must be single-threaded. Logs a critical message and
/// throws ExpectedError when the child fails or dies.
void execute_runner_in_subprocess(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                                  InferenceObserver& receiver, RunObserver& observer);

}  // namespace assay
