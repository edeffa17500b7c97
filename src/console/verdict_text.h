// The float64 verdict as lines of the log.
#pragma once

#include "arbiter/arbiter.h"

namespace assay {

/// The implementation of report() of assay/arbiter.h.
void print_verdict(const Arbitration& result, const ArbiterOptions& options = {});

}  // namespace assay
