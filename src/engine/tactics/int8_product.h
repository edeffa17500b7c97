// What the tactics on 8-bit integers share: a product of integers cut into tiles, and the way from its exact
// sums to the result. Numbers come from a DequantizeLinear, whose input is read instead; the weights are a
// constant behind another one.
#pragma once

#include <functional>
#include <optional>

#include "engine/tactics/epilogue.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic.h"
#include "kernels/int8/int8_product.h"

namespace assay::engine {

/// sums[m, n] of products of length k.
struct Int8Size {
  int64_t m = 0, n = 0, k = 0;
};

/// How a product is cut: tiles of rows, which are gathered once, times blocks of columns.
struct Int8Tiles {
  int64_t rows = 0, row_tiles = 0;
  int64_t columns = 0, column_blocks = 0;  ///< whole panels of weights
  int64_t groups = 1;  ///< parts of the column blocks that threads share where rows are few
  int64_t chunks = 1;  ///< sequences of tiles, each with scratch memory of its own
  int64_t left_bytes = 0, sum_bytes = 0;  ///< of a chunk's scratch: gathered rows, and a tile of sums

  int64_t scratch_bytes() const { return chunks * (left_bytes + 2 * sum_bytes); }
};
Int8Tiles int8_tiles(const Int8Size& size, int threads);

/// The operands of a product, as they are stored.
struct Int8Operands {
  Quantization x;
  const QuantizedConstant* weights = nullptr;
  /// Of the weights less their zero points: more than 8 bits are needed.
  bool wide = false;
};
/// `channel_axis`: of the weights, along which they may have scales of their own; `depth`: products in a sum.
/// Returns why not, or nothing.
std::string read_int8(const Problem& p, const Value* x, const Value* weights, size_t channel_axis,
                      int64_t depth, Int8Operands& operands);
/// Empty when the sums of a product can become the region's result.
std::string int8_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue);

/// Less their zero points, in their own order. The scale's axis is `axis` where there are several.
std::vector<int16_t> int8_numbers(const QuantizedConstant& weights);

/// Writes down a candidate: inputs 0 (`x` in `layout`), 1 (the packed weights), 2 (what sums are multiplied
/// by), 3 (bias; may be null) and the epilogue's operands, and the output in `layout`.
void write_int8(const Problem& p, const Int8Operands& operands, const Value* x, const Value* weights,
                const Value* bias, double bias_scale, const std::vector<EpilogueStep>& epilogue,
                int64_t columns, Layout layout, const std::string& packing, std::function<Tensor()> pack,
                Candidate& b);

/// From sums to elements of the result.
class Int8Finish {
 public:
  /// Of a step that write_int8() wrote, whose result is size.m x size.n in memory. Throws Error
  /// (kInvalidModel).
  Int8Finish(const StepReader& r, const Int8Size& size, const Int8Tiles& tiles);
  /// A tile of rows x columns sums, rows `stride` apart, whose memory may be overwritten; `spare` is as
  /// large.
  void run(const KernelArgs& args, int64_t row, int64_t rows, int64_t column, int64_t columns, int32_t* sums,
           int64_t stride, void* spare) const noexcept;

 private:
  struct Operand {
    size_t position;  ///< among the step's inputs
    int64_t row_stride, column_stride;
    size_t width;
  };
  kernels::PointwiseLoop loop_of(int64_t rows, int64_t columns, int64_t stride) const;

  Int8Size size_;
  size_t width_ = 4;  ///< bytes of an element of the result
  bool is_plain_ = false;
  std::optional<kernels::Requantization> requantization_;
  std::vector<Operand> operands_;
  kernels::PointwiseProgram program_{1};
  std::vector<kernels::PointwiseOperand> types_;
  kernels::PointwiseType result_type_ = kernels::PointwiseType::kFloat32;
  struct Loop {
    int64_t rows, columns;
    kernels::PointwiseLoop loop;
  };
  std::vector<Loop> loops_;
};

/// A product whose left operand is gathered tile by tile.
class Int8Kernel final : public Kernel {
 public:
  /// Writes rows [first, first + count) of the left operand.
  using Gather = std::function<void(const void* x, int64_t first, int64_t count, int16_t* rows)>;
  Int8Kernel(const StepReader& r, const Int8Size& size, Gather gather);
  Status run(const KernelArgs& args) noexcept override;

 private:
  void run_chunk(const KernelArgs& args, int64_t chunk) const;

  Int8Size size_;
  Int8Tiles tiles_;
  kernels::Int8Weights weights_;
  Int8Finish finish_;
  Gather gather_;
};

/// A reader of a step that write_int8() wrote.
StepReader read_int8_step(const Plan& plan, const Step& step);
/// The quantization of input 0, from a step that write_int8() wrote. Throws Error (kInvalidModel) where it is
/// not one.
Quantization int8_input(const StepReader& r);

}  // namespace assay::engine
