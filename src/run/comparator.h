// `run` from end to end: every runner on the same data, then comparison, validation and the verdict.
#pragma once

#include "run/observer.h"
#include "run/run_options.h"

namespace assay {

/// What no run can do: throws Error for options that contradict each other. run() does it, too.
void check_options(const RunOptions& options);

/// Throws Error for what ends the run. What is complete by then stays saved.
RunReport run(const RunOptions& options, RunObserver& observer);

}  // namespace assay
