// The layers of a network that types can be asked for.
#pragma once

#include <string>
#include <vector>

#include "assay/builder.h"
#include "assay/graph.h"

namespace assay::debug {

/// A layer that can be held in one type or another.
struct PrecisionLayer {
  std::string name;       ///< as a selector has it: the node's, or of one without that of its first output
  std::string op_type;    ///< empty for operators of other domains
  std::string body = {};  ///< the path of the graph that holds it; empty: the main graph
};

struct PrecisionLayers {
  std::vector<PrecisionLayer> layers;
  /// Those of bodies with one that cannot be held alone: another layer has the same name, or no path leads
  /// there, or the type is one that is not asked for in bodies.
  std::vector<std::string> not_alone = {};
};

/// Layers of the main graph with floating-point numbers, in order, each name once: not Constant nodes and
/// those that hold networks, whose layers are held one by one. Left out are those that `asked` says something
/// of.
std::vector<PrecisionLayer> markable_layers(const Model& model, const std::vector<LayerTypes>& asked);

/// Of these and of those in bodies, the ones whose results change when they are computed in `dtype`: for
/// float16 and bfloat16 those that compute; for int8 products with constant weights, in the main graph.
PrecisionLayers lowerable_layers(const Model& model, DType dtype, const std::vector<LayerTypes>& asked);

}  // namespace assay::debug
