// Averages of pixels.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Whether the node averages pixels of images [N, C, spatial...], each channel on its own: those of a window,
/// or all of them, as a ReduceMean over all axes but the first two does.
bool averages_pixels(const Node& n, const Model& model);

/// Whether it resizes an image linearly: each result is an average of pixels.
bool interpolates_pixels(const Node& n);

}  // namespace assay
