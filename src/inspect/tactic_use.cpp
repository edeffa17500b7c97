#include "inspect/tactic_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "engine/build/plan_builder.h"
#include "graph/read.h"
#include "inspect/table_text.h"
#include "passes/graph_path.h"
#include "passes/origins.h"

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

/// [[begin, end], ...] of ascending numbers, as Python prints lists.
std::string ranges_text(const std::vector<size_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", numbers[i], numbers[end - 1] + 1);
    i = end;
  }
  return "[" + text + "]";
}

struct Row {
  std::string op, tactic, reason;
  std::string body;  ///< the path of the graph that the nodes are in; empty: the main graph
  std::vector<size_t> nodes;
};

/// Rows in the order in which their first nodes came.
class Rows {
 public:
  void add(Row row, size_t node) {
    const auto [it, is_new] = places_.try_emplace({row.op, row.tactic, row.reason, row.body}, rows_.size());
    if (is_new) rows_.push_back(std::move(row));
    rows_[it->second].nodes.push_back(node);
  }

  std::string str() const {
    size_t op_width = 8, tactic_width = 6, reason_width = 6;
    for (const Row& r : rows_) {
      op_width = std::max(op_width, text_width(r.op));
      tactic_width = std::max(tactic_width, text_width(r.tactic));
      reason_width = std::max(reason_width, text_width(r.reason));
    }
    const std::string header = fmt::format("{} |   Count | {} | {} | Nodes", padded("Operator", op_width),
                                           padded("Tactic", tactic_width), padded("Reason", reason_width));
    std::string text =
        fmt::format("===== Tactics =====\n{}\n{}\n", header, std::string(text_width(header), '-'));
    for (const Row& r : rows_)
      text += fmt::format("{} | {:7} | {} | {} | {}{}{}\n", padded(r.op, op_width), r.nodes.size(),
                          padded(r.tactic, tactic_width), padded(r.reason, reason_width), r.body,
                          r.body.empty() ? "" : " ", ranges_text(r.nodes));
    return text;
  }

 private:
  std::vector<Row> rows_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> places_;
};

/// What the steps of a plan say of a graph's nodes.
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

struct Sums {
  size_t nodes = 0, evaluated = 0, without = 0;
};

using Paths = std::unordered_map<const Graph*, std::string>;

/// A line for each node of the graph, and for those in the bodies that it holds. Empty `nodes`: what runs
/// them is not known yet.
void add_rows(const Graph& g, const std::vector<NodeTactics>& nodes, size_t first_index, const Paths& paths,
              Rows& rows, Sums& own, Sums& inner) {
  const std::string& path = paths.at(&g);
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& node = *g.nodes()[i];
    static const NodeTactics kUnknown = {.tactics = {"chosen in the run"}, .reason = {}, .bodies = {}};
    const NodeTactics& n = nodes.empty() ? kUnknown : nodes[i];
    ++own.nodes;
    own.evaluated += n.is_evaluated() ? 1 : 0;
    own.without += n.tactics.empty() ? 1 : 0;
    rows.add({.op = node.op_type,
              .tactic = n.tactics.empty() ? "none needed" : fmt::format("{}", fmt::join(n.tactics, ", ")),
              .reason = n.reason,
              .body = path,
              .nodes = {}},
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

std::string tactics_text(const Model& model, const std::vector<NodeTactics>& nodes, size_t first_index) {
  Paths paths;
  for (const GraphPlace& place : graph_places(model))
    paths[place.graph] = place.has_path ? place.path : fmt::format("in {}", place.holders.back()->label());
  Rows rows;
  Sums own, inner;
  add_rows(*model.graph, nodes, first_index, paths, rows, own, inner);
  const auto text = [](const Sums& sums) {
    return fmt::format(
        "{} of {} node(s) run on fast tactics, {} by plain evaluation, {} need no step (folded, or a view)",
        sums.nodes - sums.evaluated - sums.without, sums.nodes, sums.evaluated, sums.without);
  };
  return rows.str() + text(own) + (inner.nodes > 0 ? "; in bodies " + text(inner) : "");
}

}  // namespace assay
