// The float64 verdict as lines of the log.
#pragma once

#include "arbiter/arbiter.h"

namespace assay {

/// How many lines a verdict may take: those of a screen, or as many as there is something to say.
enum class VerdictLength : uint8_t { kScreen, kAll };

/// The implementation of report() of assay/arbiter.h: what rounding explains first, then who is wrong, and
/// where that begins.
void print_verdict(const Arbitration& result, const ArbiterOptions& options = {},
                   VerdictLength length = VerdictLength::kScreen);

}  // namespace assay
