// Statistics of any number of elements in constant memory.
#pragma once

#include <cstdint>
#include <optional>

#include "assay/statistics.h"
#include "tensor/numbers.h"

namespace assay {

/// Statistics of all elements; the default values above when there are none. `quantile` in [0, 1] asks for
/// one more quantile; throws Error (kInvalidArgument) outside. Reads the numbers once in parallel, after a
/// sample of them; a few times more when the sample is misleading.
Statistics statistics(const Numbers& numbers, std::optional<double> quantile = {});

/// The statistics of `count` numbers that all equal a finite `value`.
Statistics constant_statistics(int64_t count, double value);

}  // namespace assay
