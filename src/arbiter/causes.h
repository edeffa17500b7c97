// Typical causes of a kind of error.
#pragma once

#include <string>

#include "assay/arbiter.h"

namespace assay {

/// A short hint for a wrong result, by its operator and pattern; empty if no cause is more likely.
std::string likely_cause(const ArbiterVerdict& verdict);

}  // namespace assay
