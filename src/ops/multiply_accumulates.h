// A node's cost, by its types alone.
#pragma once

#include "assay/count.h"
#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// Multiply-accumulates of one run of a node whose types are inferred: of the direct algorithm of
/// convolutions, matrix products, recurrent layers, Einsum and Attention, and of their quantized forms
/// (OpFacts::multiply_accumulates). 0 for every other operator, those with subgraphs included; unknown where
/// `op`, its operator, is null.
Count multiply_accumulates(const Node& node, const OpDef* op);

// For OpFacts.
Count conv_macs(const Node&, const OpDef&);
Count q_linear_conv_macs(const Node&, const OpDef&);
Count conv_transpose_macs(const Node&, const OpDef&);
Count mat_mul_macs(const Node&, const OpDef&);
Count gemm_macs(const Node&, const OpDef&);
/// LSTM, GRU, RNN: every step multiplies with all of W and R.
Count recurrent_macs(const Node&, const OpDef&);
/// Every combination of indices is visited once, with a multiplication for each operand but the first.
Count einsum_macs(const Node&, const OpDef&);
/// Scores and their product with the values, over all keys, those of the past included.
Count attention_macs(const Node&, const OpDef&);

}  // namespace assay
