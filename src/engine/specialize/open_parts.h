// What depends on extents that differ from run to run, in a network of which most does not.
#pragma once

#include "assay/graph.h"

namespace assay::engine {

/// How many nodes there are inside and outside of the parts. Of parts that are alike one counts.
struct OpenParts {
  size_t inside = 0, outside = 0;
};

/// Cuts all nodes that read or make values of unknown extents out of the main graph, into Network nodes
/// (dynamic_part.h): in a decoder's step, where a cache grows, what is between the products of one layer. A
/// part is as large as it can be without a node outside that stands both behind and before it. Integers that
/// follow from extents are computed in each part that uses them, so that all is known there as soon as its
/// inputs' shapes are. Parts that do the same share one body, whatever the layer.
OpenParts cut_open_parts(Model& model);

}  // namespace assay::engine
