// How steps were chosen for other shapes of the same network.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/planner/options.h"

namespace assay::engine {

/// All extents are within a factor of two, 1 apart.
bool are_near(const Shape& a, const Shape& b);

/// What plans of a network chose for its regions, found by the ONNX nodes that these stand for. What was best
/// for some shapes serves others that are near, so that a plan for new shapes asks few tactics, and packs
/// weights as the plans before it did. May be used by several threads.
class ChoiceMemory {
 public:
  /// One step of a plan.
  struct Known {
    std::string option;  ///< "dnnl_conv:blocked8"
    /// Of inputs, then outputs; nothing for constants, for what is left out, and for unknown shapes.
    std::vector<std::optional<Shape>> operands;
  };

  /// Keeps the steps of this plan in mind. Of one region the kMax last that differ.
  void learn(const Plan& plan);
  bool empty() const;
  /// What was chosen for a region, the last first.
  std::vector<Known> of(const Region& region) const;

  /// Whether what was known about a step holds for a candidate: its operands are near.
  static bool is_near(const Known& known, const Candidate& candidate, OptionMaker& maker);

 private:
  static constexpr size_t kMax = 8;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<Known>> known_;
};

}  // namespace assay::engine
