#include "shard/part_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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

bool is_graph_output(const Value* v) {
  const auto& outputs = v->graph().outputs;
  return std::find(outputs.begin(), outputs.end(), v) != outputs.end();
}

bool needs_whole(const Node& n, const OpFacts& facts, const Place& operand) {
  return n.op_type == "MatMul" || n.op_type == "Gemm" || (operand.is_columns && facts.mixes_axis);
}

/// The constant operand of arithmetic whose other operand is columns.
std::optional<PartWalk::Operand> column_operand(Node* n, const OpFacts& facts, const Place& operand) {
  const bool is_arithmetic = facts.elementwise != 0 && facts.elementwise != 1;
  if (!is_arithmetic || !operand.is_columns || n->inputs().size() != 2) return std::nullopt;
  const size_t other = n->input(0) == operand.value ? 1 : 0;
  if (n->input(other) == nullptr || !n->input(other)->is_constant()) return std::nullopt;
  return PartWalk::Operand{n, other};
}

}  // namespace

PartWalk::Result PartWalk::run(const Value* columns) const {
  Result r;
  std::vector<Place> open = {{columns, true}};
  std::unordered_set<const Value*> seen = {columns};
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    if (is_graph_output(p.value)) {
      r.leak = fmt::format("'{}' is an output of the model", p.value->name());
      return r;
    }
    for (Node* n : search_.users(p.value)) {
      if (std::find(ends_.begin(), ends_.end(), n) != ends_.end()) continue;
      const OpFacts& facts = facts_of(*n, model_);
      if (needs_whole(*n, facts, p)) {
        r.leak = fmt::format("node {} takes it for the whole", n->label());
        return r;
      }
      const bool elementwise = facts.elementwise != 0;
      if (!elementwise && r.not_elementwise.empty())
        r.not_elementwise = fmt::format("node {} follows", n->label());
      if (const auto operand = column_operand(n, facts, p)) r.column_operands.push_back(*operand);
      for (const Value* out : n->outputs())
        if (out != nullptr && seen.insert(out).second) open.push_back({out, p.is_columns && elementwise});
    }
  }
  return r;
}

}  // namespace assay
