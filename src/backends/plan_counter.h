// Sessions that build plans while they run.
#pragma once

#include <cstddef>
#include <optional>

namespace assay {

/// Implemented by a Session that builds plans, or that has another one which may.
class PlanCounter {
 public:
  virtual ~PlanCounter() = default;
  /// Plans built so far: of the network, and of the parts of it that are planned by themselves. Nothing where
  /// none are built.
  virtual std::optional<size_t> plans_built() const = 0;
};

}  // namespace assay
