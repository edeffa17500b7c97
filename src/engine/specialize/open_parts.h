// Parts that depend on extents that vary between runs, in a network that is mostly independent of them.
#pragma once

#include "assay/graph.h"

namespace assay::engine {

/// Extents of computed values are asked of an input of the network that has the same ones side by side, so
/// that the parts that need them wait for less. From opset 15 on.
void ask_inputs(Model& model);

/// Numbers of nodes inside and outside of the parts. Equal parts count once; nodes in bodies of others are
/// outside.
struct OpenParts {
  size_t inside = 0, outside = 0;
};

/// Moves all nodes that read or compute values of unknown extents out of the main graph, into Network nodes
/// (dynamic_part.h): in a decoder step with a growing cache, the nodes between the products of one layer.
/// Parts are maximal such that no outside node is both after and before one; what one gives others (a mask
/// for all layers) is a part of its own. Integers derived from extents are computed in each part that uses
/// them, so that everything is known there as soon as its inputs' shapes are. Equal parts share one body
/// across layers. Nodes with subgraphs (If, Loop, Scan) stay outside: they run on whatever shapes come, and
/// each of their bodies has plans of its own, also one for many shapes.
OpenParts cut_open_parts(Model& model);

}  // namespace assay::engine
