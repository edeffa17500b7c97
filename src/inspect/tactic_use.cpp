#include "inspect/tactic_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "engine/specialize/plan_builder.h"
#include "graph/read.h"
#include "naming/graph_path.h"
#include "naming/origins.h"

namespace assay {
namespace {

constexpr std::string_view kEvaluate = "evaluate";

std::string refusals_text(const engine::Step& step) {
  std::string text;
  for (const engine::Refusal& r : step.refusals) {
    const std::string part = fmt::format("{}: {}", r.tactic, r.reason);
    if (text.find(part) == std::string::npos) text += (text.empty() ? "" : " | ") + part;
  }
  return text.empty() ? "no other tactic serves this operator" : text;
}

/// Rows in the order in which their first nodes came.
class Rows {
 public:
  explicit Rows(std::vector<TacticUse::Row>& rows) : rows_(rows) {}
  void add(TacticUse::Row row, size_t node) {
    const auto [it, is_new] = places_.try_emplace({row.op, row.tactics, row.reason, row.body}, rows_.size());
    if (is_new) rows_.push_back(std::move(row));
    rows_[it->second].nodes.push_back(node);
  }

 private:
  std::vector<TacticUse::Row>& rows_;
  std::map<std::tuple<std::string, std::vector<std::string>, std::string, std::string>, size_t> places_;
};

/// The tactics of a graph's nodes, from the steps of a plan.
std::vector<NodeTactics> tactics_of(const Graph& g, const engine::Plan& plan) {
  std::unordered_map<std::string, std::vector<size_t>> index;
  const auto& nodes = g.nodes();
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& name : origins_of(*nodes[i])) index[name].push_back(i);
  std::vector<NodeTactics> out(nodes.size());
  for (const engine::Step& step : plan.steps)
    for (const std::string& name : step.origins) {
      const auto it = index.find(name);
      if (it == index.end()) continue;
      for (const size_t i : it->second) {
        NodeTactics& node = out[i];
        if (std::find(node.tactics.begin(), node.tactics.end(), step.tactic) == node.tactics.end())
          node.tactics.push_back(step.tactic);
        if (step.tactic == kEvaluate) node.reason = refusals_text(step);
        const std::vector<const Graph*> bodies = subgraphs_of(*nodes[i]);
        if (bodies.empty() || step.networks.size() != bodies.size() + 1) continue;
        node.bodies.resize(bodies.size());
        for (size_t b = 0; b < bodies.size(); ++b)
          if (const auto& body = plan.networks[static_cast<size_t>(step.networks[b + 1])].plan)
            node.bodies[b] = tactics_of(*bodies[b], *body);
      }
    }
  return out;
}

using Paths = std::unordered_map<const Graph*, std::string>;

/// An entry for each node of the graph, and for those in its bodies. Empty `nodes`: their tactics are not
/// known yet.
void add_rows(const Graph& g, const std::vector<NodeTactics>& nodes, size_t first_index, const Paths& paths,
              Rows& rows, TacticUse::Sums& own, TacticUse::Sums& inner) {
  const std::string& path = paths.at(&g);
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& node = *g.nodes()[i];
    static const NodeTactics kUnknown = {.tactics = {"chosen in the run"}, .reason = {}, .bodies = {}};
    const NodeTactics& n = nodes.empty() ? kUnknown : nodes[i];
    ++own.nodes;
    own.evaluated += n.is_evaluated() ? 1 : 0;
    own.without_step += n.tactics.empty() ? 1 : 0;
    rows.add({.op = node.op_type, .tactics = n.tactics, .reason = n.reason, .body = path, .nodes = {}},
             first_index + i);
    const std::vector<const Graph*> bodies = subgraphs_of(node);
    for (size_t b = 0; b < bodies.size(); ++b)
      add_rows(*bodies[b], b < n.bodies.size() ? n.bodies[b] : std::vector<NodeTactics>(), 0, paths, rows,
               inner, inner);
  }
}

}  // namespace

std::vector<NodeTactics> plan_tactics(const Model& model, std::span<const Shape> input_shapes) {
  engine::BuildConfig config = engine::default_config(0);
  config.has_data = false;
  const auto plan = engine::PlanBuilder(model, config).build(input_shapes);
  return tactics_of(*model.graph, *plan);
}

TacticUse tactic_use(const Model& model, const std::vector<NodeTactics>& nodes, size_t first_index) {
  Paths paths;
  for (const GraphPlace& place : graph_places(model))
    paths[place.graph] = place.has_path ? place.path : fmt::format("in {}", place.holders.back()->label());
  TacticUse use;
  Rows rows(use.rows);
  add_rows(*model.graph, nodes, first_index, paths, rows, use.main, use.bodies);
  return use;
}

}  // namespace assay
