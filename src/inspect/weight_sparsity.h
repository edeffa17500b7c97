// Results of a search for 2:4 sparsity, as plain data.
#pragma once

#include <vector>

#include "analysis/sparsity.h"
#include "assay/inspect.h"

namespace assay {

/// Those that were checked, then those that were skipped.
std::vector<WeightSparsity> weight_sparsity(const SparsityReport& report);

}  // namespace assay
