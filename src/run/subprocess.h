// --use-subprocess: a runner in a process of its own, so that a crash or a leak ends with it.
#pragma once

#include "run/runner.h"

namespace assay {

/// As execute_runner(), in a child process whose results stream back through a pipe; what `observer` is told,
/// its copy in the child is told. The caller must not have started threads. Logs a critical message and
/// throws ExpectedError when the child fails or dies.
void execute_runner_in_subprocess(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                                  InferenceObserver& receiver, RunObserver& observer);

}  // namespace assay
