// Pruning to 2:4 structured sparsity.
#pragma once

#include <span>

#include "analysis/sparsity.h"
#include "assay/graph.h"
#include "surgeon/weight_observer.h"

namespace assay {

/// The tensor with the two elements of smallest magnitude of every four neighbours along the axis set to
/// zero; among equals the first, and NaN counts as larger than every number. A tensor that already has the
/// pattern is returned unchanged. For tensors as find_sparsity_targets() gives them: float32, float16 or
/// bfloat16, the extent along the axis a multiple of four.
UnalignedTensor pruned_2_4(const UnalignedTensor& tensor, size_t axis);

/// Prunes the targets, and changes nothing else of the model. Logs in Polygraphy's words.
void prune_weights(std::span<const SparsityTarget> targets, WeightObserver* observer = nullptr);

}  // namespace assay
