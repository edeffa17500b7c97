// Comparisons in the form of the public interface.
#pragma once

#include <vector>

#include "assay/accuracy.h"
#include "compare/results.h"

namespace assay::poly {

AccuracyResult accuracy_of(const std::vector<PairSummary>& summaries);

}  // namespace assay::poly
