// Tensor parallelism: every rank has a part of the weights of attention layers and gated MLPs.
#pragma once

#include <memory>

#include "assay/graph.h"
#include "shard/collectives.h"
#include "shard/hints.h"
#include "shard/weight_slices.h"

namespace assay {

/// Prepares a model for tensor parallelism. Attention layers are nodes AttentionPlugin between the MatMuls of
/// q, k, v and of the output; gated MLPs are found by their Sigmoid: two MatMuls of one tensor, of which one
/// goes through the Sigmoid, multiplied, and a third MatMul. The weights before are split by columns (with
/// their biases), those after by rows, whose partial results an all_reduce adds up; a layer's numbers of
/// heads, and the heads of its caches, are those of a rank. A Sigmoid outside of such an MLP is skipped, with
/// a warning.
///
/// The model then fits every rank except for its weights, which rank_model() slices. Outputs keep their
/// names. Logs in Polygraphy's words. Throws Error (kInvalidArgument) when there is nothing to shard, when
/// extents or heads cannot be divided, when q, k and v come from one MatMul, and when parts of a tensor would
/// be used outside of the layer.
WeightSlices shard_tensors(Model& model, const ShardHints& hints, ShardNames& names);

/// The model of one rank. Tensor data are shared if possible.
std::shared_ptr<Model> rank_model(const Model& prepared, const WeightSlices& slices, int64_t rank);

}  // namespace assay
