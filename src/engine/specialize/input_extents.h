// Shapes of a network's inputs with open extents where they vary between runs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay::engine {

class InputExtents {
 public:
  /// Extents that vary between the given sets of shapes are open, as in the network: symbols or unknown.
  /// Others are as in the sets. Nothing if ranks differ, if nothing differs, if an extent differs that the
  /// network declares, or if one symbol has several values.
  static std::optional<InputExtents> of(const Graph& network, std::span<const std::vector<Shape>> seen);

  /// For each input; empty for containers.
  const std::vector<Dims>& dims() const { return dims_; }
  /// True when these extents cover the shapes: open ones any number but 0. Those of containers are ignored.
  bool hold(std::span<const Shape* const> shapes) const;
  bool operator==(const InputExtents&) const = default;

 private:
  std::vector<Dims> dims_;
};

}  // namespace assay::engine
