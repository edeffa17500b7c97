#include "analysis/stored_weights.h"

#include <algorithm>

#include "analysis/match.h"
#include "analysis/nbits_matrix.h"

namespace assay {
namespace {

/// Which elements share a scale, where not all do.
StoredGrid grid_of(const QuantizedConstant& w, int64_t outputs, int64_t inputs, int64_t depth) {
  if (w.axis == 0)
    return w.block == 0 ? StoredGrid{depth, depth, 1, true} : StoredGrid{depth, 1, w.block, false};
  if (w.axis == 1)
    return w.block == 0 ? StoredGrid{inputs, 1, outputs, true} : StoredGrid{inputs, w.block, 1, false};
  return w.block == 0 ? StoredGrid{inputs, inputs, outputs, false} : StoredGrid{inputs, 1, 1, false};
}

bool is_float_convolution(const Node& n, const Value& weights, const Node& dequantize) {
  return is_op(n, "Conv") && n.input(1) == &weights && n.input(0) != &weights && n.input(2) != &weights &&
         int_attribute(n, "group", 1) == 1 && !is_integer_product(n, dequantize);
}

}  // namespace

int least_number(const QuantizedConstant& weights) {
  const DType t = weights.stored.dtype();
  return is_signed_integer(t) ? -(1 << (bit_width(t) - 1)) : 0;
}

bool has_zero_points(const QuantizedConstant& weights) {
  const int middle = least_number(weights) + (1 << (bit_width(weights.stored.dtype()) - 1));
  return std::any_of(weights.zero_point.begin(), weights.zero_point.end(),
                     [&](int zero) { return zero != middle; });
}

std::optional<StoredGrid> stored_grid(const QuantizedConstant& weights) {
  const Shape& shape = weights.stored.shape();
  if (shape.rank() < 3 || shape.rank() > 5 || shape.numel() == 0) return std::nullopt;
  const int64_t n = shape[0], k = shape.numel(1, shape.size());
  StoredGrid grid{k, k, n, true};
  if (weights.scale.size() > 1) grid = grid_of(weights, n, shape[1], k);
  grid.rows = std::min(grid.rows, grid.part);
  grid.columns = std::min(grid.columns, n);
  const int64_t bits = bit_width(weights.stored.dtype()) * n * k +
                       (has_zero_points(weights) ? 40 : 32) * grid.scale_rows(k) * grid.scale_columns(n);
  return bits <= 16 * n * k ? std::optional(grid) : std::nullopt;
}

void keep_stored(Value& weights) { weights.metadata.emplace_back(std::string(kStoredKey), "1"); }

bool is_kept_stored(const Value* weights) {
  return weights != nullptr && std::any_of(weights->metadata.begin(), weights->metadata.end(),
                                           [](const auto& entry) { return entry.first == kStoredKey; });
}

bool can_stay_stored(const Value& weights) {
  const Node* dequantize = producer_of(&weights, "DequantizeLinear");
  if (dequantize == nullptr || weights.consumers().empty()) return false;
  const bool is_of_convolutions =
      std::all_of(weights.consumers().begin(), weights.consumers().end(),
                  [&](const Node* user) { return is_float_convolution(*user, weights, *dequantize); });
  if (!is_of_convolutions) return false;
  const std::optional<QuantizedConstant> constant = quantized_constant(*dequantize);
  return constant && constant->stored.numel() >= kLeastStoredWeights && stored_grid(*constant).has_value();
}

}  // namespace assay
