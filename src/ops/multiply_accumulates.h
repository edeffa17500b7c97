// What a node costs, by its types alone.
#pragma once

#include "assay/count.h"
#include "assay/graph.h"

namespace assay {

/// Multiply-accumulates of one run of a node whose types are inferred: of the plain algorithm of
/// convolutions, matrix products, recurrent layers, Einsum and Attention, and of their quantized forms. 0 for
/// every other operator that this build knows, those with subgraphs included; unknown for one that it does
/// not know.
Count multiply_accumulates(const Node& node);

}  // namespace assay
