// What usually causes an error of a kind.
#pragma once

#include <string>

#include "assay/arbiter.h"

namespace assay {

/// A few words for a wrong result, by its operator and pattern; empty when nothing is likelier than the rest.
std::string likely_cause(const ArbiterVerdict& verdict);

}  // namespace assay
