// Weights of convolutions that are computed with as the model stores them: as integers of a few bits.
#pragma once

#include <optional>

#include "analysis/quantization.h"

namespace assay {

/// Which elements share a scale, of weights [outputs, inputs, taps...] as a matrix with a column for each
/// output and a row for each input of the first tap, then of the next one: those in a block of `rows` by
/// `columns`, as kernels::NbitsGrid has it. Each `part` of the rows begins with a new block.
struct StoredGrid {
  int64_t part = 1, rows = 1, columns = 1;
  bool is_same_in_parts = false;  ///< all parts have the scales of the first

  int64_t part_blocks() const { return (part + rows - 1) / rows; }
  /// Of a matrix with k rows and n columns.
  int64_t scale_rows(int64_t k) const { return part_blocks() * (is_same_in_parts ? 1 : k / part); }
  int64_t scale_columns(int64_t n) const { return (n + columns - 1) / columns; }
};

/// Nothing where the integers with their scales would take more than half the memory of float32 numbers.
std::optional<StoredGrid> stored_grid(const QuantizedConstant& weights);

/// Of their type: quantized values are stored as what they exceed it by.
int least_number(const QuantizedConstant& weights);
/// A zero point is not the middle of the range.
bool has_zero_points(const QuantizedConstant& weights);

/// Key of Value::metadata: see keep_stored().
inline constexpr std::string_view kStoredKey = "assay.stored";

/// Says that the result of a DequantizeLinear, also once it has been folded, is to be held as what the
/// DequantizeLinear reads: passes leave its numbers as they are.
void keep_stored(Value& weights);
bool is_kept_stored(const Value* weights);

/// Fewer weights are no great part of a network, and kernels for images of few channels are faster.
inline constexpr int64_t kLeastStoredWeights = 1 << 14;

/// True for weights that only convolutions of floating-point numbers without groups read, of which there are
/// `kLeastStoredWeights` or more, in a form of stored_grid().
bool can_stay_stored(const Value& weights);

}  // namespace assay
