// The table of a function of 8-bit values (passes/region.h: kLookup).
#pragma once

#include "assay/graph.h"
#include "kernels/pointwise/byte_table.h"

namespace assay::engine {

/// Its results as the reference evaluates the region's nodes, one by one in the types that they have. Throws
/// Error where a node refuses a value.
kernels::ByteTable lookup_table(const Node& region, const Model& model);

}  // namespace assay::engine
