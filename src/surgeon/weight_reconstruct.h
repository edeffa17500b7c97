// Fills a stripped model with weights.
#pragma once

#include <cstdint>

#include "assay/graph.h"
#include "surgeon/weight_observer.h"

namespace assay {

/// Fills the initializers whose data were stripped (weight_strip.h) with normal random numbers,
/// converted to their type, in subgraphs too; those that are marked SPARSE_2_4 and used in the main graph get
/// that pattern. Same model and seed, same bytes. The marks stay, as with Polygraphy's `surgeon
/// weight-reconstruct`, in whose words it logs. Returns the number of filled initializers. Throws Error
/// (kUnsupported) for strings.
int64_t reconstruct_weights(Model& model, uint64_t seed, WeightObserver* observer = nullptr);

}  // namespace assay
