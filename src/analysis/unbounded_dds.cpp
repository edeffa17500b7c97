#include "analysis/unbounded_dds.h"

#include <optional>
#include <unordered_set>
#include <utility>

namespace assay {
namespace {

/// Which input of an operator says how large its output is.
constexpr std::pair<std::string_view, size_t> kSizeInputs[] = {
    {"Range", 1}, {"Pad", 1}, {"Resize", 3}, {"Tile", 1}, {"Expand", 1},
};

std::optional<size_t> size_input(const Node& n) {
  if (!n.domain.empty()) return std::nullopt;
  for (const auto& [op, input] : kSizeInputs)
    if (n.op_type == op) return input;
  return std::nullopt;
}

/// Adds the symbols of a shape to those that are known; whether one, or an extent without a symbol, was new.
bool learn(const Dims& dims, std::unordered_set<std::string>& symbols) {
  bool is_new = false;
  for (const Dim& d : dims) {
    if (d.is_known()) continue;
    is_new = !d.is_symbol() || symbols.insert(d.symbol()).second || is_new;
  }
  return is_new;
}

}  // namespace

std::vector<Value*> unbounded_dds_tensors(const Graph& graph) {
  std::unordered_set<std::string> symbols;
  for (const Value* v : graph.inputs)
    if (v->type.has_shape()) learn(*v->type.dims, symbols);
  std::vector<Value*> found;
  std::unordered_set<const Value*> seen;
  for (const auto& n : graph.nodes()) {
    bool is_new = false;
    for (const Value* v : n->outputs())
      if (v != nullptr) is_new = !v->type.has_shape() || learn(*v->type.dims, symbols) || is_new;
    const std::optional<size_t> slot = size_input(*n);
    Value* size = is_new && slot ? n->input(*slot) : nullptr;
    const bool is_computed = size != nullptr && !size->is_constant() && size->producer() != nullptr &&
                             size->producer()->op_type != "Min";
    if (is_computed && seen.insert(size).second) found.push_back(size);
  }
  return found;
}

}  // namespace assay
