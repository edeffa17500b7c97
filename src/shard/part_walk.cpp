#include "shard/part_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "graph/read.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

/// A value whose columns are still those of the MatMul, or computed from them.
struct Place {
  const Value* value;
  bool is_columns;
};

}  // namespace

PartWalk::Result PartWalk::run(const Value* columns) const {
  Result r;
  std::vector<Place> open = {{columns, true}};
  std::unordered_set<const Value*> seen = {columns};
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    const auto& graph_outputs = p.value->graph().outputs;
    if (std::find(graph_outputs.begin(), graph_outputs.end(), p.value) != graph_outputs.end()) {
      r.leak = fmt::format("'{}' is an output of the model", p.value->name());
      return r;
    }
    for (Node* n : search_.users(p.value)) {
      if (std::find(ends_.begin(), ends_.end(), n) != ends_.end()) continue;
      const OpFacts& facts = facts_of(*n, model_);
      if (n->op_type == "MatMul" || n->op_type == "Gemm" || (p.is_columns && facts.mixes_axis)) {
        r.leak = fmt::format("node {} takes it for the whole", n->label());
        return r;
      }
      const bool elementwise = facts.elementwise != 0, arithmetic = elementwise && facts.elementwise != 1;
      if (!elementwise && r.not_elementwise.empty())
        r.not_elementwise = fmt::format("node {} follows", n->label());
      if (arithmetic && p.is_columns && n->inputs().size() == 2) {
        const size_t other = n->input(0) == p.value ? 1 : 0;
        if (n->input(other) != nullptr && n->input(other)->is_constant())
          r.column_operands.push_back({n, other});
      }
      for (const Value* out : n->outputs())
        if (out != nullptr && seen.insert(out).second) open.push_back({out, p.is_columns && elementwise});
    }
  }
  return r;
}

}  // namespace assay
