// What a reduction came to, as JSON.
#pragma once

#include <string>

#include "debug/reduction.h"

namespace assay::debug {

/// `nodes`: of the whole model; `output`, `test_case`: where the smallest model and its test case are; empty:
/// nowhere.
std::string reduction_json(const Reduction& result, const Iterations& iterations, size_t nodes,
                           const std::string& output, const std::string& test_case);

}  // namespace assay::debug
