// Of initializers with the same type, shape and bytes, the first is used.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "analysis/match.h"
#include "assay/edit.h"
#include "graph/uses.h"
#include "passes/pass_list.h"
#include "passes/patch.h"

namespace assay::pass_merge_equal_constants {
namespace {

/// Constants of one type and shape. Only where there are several are their bytes looked at.
using Group = std::vector<Value*>;

std::string group_key(const UnalignedTensor& t) {
  return std::string(dtype_name(t.dtype())) + t.shape().str();
}

/// Of the first bytes, so that weights that differ are not read to the end.
size_t content_hash(const UnalignedTensor& t) {
  constexpr size_t kFirst = 4096;
  return std::hash<std::string_view>()({static_cast<const char*>(t.data()), std::min(t.nbytes(), kFirst)});
}

bool same_content(const UnalignedTensor& a, const UnalignedTensor& b) {
  return a.nbytes() == b.nbytes() &&
         (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.nbytes()) == 0);
}

/// A constant of the graph that any other with its contents may stand for.
bool may_merge(const Value& v, const PassContext& context) {
  const UnalignedTensor* t = constant_of(&v);
  return t != nullptr && t->dtype() != DType::kString && !t->is_container() && !context.is_pinned(&v) &&
         is_fixed(&v, context.model.ir_version);
}

bool merge_group(const Group& group) {
  bool changed = false;
  std::unordered_map<size_t, Group> kept;
  for (Value* v : group) {
    Group& candidates = kept[content_hash(v->tensor())];
    Value* same = nullptr;
    for (Value* c : candidates)
      if (same_content(c->tensor(), v->tensor())) same = c;
    if (same == nullptr) {
      candidates.push_back(v);
      continue;
    }
    if (v->consumers().empty()) continue;
    replace_inputs(*v, same);
    changed = true;
  }
  return changed;
}

bool run(Model& model) {
  const PassContext context(model);
  bool changed = false;
  std::vector<Graph*> graphs = subgraphs(*model.graph, /*recursive=*/true);
  graphs.insert(graphs.begin(), model.graph.get());
  for (Graph* g : graphs) {
    std::unordered_map<std::string, Group> groups;
    for (const auto& v : g->values())
      if (may_merge(*v, context)) groups[group_key(v->tensor())].push_back(v.get());
    for (const auto& [key, group] : groups)
      if (group.size() > 1) changed = merge_group(group) || changed;
  }
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_equal_constants",
    .summary = "of initializers with equal contents the first is used",
    .conditions =
        "Same type, extents and bytes; no strings, no outputs of graphs, no initializers that a caller may "
        "replace.",
    .run = run,
};

}  // namespace assay::pass_merge_equal_constants
