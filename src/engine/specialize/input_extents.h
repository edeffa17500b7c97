// Shapes of a network's inputs of which some extents are open: those that differ from run to run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay::engine {

class InputExtents {
 public:
  /// Those in which sets of shapes that were asked for differ are open: as they are in the network, symbols
  /// or unknown. The rest is as in the sets. Nothing where ranks differ, where nothing does, and where an
  /// extent differs that the network says, or one symbol stands for several numbers.
  static std::optional<InputExtents> of(const Graph& network, std::span<const std::vector<Shape>> seen);

  /// Of each input; of containers empty.
  const std::vector<Dims>& dims() const { return dims_; }
  /// Whether shapes are among these. Those of containers do not matter.
  bool hold(std::span<const Shape* const> shapes) const;
  bool operator==(const InputExtents&) const = default;

 private:
  std::vector<Dims> dims_;
};

}  // namespace assay::engine
