#include "passes/pass_manager.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>

#include "analysis/held_types.h"
#include "assay/edit.h"
#include "assay/interrupt.h"
#include "base/time_trace.h"
#include "graph/read.h"
#include "passes/edit_hook.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay {
namespace {

/// More edits per node than any sensible rewriting makes.
constexpr int64_t kMaxEditsPerNode = 64;

/// Where to go on after an edit at a node: as many places further back as it removes nodes, for what it makes
/// may match again with its neighbours. Null is the beginning.
Node* place_before(const Node& n, const Patch& patch, const NodeOrder& order) {
  const std::unordered_set<const Node*> removed(patch.removed().begin(), patch.removed().end());
  Node* place = order.previous(&n);
  for (size_t left = removed.size(); place != nullptr; place = order.previous(place)) {
    const bool stays = !removed.contains(place);
    if (stays && left <= 1) break;
    --left;
  }
  return place;
}

/// The edit that the pass finds at a node, if it may be made: not one that would merge nodes that are held in
/// different types.
std::optional<Patch> find_edit(const Node& n, const PassDef& pass, const PassContext& context,
                               const AllowsEdit& allows) {
  std::optional<Patch> patch = pass.match(n, context);
  if (patch && patch->removed().size() > 1 && are_held_apart(patch->removed())) patch.reset();
  if (patch && allows && !allows({pass, &n, &*patch, &context})) patch.reset();
  return patch;
}

/// The edits of a pass over the nodes, one time; at most `budget`.
int64_t sweep_once(Graph& g, const PassDef& pass, const PassContext& context, int64_t budget,
                   const AllowsEdit& allows) {
  if (budget <= 0) return 0;
  size_t i = 0;
  std::optional<Patch> patch;
  for (; i < g.nodes().size() && !patch; ++i) patch = find_edit(*g.nodes()[i], pass, context, allows);
  if (!patch) return 0;
  const int64_t limit = kMaxEditsPerNode * (static_cast<int64_t>(g.nodes().size()) + 1);
  Node* at = g.nodes()[i - 1].get();
  NodeOrder order(g);
  int64_t edits = 0;
  while (at != nullptr) {
    if (patch) {
      Node* before = place_before(*at, *patch, order);
      patch->apply(context, order);
      require(++edits <= limit, ErrorCode::kInternal, "the pass does not come to an end");
      if (edits == budget) break;
      at = before != nullptr ? before : order.first();
    } else {
      at = order.next(at);
    }
    patch = at != nullptr ? find_edit(*at, pass, context, allows) : std::nullopt;
  }
  order.commit();
  return edits;
}

/// Sweeps over the nodes until a sweep finds nothing; returns the number of edits.
int64_t sweep(Graph& g, const PassDef& pass, const PassContext& context, int64_t budget,
              const AllowsEdit& allows) {
  const int64_t limit = kMaxEditsPerNode * (static_cast<int64_t>(g.nodes().size()) + 1);
  int64_t edits = 0;
  while (const int64_t made = sweep_once(g, pass, context, budget - edits, allows)) {
    edits += made;
    require(edits <= limit, ErrorCode::kInternal, "the pass does not come to an end");
  }
  return edits;
}

/// Sweeps over the bodies of control flow, the outer ones first: an edit there may do away with inner ones.
/// What a region stands for is matched already, and nobody edits it.
int64_t sweep_bodies(const Graph& g, const PassDef& pass, const PassContext& context, int64_t budget,
                     const AllowsEdit& allows) {
  int64_t edits = 0;
  for (const auto& n : g.nodes()) {
    if (is_region(*n)) continue;
    for (const Graph* body : subgraphs_of(*n)) {
      edits += sweep(const_cast<Graph&>(*body), pass, context, budget - edits, allows);
      edits += sweep_bodies(*body, pass, context, budget - edits, allows);
    }
  }
  return edits;
}

/// Everything that a pass finds; returns the number of edits.
int64_t run_pass(Model& model, const PassDef& pass, int64_t budget, const PassOptions& options,
                 const AllowsEdit& allows) {
  if (pass.match == nullptr && allows && !allows({.pass = pass})) return 0;
  if (pass.custom != nullptr) return pass.custom->run(model) ? 1 : 0;
  if (pass.match == nullptr) return pass.run(model) ? 1 : 0;
  const PassContext context(model);
  int64_t edits = sweep(*model.graph, pass, context, budget, allows);
  if (options.recurse_subgraphs) edits += sweep_bodies(*model.graph, pass, context, budget - edits, allows);
  return edits;
}

/// Answers whether values know their consumers, without looking through those of a value for each of them.
class KnownConsumers {
 public:
  bool contains(const Value& v, const Node& n) {
    constexpr size_t kFew = 16;
    const std::vector<Node*>& list = v.consumers();
    if (list.size() <= kFew) return std::find(list.begin(), list.end(), &n) != list.end();
    const auto [it, is_new] = sets_.try_emplace(&v);
    if (is_new) it->second.insert(list.begin(), list.end());
    return it->second.contains(&n);
  }

 private:
  std::unordered_map<const Value*, std::unordered_set<const Node*>> sets_;
};

}  // namespace

void verify_graph(const Graph& g) {
  KnownConsumers known;
  std::unordered_set<const Value*> ready(g.inputs.begin(), g.inputs.end());
  for (const auto& n : g.nodes()) {
    for (const Value* v : n->inputs()) {
      if (v == nullptr) continue;
      require(known.contains(*v, *n), ErrorCode::kInternal, "the value '{}' does not know its consumer {}",
              v->name(), n->label());
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
  return run_passes(model, passes, options, nullptr);
}

std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options, const AllowsEdit& allows) {
  for (const std::string& name : options.disabled)
    require(passes_of(options).find(name) != nullptr, ErrorCode::kInvalidArgument,
            "there is no pass named '{}'", name);
  std::vector<PassReport> reports;
  int64_t left = options.max_edits;
  for (const PassDef* pass : passes) {
    stop_if_interrupted();
    if (std::find(options.disabled.begin(), options.disabled.end(), pass->name) != options.disabled.end())
      continue;
    if (left <= 0) break;
    const trace::Span span(trace::Kind::kPass, pass->name);
    const auto start = std::chrono::steady_clock::now();
    PassReport report{.pass = std::string(pass->name)};
    with_context([&] { return fmt::format("in pass {}", pass->name); },
                 [&] {
                   report.edits = run_pass(model, *pass, left, options, allows);
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
