// What the tactics on panels of floats share: the constant matrix, stored in 32 or 16 bits, and products of
// tiles of float32 rows with it; or of rows in bfloat16, where the processor multiplies those.
#pragma once

#include <functional>

#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/stored_form.h"
#include "kernels/panel/panel_product.h"

namespace assay::engine {

/// A constant matrix of k rows and n columns among float32 numbers.
struct PanelSource {
  const Value* weights = nullptr;
  int64_t row_stride = 0, column_stride = 0;
  std::string packing;  ///< says the same
  std::function<std::vector<float>(const float*)>
      arrange;  ///< brings the numbers in this order; empty: they are
  const Value* bias = nullptr;
  double bias_scale = 1;
};

/// One candidate per way to store the matrix: inputs 0 (`x` in `layout`), 1 (packed panels), 2 (bias, filled
/// up to whole panels; may be null) and the epilogue's operands, and the output in `layout`. `gathered`: the
/// rows of the left operand do not lie in memory. `finish` writes down what else the step needs.
void propose_panels(const Problem& p, const Value* x, const PanelSource& source, const ProductSize& size,
                    bool gathered, const std::vector<EpilogueStep>& epilogue, Layout layout,
                    double efficiency, const std::function<void(Candidate&)>& finish, Proposals& proposals);

/// No infinity and no NaN among the float32 numbers of a constant of the problem's network.
bool all_finite(const Problem& p, const UnalignedTensor& t);

/// Appends input 2: the bias times `scale`, filled up with zeros to `columns` numbers; nothing for null.
void add_padded_bias(const Value* bias, double scale, int64_t columns, Candidate& b);

/// A reader of a step that propose_panels() wrote.
StepReader read_panel_step(const Plan& plan, const Step& step);

class PanelKernel final : public TiledProduct {
 public:
  /// Gives the rows [first, first + count) of the left operand to `scratch`, k numbers each.
  using Gather = std::function<void(const float* x, int64_t first, int64_t count, float* rows)>;
  /// The same rounded to bfloat16, an even number each.
  using NarrowGather = std::function<void(const float* x, int64_t first, int64_t count, uint16_t* rows)>;
  /// Without `gather`, rows are the pixels of `lying`.
  PanelKernel(const StepReader& r, const ProductSize& size, const kernels::ImagePlaces& lying, Gather gather,
              NarrowGather narrow_gather);

 private:
  /// Takes both.
  PanelKernel(const StepReader& r, const ProductSize& size, const ProductTiles& tiles,
              const kernels::ImagePlaces& lying, Gather& gather, NarrowGather& narrow_gather);
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override;
  void compute(const KernelArgs& args, const Tile& tile) const noexcept override;

  kernels::PanelMatrix matrix_;
  bool rounds_;  ///< rows are in bfloat16
  kernels::ImagePlaces lying_;
  Gather gather_;
  NarrowGather narrow_gather_;
};

}  // namespace assay::engine
