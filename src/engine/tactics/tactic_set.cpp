#include "engine/tactics/tactic_set.h"

#include <algorithm>

#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

constexpr const TacticDef* kTactics[] = {
#define ASSAY_TACTIC(name) &tactic_##name::def,
#include "engine/tactics/tactics.def"
#undef ASSAY_TACTIC
};

/// As in TacticDef::operators.
std::string key_of(const Node& node) {
  if (is_region(node)) return "assay." + node.op_type;
  const std::string_view domain = canonical_domain(node.domain);
  return domain.empty() ? node.op_type : std::string(domain) + "." + node.op_type;
}

}  // namespace

void TacticSet::add(const TacticDef& tactic, std::shared_ptr<const void> owner) {
  require(find(tactic.name) == nullptr, ErrorCode::kInvalidArgument, "there is a tactic named '{}' already",
          tactic.name);
  tactics_.push_back(&tactic);
  for (const std::string_view op : tactic.operators) by_operator_[op].insert(&tactic);
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

const TacticDef* TacticSet::find(std::string_view name) const {
  const auto it =
      std::find_if(tactics_.begin(), tactics_.end(), [&](const TacticDef* t) { return t->name == name; });
  return it != tactics_.end() ? *it : nullptr;
}

std::vector<const TacticDef*> TacticSet::for_region(const Region& region, const Model& model) const {
  const Node& node = *region.main;
  const bool is_node = region.kind == RegionKind::kNode;
  std::vector<const TacticDef*> list;
  const auto named = by_operator_.find(key_of(node));
  const OpFacts& facts = facts_of(node, model);
  const auto serves = [&](const TacticDef* t) {
    const bool is_named = named != by_operator_.end() && named->second.contains(t);
    return (is_node || t->takes_regions) && (region.lookup == nullptr || t->looks_up) &&
           (is_named || (t->serves != nullptr && t->serves(facts)));
  };
  std::copy_if(tactics_.begin(), tactics_.end(), std::back_inserter(list), serves);
  list.push_back(is_node && !is_region(node) && has_subgraph(node) ? &tactic_control::def
                                                                   : &tactic_evaluate::def);
  return list;
}

const KernelFactory* TacticSet::find_kernel(std::string_view tactic) const {
  const TacticDef* t = find(tactic);
  // One without kernels has no steps either.
  const bool has_kernels =
      t != nullptr && (t->factory.makes_kernels() || t->factory.create_tensor != nullptr);
  return has_kernels ? &t->factory : nullptr;
}

const TacticSet& built_in_tactics() {
  static const auto* const kSet = [] {
    auto* set = new TacticSet;
    for (const TacticDef* t : kTactics) set->add(*t);
    return set;
  }();
  return *kSet;
}

}  // namespace assay::engine
