// A Concat whose first inputs are all that another one joins takes that one's result: features that grow from
// layer to layer (DenseNet) then lie in one piece of memory, to which each layer adds its own, and nothing is
// copied. Without this a value could lie in one of the results only.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "assay/edit.h"
#include "passes/pass_list.h"

namespace assay::pass_nest_concats {
namespace {

/// A Concat, and what it joined before it was changed.
struct Joined {
  Node* node;
  int64_t axis;
  std::vector<Value*> inputs;
};

uint64_t add_to_key(uint64_t key, uint64_t x) { return (key ^ x) * 0x9E3779B97F4A7C15U + (key >> 29); }

bool nest(Graph& g) {
  std::vector<Joined> joined;
  std::unordered_map<uint64_t, size_t> by_key;  // of the axis and all inputs
  bool changed = false;
  for (const auto& n : g.nodes()) {
    const std::optional<int64_t> axis = concat_axis(*n);
    // What nobody reads has no value to take.
    if (!axis || n->inputs().size() < 2 || n->output(0) == nullptr) continue;
    const std::vector<Value*> inputs(n->inputs().begin(), n->inputs().end());
    uint64_t key = static_cast<uint64_t>(*axis);
    const Joined* longest = nullptr;
    for (size_t i = 0; i < inputs.size(); ++i) {
      key = add_to_key(key, reinterpret_cast<uintptr_t>(inputs[i]));
      const auto found = i + 1 < inputs.size() ? by_key.find(key) : by_key.end();
      if (found == by_key.end()) continue;
      const Joined& other = joined[found->second];
      if (other.axis == *axis && other.inputs.size() == i + 1 &&
          std::equal(other.inputs.begin(), other.inputs.end(), inputs.begin()))
        longest = &other;
    }
    if (longest != nullptr) {
      std::vector<Value*> fewer = {longest->node->output(0)};
      fewer.insert(fewer.end(), inputs.begin() + static_cast<std::ptrdiff_t>(longest->inputs.size()),
                   inputs.end());
      n->set_inputs(std::move(fewer));
      changed = true;
    }
    by_key.try_emplace(key, joined.size());
    joined.push_back({n.get(), *axis, inputs});
  }
  return changed;
}

bool run(Model& model) {
  bool changed = nest(*model.graph);
  for (Graph* g : subgraphs(*model.graph, /*recursive=*/true)) changed = nest(*g) || changed;
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "nest_concats",
    .summary = "a Concat of what another one joins, and more, takes that one's result",
    .conditions = "The same axis, and the first inputs are all the inputs of the other Concat, in order.",
    .run = run,
};

}  // namespace assay::pass_nest_concats
