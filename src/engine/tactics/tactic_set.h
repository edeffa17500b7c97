// The set of tactics.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Lookups are safe from any thread as long as no tactic is being added.
class TacticSet {
 public:
  /// Appends. `tactic` must live as long as the set; `owner`, if any, is kept until then. Throws Error when
  /// another tactic has its name.
  void add(const TacticDef& tactic, std::shared_ptr<const void> owner = nullptr);

  /// In the order in which they are queried.
  std::span<const TacticDef* const> all() const { return tactics_; }
  /// Null when there is none of that name.
  const TacticDef* find(std::string_view name) const;
  /// Those that serve the region's operator, in order; the reference evaluator is always the last.
  std::vector<const TacticDef*> for_region(const Region& region, const Model& model) const;
  /// The kernels of a tactic, for contexts; null when there is none of that name, or it has none.
  const KernelFactory* find_kernel(std::string_view tactic) const;

 private:
  std::vector<const TacticDef*> tactics_;
  std::unordered_map<std::string_view, std::unordered_set<const TacticDef*>> by_operator_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// The tactics of tactics.def.
const TacticSet& built_in_tactics();

}  // namespace assay::engine
