// `run` from end to end: every runner on the same data, then comparison, validation and the verdict.
#pragma once

#include "run/observer.h"
#include "run/run_options.h"

namespace assay {

/// Throws Error for contradictory options. Also called by run().
void check_options(const RunOptions& options);

/// Throws Error for what ends the run. Completed results stay saved.
RunReport run(const RunOptions& options, RunObserver& observer);

}  // namespace assay
