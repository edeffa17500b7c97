// Sessions that build plans while they run.
#pragma once

#include <cstddef>

namespace assay {

/// Plans that were built.
struct BuiltPlans {
  size_t whole = 0;  ///< of the network
  size_t parts = 0;  ///< of parts of it that are planned by themselves, for the shapes that they get
};

/// Implemented by a Session that builds plans while it runs.
class PlanCounter {
 public:
  virtual ~PlanCounter() = default;
  virtual BuiltPlans plans_built() const = 0;
};

}  // namespace assay
