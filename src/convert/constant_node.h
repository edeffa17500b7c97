// Evaluates nodes of constants that have no equivalent in older opsets.
#pragma once

#include <vector>

#include "assay/graph.h"
#include "convert/constant_finder.h"
#include "ops/op_def.h"

namespace assay {

/// Largest results that replace a node. Bytes.
inline constexpr int64_t kMaxConstantResult = int64_t{1} << 20;

/// The outputs of a node all of whose inputs are constant (ConstantFinder); `now` is its version. Empty when
/// an input is not, when the node draws random numbers, has subgraphs or attributes of a function's caller,
/// cannot be evaluated, or returns more than kMaxConstantResult or values other than tensors.
std::vector<Tensor> constant_results(const Node& node, const OpDef& op, const OpVersion& now,
                                     ConstantFinder& constants);

}  // namespace assay
