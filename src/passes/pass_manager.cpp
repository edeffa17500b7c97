#include "passes/pass_manager.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "assay/edit.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// More edits per node than any sensible rewriting makes.
constexpr int64_t kMaxEditsPerNode = 64;

/// Sweeps over the nodes until a sweep finds nothing; returns the number of edits.
int64_t sweep(const Model& model, Graph& g, const PassDef& pass, int64_t budget) {
  const int64_t limit = kMaxEditsPerNode * (static_cast<int64_t>(g.nodes().size()) + 1);
  int64_t edits = 0;
  for (bool changed = true; changed && edits < budget;) {
    changed = false;
    const PassContext context(model);
    for (size_t i = 0; i < g.nodes().size() && edits < budget; ++i) {
      std::optional<Patch> patch = pass.match(*g.nodes()[i], context);
      if (!patch) continue;
      const size_t removed = patch->removed_count();
      patch->apply(context);
      require(++edits <= limit, ErrorCode::kInternal, "the pass does not come to an end");
      changed = true;
      // What was just made may match again with its neighbours.
      i -= std::min(i, removed + 1);
    }
  }
  return edits;
}

/// Everything that a pass finds; returns the number of edits.
int64_t run_pass(Model& model, const PassDef& pass, int64_t budget, bool recurse) {
  if (pass.match == nullptr) return pass.run(model) ? 1 : 0;
  int64_t edits = sweep(model, *model.graph, pass, budget);
  if (recurse)
    for (Graph* g : subgraphs(*model.graph, /*recursive=*/true)) edits += sweep(model, *g, pass, budget - edits);
  return edits;
}

}  // namespace

void verify_graph(const Graph& g) {
  std::unordered_set<const Value*> ready(g.inputs.begin(), g.inputs.end());
  for (const auto& n : g.nodes()) {
    for (const Value* v : n->inputs()) {
      if (v == nullptr) continue;
      require(std::find(v->consumers().begin(), v->consumers().end(), n.get()) != v->consumers().end(),
              ErrorCode::kInternal, "the value '{}' does not know its consumer {}", v->name(), n->label());
      require(&v->graph() != &g || v->is_constant() || ready.contains(v), ErrorCode::kInternal,
              "the node {} comes before what gives its input '{}'", n->label(), v->name());
    }
    for (const Value* v : n->outputs()) {
      if (v == nullptr) continue;
      require(v->producer() == n.get() && !v->is_constant(), ErrorCode::kInternal,
              "the output '{}' of {} has another source", v->name(), n->label());
      ready.insert(v);
    }
  }
  for (const Value* v : g.outputs)
    require(&v->graph() != &g || v->is_constant() || ready.contains(v), ErrorCode::kInternal,
            "nothing gives the output '{}'", v->name());
}

std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options) {
  for (const std::string& name : options.disabled)
    require(find_pass(name) != nullptr, ErrorCode::kInvalidArgument, "there is no pass named '{}'", name);
  std::vector<PassReport> reports;
  int64_t left = options.max_edits;
  for (const PassDef* pass : passes) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass->name) != options.disabled.end())
      continue;
    if (left <= 0) break;
    const auto start = std::chrono::steady_clock::now();
    PassReport report{.pass = std::string(pass->name)};
    with_context([&] { return fmt::format("in pass {}", pass->name); },
                 [&] {
                   report.edits = run_pass(model, *pass, left, options.recurse_subgraphs);
                   if (report.edits > 0) model.graph->remove_unused_values();
                   if (options.verify) verify_graph(*model.graph);
                 });
    left -= report.edits;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace assay
