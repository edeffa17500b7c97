#include "engine/tactics/tactic_list.h"

#include <algorithm>

#include "graph/read.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

constexpr const TacticDef* kTactics[] = {
#define ASSAY_TACTIC(name) &tactic_##name::def,
#include "engine/tactics/tactics.def"
#undef ASSAY_TACTIC
};

}  // namespace

std::span<const TacticDef* const> all_tactics() { return kTactics; }

const TacticDef* find_tactic(std::string_view name) {
  for (const TacticDef* t : kTactics)
    if (t->name == name) return t;
  return nullptr;
}

std::vector<const TacticDef*> tactics_for(const Region& region) {
  const Node& node = *region.main;
  const std::string key = is_region(node) ? "assay." + node.op_type : node.op_type;
  std::vector<const TacticDef*> list;
  const bool known_domain = is_region(node) || node.domain.empty() || node.domain == "ai.onnx";
  for (const TacticDef* t : kTactics)
    if (known_domain && (region.kind == RegionKind::kNode || t->takes_regions) &&
        std::find(t->operators.begin(), t->operators.end(), key) != t->operators.end())
      list.push_back(t);
  list.push_back(region.kind == RegionKind::kNode && !is_region(node) && has_subgraph(node)
                     ? &tactic_control::def
                     : &tactic_evaluate::def);
  return list;
}

const KernelFactory* find_kernel(std::string_view tactic) {
  const TacticDef* t = find_tactic(tactic);
  // One without kernels has no steps either.
  const bool has_kernels =
      t != nullptr && (t->factory.create != nullptr || t->factory.create_tensor != nullptr);
  return has_kernels ? &t->factory : nullptr;
}

}  // namespace assay::engine
