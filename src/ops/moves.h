// Operators that move elements.
#pragma once

#include <algorithm>
#include <array>

#include "ops/op_def.h"

namespace assay {

/// Operators of the standard of which every element of an output is one of an input, or the zero of its type.
inline constexpr std::array<std::string_view, 25> kMoves = {
    "CenterCropPad",  "Compress", "Concat",    "Constant",     "DepthToSpace",
    "Expand",         "EyeLike",  "Flatten",   "Gather",       "GatherND",
    "GatherElements", "Identity", "Pad",       "Reshape",      "ReverseSequence",
    "Shape",          "Size",     "Slice",     "SpaceToDepth", "Split",
    "Squeeze",        "Tile",     "Transpose", "Trilu",        "Unsqueeze"};

/// Whether it is one of them: then floats may be given as they are stored, in any type but all in one, and
/// come out in that.
inline bool moves_elements(const OpDef& op) {
  return op.domain.empty() && std::find(kMoves.begin(), kMoves.end(), op.name) != kMoves.end();
}

}  // namespace assay
