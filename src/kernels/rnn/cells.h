// One step of a recurrent layer for some hidden units: the vector code behind recurrence.h.
#pragma once

#include "kernels/rnn/recurrent_layer.h"

namespace assay::kernels {

/// States are rows of padded() units, one row per slot; the slots' elements are ordered with the longest
/// sequences first, so that the active ones are always the first.
struct RecurrentStep {
  const RecurrentLayer* layer = nullptr;
  const RecurrentDirection* direction = nullptr;
  const int64_t* order = nullptr;  ///< the element of each slot
  int64_t step = 0;
  int64_t first_slot = 0, last_slot = 0;
  const float* before = nullptr;  ///< hidden states
  bool before_is_zero = false;
  float* after = nullptr;
  float* cell = nullptr;    ///< LSTM
  float* update = nullptr;  ///< split GRU: z
  float* reset = nullptr;   ///< split GRU: r * before
  // Quantized: rows of the products with `before`, one per slot, and their scales.
  const int32_t* sums = nullptr;
  const float* column_scales = nullptr;
  float state_scale = 1;

  /// Of the element of a slot.
  int64_t time(int64_t element) const {
    if (!direction->backward) return step;
    return (layer->lengths == nullptr ? layer->steps : layer->lengths[element]) - 1 - step;
  }
};

/// Parts of a step: what a later one reads of all units an earlier one has written.
inline int64_t recurrent_parts(const RecurrentLayer& layer) { return layer.is_split() ? 2 : 1; }

/// One part for the units of blocks [first, last).
void recurrent_units(const RecurrentStep& step, int64_t part, int64_t first, int64_t last) noexcept;

}  // namespace assay::kernels
