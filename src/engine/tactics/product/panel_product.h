// Proposals of the tactics on panels of floats: the constant matrix, stored in 32 or 16 bits.
#pragma once

#include "engine/tactics/product/panel_product_kernel.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/stored_form.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// A constant matrix of k rows and n columns among float32 numbers.
struct PanelSource {
  const Value* weights = nullptr;
  int64_t row_stride = 0, column_stride = 0;
  std::string packing;  ///< says the same
  std::function<std::vector<float>(const float*)>
      arrange;  ///< arranges the numbers in this order; empty: they already are
  const Value* bias = nullptr;
  double bias_scale = 1;
};

/// One candidate per way to store the matrix: inputs 0 (`x` in `layout`), 1 (packed panels), 2 (bias, padded
/// to whole panels; may be null) and the epilogue's operands, and the output in `layout`. `gathered`: the
/// rows of the left operand are gathered. `finish` writes the rest of the step.
void propose_panels(const Problem& p, const Value* x, const PanelSource& source, const ProductSize& size,
                    bool gathered, const std::vector<EpilogueStep>& epilogue, Layout layout,
                    double efficiency, const std::function<void(Candidate&)>& finish, Proposals& proposals);

/// How a product of bfloat16 has its left operand, and its result, in memory.
struct StoredRows {
  DType left = DType::kUndefined, result = DType::kUndefined;  ///< kUndefined: as float32

  /// Of a product's time, without measurements: reading spares it conversions, storing adds some.
  double share() const {
    return (left == DType::kUndefined ? 1 : 0.96) * (result == DType::kUndefined ? 1 : 1.01);
  }
  std::string name() const {
    return std::string(left == DType::kUndefined ? "" : "_reads") +
           (result == DType::kUndefined ? "" : "_stores");
  }
};
/// Those that are possible, both in float32 first.
std::vector<StoredRows> stored_rows(const Problem& p, const Value* x, const Value* y, Layout layout);

/// No infinity and no NaN among the float32 numbers of a constant of the problem's network.
bool all_finite(const Problem& p, const UnalignedTensor& t);

/// Appends input 2: the bias times `scale`, padded with zeros to `columns` numbers; nothing for null.
void add_padded_bias(const Value* bias, double scale, int64_t columns, Candidate& b);

}  // namespace assay::engine
