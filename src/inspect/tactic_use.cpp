#include "inspect/tactic_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "engine/build/builder.h"
#include "inspect/table_text.h"
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
  std::vector<size_t> nodes;
};

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

std::string tactics_text(const Graph& graph, const std::vector<NodeTactics>& nodes, size_t first_index) {
  std::vector<Row> rows;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  size_t evaluated = 0, without = 0, op_width = 8, tactic_width = 6, reason_width = 6;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeTactics& n = nodes[i];
    evaluated += n.is_evaluated() ? 1 : 0;
    without += n.tactics.empty() ? 1 : 0;
    Row row{graph.nodes()[i]->op_type, fmt::format("{}", fmt::join(n.tactics, ", ")), n.reason, {}};
    if (n.tactics.empty()) row.tactic = "none needed";
    op_width = std::max(op_width, text_width(row.op));
    tactic_width = std::max(tactic_width, text_width(row.tactic));
    reason_width = std::max(reason_width, text_width(row.reason));
    const auto [it, is_new] = places.try_emplace({row.op, row.tactic, row.reason}, rows.size());
    if (is_new) rows.push_back(std::move(row));
    rows[it->second].nodes.push_back(first_index + i);
  }
  const std::string header = fmt::format("{} |   Count | {} | {} | Nodes", padded("Operator", op_width),
                                         padded("Tactic", tactic_width), padded("Reason", reason_width));
  std::string text =
      fmt::format("===== Tactics =====\n{}\n{}\n", header, std::string(text_width(header), '-'));
  for (const Row& r : rows)
    text += fmt::format("{} | {:7} | {} | {} | {}\n", padded(r.op, op_width), r.nodes.size(),
                        padded(r.tactic, tactic_width), padded(r.reason, reason_width), ranges_text(r.nodes));
  return text +
         fmt::format(
             "{} of {} node(s) run on fast tactics, {} by plain evaluation, {} need no step (folded, or a "
             "view)",
             nodes.size() - evaluated - without, nodes.size(), evaluated, without);
}

}  // namespace assay
