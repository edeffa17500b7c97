// Partitions of a graph into regions.
#pragma once

#include <vector>

#include "engine/tactics/pointwise/region.h"

namespace assay::engine {

/// Nodes that may be partitioned into regions in several ways, independently of other clusters.
struct Cluster {
  /// Each covers all nodes of the cluster once. Regions are in an order in which they can run; the first
  /// partition fuses most, the last consists of single nodes.
  std::vector<std::vector<Region>> partitions;
};

/// Clusters that cover every node of the main graph once: attention, whose other partitions are those of its
/// parts; convolutions and matrix products with the chains after them and the transpositions around them,
/// averages of quantized pixels that are quantized again, pointwise operators that feed each other, and all
/// other nodes alone. In the order of their last nodes.
std::vector<Cluster> find_clusters(const Model& model);

}  // namespace assay::engine
