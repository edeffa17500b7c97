#include "analysis/unbounded_dds.h"
#include "ops/node_facts.h"

#include <unordered_set>
#include <utility>

namespace assay {
namespace {

/// Adds a shape's symbols to the known ones; returns whether one, or an extent without a symbol, was new.
bool learn(const Dims& dims, std::unordered_set<std::string>& symbols) {
  bool is_new = false;
  for (const Dim& d : dims) {
    if (d.is_known()) continue;
    is_new = !d.is_symbol() || symbols.insert(d.symbol()).second || is_new;
  }
  return is_new;
}

}  // namespace

std::vector<Value*> unbounded_dds_tensors(const Graph& graph, const Model& model) {
  std::unordered_set<std::string> symbols;
  for (const Value* v : graph.inputs)
    if (v->type.has_shape()) learn(*v->type.dims, symbols);
  std::vector<Value*> found;
  std::unordered_set<const Value*> seen;
  for (const auto& n : graph.nodes()) {
    bool is_new = false;
    for (const Value* v : n->outputs())
      if (v != nullptr) is_new = !v->type.has_shape() || learn(*v->type.dims, symbols) || is_new;
    const int slot = facts_of(*n, model).size_input;
    Value* size = is_new && slot >= 0 ? n->input(static_cast<size_t>(slot)) : nullptr;
    const bool is_computed = size != nullptr && !size->is_constant() && size->producer() != nullptr &&
                             size->producer()->op_type != "Min";
    if (is_computed && seen.insert(size).second) found.push_back(size);
  }
  return found;
}

}  // namespace assay
