// Records choices of steps for other shapes of the same network.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/planner/options.h"

namespace assay::engine {

/// True when all extents are within a factor of two, except extents of 1.
bool are_near(const Shape& a, const Shape& b);

/// The choices of plans of a network for its regions, keyed by their ONNX nodes. The best choice for some
/// shapes is reused for similar ones, so that a plan for new shapes queries few tactics, and packs weights
/// like earlier plans. Thread-safe.
class ChoiceMemory {
 public:
  /// One step of a plan.
  struct Known {
    std::string option;  ///< "dnnl_conv:blocked8"
    /// Of inputs, then outputs; nothing for constants, omitted operands, and unknown shapes.
    std::vector<std::optional<Shape>> operands;
  };

  /// Records the steps of this plan. Keeps the kMax latest distinct ones per region.
  void learn(const Plan& plan);
  bool empty() const;
  /// The choices for a region, latest first.
  std::vector<Known> of(const Region& region) const;

  /// True when a recorded step applies to a candidate: its operands are similar.
  static bool is_near(const Known& known, const Candidate& candidate, OptionMaker& maker);

 private:
  static constexpr size_t kMax = 8;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<Known>> known_;
};

}  // namespace assay::engine
