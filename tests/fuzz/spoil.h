// Valid nodes made wrong by one number or one length: what comes in as an index, a length, a mode, an axis, a
// mask.
#pragma once

#include <string>

#include "fuzz/random_case.h"

namespace assay::fuzz {

/// Changes one thing of a case: an element of an input (negative, too large by one, the extremes of its type,
/// NaN, infinities), the length or rank of an input, a number, list or word among the attributes. Says what.
std::string spoil(Case& c, Random& random);

}  // namespace assay::fuzz
