// Context parallelism: every rank computes a part of the sequence.
#pragma once

#include "assay/graph.h"
#include "shard/collectives.h"
#include "shard/hints.h"

namespace assay {

/// Inserts the collective operations into a model that the hints request:
///
/// - each input of the hints is scattered (reduce_scatter) before all nodes that use it;
/// - for each attention layer k and v are gathered for its two MatMuls, or the layer becomes one node
/// Attention. Where q is the
///   same tensor as k or v, q is gathered with them, and so is everything that follows, unless that would
///   meet parts;
/// - each output of the hints that is not whole yet is gathered. Outputs keep their names.
///
/// Nodes are sorted afterwards, and every tensor is gathered once. Logs in Polygraphy's words. Throws Error
/// (kNotFound, kInvalidArgument) when the hints name tensors or layers that the model does not have, and as
/// CollectiveAdder and ShapesBefore do; the model is then unusable.
void shard_context(Model& model, const ShardHints& hints, int attention_pattern, ShardNames& names);

}  // namespace assay
