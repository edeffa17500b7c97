// Reading of problems by the tactics on products of gathered rows, and writing of their steps.
#pragma once

#include "engine/tactics/product/matrix_product.h"
#include "engine/tactics/product/tiled_product_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// A product of dense rows with a constant matrix. Returns the reason why a region is not one, or nothing.
std::string read_matrix_product(const Problem& problem, MatrixProduct& p);

/// Layouts that rows and results of a convolution of float32 images may have, both the same: channels
/// last, and blocks of which the channels of both are a multiple.
std::vector<Layout> product_layouts(const Problem& p, const ConvProduct& conv);

/// The window and weights of a convolution with constant weights. Returns the reason of a refusal.
std::string read_conv_window(const Problem& p, ConvProduct& conv, ConvGroups groups = ConvGroups::kRefused);

/// Further requirements of all tactics on Conv.
std::string read_conv_product(const Problem& p, ConvProduct& conv, ConvGroups groups = ConvGroups::kRefused);

/// To be written; and read back. Throws Error (kInvalidModel) where the images of the step, with layout `in`,
/// and those of its result, with `out`, do not fit.
ConvFields conv_fields(const ConvProduct& conv);

/// Weights [outputs, inputs, taps...] with the taps before the inputs.
template <typename T>
std::vector<T> taps_first(const T* w, int64_t outputs, int64_t inputs, int64_t taps) {
  std::vector<T> moved(static_cast<size_t>(outputs * inputs * taps));
  parallel_for(outputs, 1, [&](int64_t first, int64_t last) {
    for (int64_t o = first; o < last; ++o)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t t = 0; t < taps; ++t)
          moved[static_cast<size_t>((o * taps + t) * inputs + i)] = w[(o * inputs + i) * taps + t];
  });
  return moved;
}

/// Empty when tiles can be stored as the region's result.
std::string tile_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue);

/// Writes down the epilogue, whose operands follow the candidate's inputs so far; whole ones are wanted in
/// `whole`, and in 8 bits where they come from a DequantizeLinear.
void write_tile_epilogue(const Problem& p, const std::vector<EpilogueStep>& epilogue, Format whole,
                         Candidate& b);

}  // namespace assay::engine
