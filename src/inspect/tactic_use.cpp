#include "inspect/tactic_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "engine/build/builder.h"
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

/// The nodes in the bodies of nodes that the engine interprets; their number.
size_t add_bodies(const Model& model, const std::vector<NodeTactics>& nodes, Rows& rows) {
  std::unordered_map<const Node*, const NodeTactics*> tactics_of;
  for (size_t i = 0; i < nodes.size(); ++i) tactics_of[model.graph->nodes()[i].get()] = &nodes[i];
  size_t count = 0;
  for (const GraphPlace& place : graph_places(model)) {
    if (place.holders.empty() || place.function != nullptr) continue;
    const Node& holder = *place.holders.front();
    if (!tactics_of.at(&holder)->is_evaluated()) continue;
    const std::string path = place.has_path ? place.path : fmt::format("in {}", holder.label());
    for (size_t i = 0; i < place.graph->nodes().size(); ++i, ++count)
      rows.add({.op = place.graph->nodes()[i]->op_type,
                .tactic = std::string(kEvaluate),
                .reason = fmt::format("bodies of {} are interpreted", holder.op_type),
                .body = path,
                .nodes = {}},
               i);
  }
  return count;
}

}  // namespace

std::vector<NodeTactics> plan_tactics(const Model& model, std::span<const Shape> input_shapes) {
  engine::BuildConfig config = engine::default_config(0);
  config.has_data = false;
  const auto plan = engine::Builder(model, config).build(input_shapes);
  std::unordered_map<std::string, std::vector<size_t>> index;
  const auto& nodes = model.graph->nodes();
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& name : origins_of(*nodes[i])) index[name].push_back(i);
  std::vector<NodeTactics> out(nodes.size());
  for (const engine::Step& step : plan->steps)
    for (const std::string& name : step.origins) {
      const auto it = index.find(name);
      if (it == index.end()) continue;
      for (const size_t i : it->second) {
        NodeTactics& node = out[i];
        if (std::find(node.tactics.begin(), node.tactics.end(), step.tactic) == node.tactics.end())
          node.tactics.push_back(step.tactic);
        if (step.tactic == kEvaluate) node.reason = refusals_text(step);
      }
    }
  return out;
}

std::string tactics_text(const Model& model, const std::vector<NodeTactics>& nodes, size_t first_index) {
  Rows rows;
  size_t evaluated = 0, without = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeTactics& n = nodes[i];
    evaluated += n.is_evaluated() ? 1 : 0;
    without += n.tactics.empty() ? 1 : 0;
    rows.add({.op = model.graph->nodes()[i]->op_type,
              .tactic = n.tactics.empty() ? "none needed" : fmt::format("{}", fmt::join(n.tactics, ", ")),
              .reason = n.reason,
              .body = {},
              .nodes = {}},
             first_index + i);
  }
  const size_t inner = add_bodies(model, nodes, rows);
  std::string text = rows.str() +
                     fmt::format(
                         "{} of {} node(s) run on fast tactics, {} by plain evaluation, {} need no step "
                         "(folded, or a view)",
                         nodes.size() - evaluated - without, nodes.size(), evaluated, without);
  if (inner > 0) text += fmt::format("; {} more inside them, by plain evaluation", inner);
  return text;
}

}  // namespace assay
