// Proposals of the tactics on windows of single channels.
#pragma once

#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Layouts in which they are proposed for images of this shape, besides the row-major one.
std::vector<Layout> window_layouts(const Problem& p, const Shape& shape);

/// The reason why these tactics do not support a convolution's epilogue, or nothing.
std::string common_epilogue_refusal(const Problem& p, const ConvProduct& conv);

/// Writes it. Operands follow 3 inputs; whole ones must be in `layout`.
void write_common_end(const Problem& p, Layout layout, Candidate& b);

/// The window of a pooling: that of its attributes, or the whole image (global poolings, and ReduceMean).
kernels::Window pooled_window(const Problem& p);

/// For a ReduceMean: true when it averages whole images per channel. True for other nodes.
bool reduces_images(const Problem& p);
/// Whether the result has as many axes as the image.
bool keeps_axes(const Problem& p);

}  // namespace assay::engine
