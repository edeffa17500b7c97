#include "inspect/capability.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/clone.h"
#include "graph/function_index.h"
#include "graph/order.h"
#include "inspect/table_text.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

/// Functions may call each other so deep; inference and the engine have the same limit.
constexpr size_t kMaxCallDepth = 64;

/// Walks the nodes of a model and of what they call and hold.
class Finder {
 public:
  using Problems = std::unordered_map<const Node*, std::string>;

  Finder(const Model& model, const Problems& problems) : model_(model), functions_(model), problems_(problems) {}

  std::vector<UnsupportedNode> run() {
    std::vector<UnsupportedNode> all;
    const Model opsets = scope_of(model_, model_.opsets);
    const auto& nodes = model_.graph->nodes();
    for (size_t i = 0; i < nodes.size(); ++i)
      for (UnsupportedNode& u : look(*nodes[i], opsets)) {
        u.index = i;
        all.push_back(std::move(u));
      }
    return all;
  }

 private:
  std::vector<UnsupportedNode> look(const Node& n, const Model& opsets) {
    if (const Function* f = functions_.called(n))
      return look_into_call(n, *f);
    std::vector<UnsupportedNode> found;
    if (std::string reason = problem(n, opsets); !reason.empty())
      found.push_back({.op = n.op_type, .name = n.name, .reason = std::move(reason)});
    for (const Attribute& a : n.attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) append(found, look(**g, opsets));
      if (const auto* graphs = a.get_if<Attribute::Graphs>())
        for (const auto& g : *graphs) append(found, look(*g, opsets));
    }
    return found;
  }

  std::vector<UnsupportedNode> look(const Graph& g, const Model& opsets) {
    std::vector<UnsupportedNode> found;
    for (const auto& n : g.nodes()) append(found, look(*n, opsets));
    return found;
  }

  std::vector<UnsupportedNode> look_into_call(const Node& n, const Function& f) {
    std::vector<UnsupportedNode> found;
    if (std::find(open_.begin(), open_.end(), &f) != open_.end() || open_.size() >= kMaxCallDepth) {
      found.push_back(
          {.op = n.op_type, .name = n.name, .reason = "local functions call each other without end"});
    } else if (const auto it = known_.find(&f); it != known_.end()) {
      found = it->second;
    } else {
      open_.push_back(&f);
      found = look(*f.body, scope_of(model_, f.opsets));
      open_.pop_back();
      known_.emplace(&f, found);
    }
    for (UnsupportedNode& u : found) u.stack.insert(u.stack.begin(), fmt::format("{} ({})", n.name, f.name));
    return found;
  }

  static void append(std::vector<UnsupportedNode>& list, std::vector<UnsupportedNode> more) {
    for (UnsupportedNode& u : more) list.push_back(std::move(u));
  }

  std::string problem(const Node& n, const Model& opsets) const {
    try {
      const BoundOp op = require_op(n, opsets);
      check_node(n, *op.op, *op.version);
    } catch (const Error& e) {
      return e.what();
    }
    const auto it = problems_.find(&n);
    return it != problems_.end() ? it->second : std::string();
  }

  const Model& model_;
  const FunctionIndex functions_;
  const Problems& problems_;
  std::vector<const Function*> open_;
  std::unordered_map<const Function*, std::vector<UnsupportedNode>> known_;
};

std::string stack_text(const UnsupportedNode& u) {
  std::string text;
  for (const std::string& call : u.stack) text += (text.empty() ? "" : " -> ") + call;
  return text;
}

size_t max_width(size_t least, const std::vector<std::string>& texts) {
  for (const std::string& t : texts) least = std::max(least, text_width(t));
  return least;
}

/// The title, and a header with dashes below that count its newline.
std::string table_head(const std::string& header) {
  return fmt::format("===== Summary =====\n{}\n{}\n", header, std::string(text_width(header) + 1, '-'));
}

}  // namespace

std::vector<UnsupportedNode> find_unsupported(Model& model) {
  Finder::Problems problems;
  infer_shapes(
      model, {.on_problem = [&](const Node& n, const std::string& reason) { problems.emplace(&n, reason); }});
  return Finder(model, problems).run();
}

std::vector<NodeRange> partition(const Model& model, const std::vector<UnsupportedNode>& unsupported) {
  std::vector<bool> is_supported(model.graph->nodes().size(), true);
  for (const UnsupportedNode& u : unsupported) is_supported[u.index] = false;
  std::vector<NodeRange> ranges;
  for (size_t i = 0; i < is_supported.size(); ++i) {
    if (ranges.empty() || ranges.back().is_supported != is_supported[i])
      ranges.push_back({.begin = i, .end = i, .is_supported = is_supported[i]});
    ranges.back().end = i + 1;
  }
  return ranges;
}

std::string unsupported_nodes_text(const std::vector<UnsupportedNode>& unsupported) {
  std::vector<std::string> stacks, ops, names, reasons;
  std::vector<std::vector<size_t>> groups;  // of one stack
  std::unordered_map<std::string, size_t> places;
  for (const UnsupportedNode& u : unsupported) {
    stacks.push_back(stack_text(u));
    ops.push_back(u.op);
    names.push_back(u.name);
    reasons.push_back(u.reason);
    const auto [it, is_new] = places.try_emplace(stacks.back(), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(stacks.size() - 1);
  }
  const size_t stack_width = max_width(12, stacks), op_width = max_width(9, ops),
               name_width = max_width(5, names), reason_width = max_width(0, reasons);
  const auto row = [&](std::string_view stack, std::string_view op, std::string_view name,
                       std::string_view reason) {
    return fmt::format("{} | {} | {} | {}", padded(stack, stack_width), padded(op, op_width),
                       padded(name, name_width), padded(reason, reason_width));
  };
  std::string text = table_head(row("Stack trace", "Operator", "Node", "Reason"));
  for (const std::vector<size_t>& group : groups)
    for (const size_t i : group) text += row(stacks[i], ops[i], names[i], reasons[i]) + "\n";
  return text;
}

std::string unsupported_ranges_text(const Model& model, const std::vector<NodeRange>& ranges,
                                    const std::vector<UnsupportedNode>& unsupported) {
  struct Row {
    std::string op, reason;
    std::vector<std::string> nodes;
  };
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, size_t> places;
  std::vector<std::string> ops, reasons;
  auto next = unsupported.begin();  // they are in the order of the nodes
  for (const NodeRange& range : ranges) {
    if (range.is_supported) continue;
    std::vector<std::string> parts;
    std::unordered_set<std::string> known;
    for (; next != unsupported.end() && next->index < range.end; ++next) {
      std::string part = next->stack.empty() ? next->reason : fmt::format("{} [in {}]", next->reason, stack_text(*next));
      if (known.insert(part).second) parts.push_back(std::move(part));
    }
    ops.push_back(model.graph->nodes()[range.begin]->op_type);
    reasons.push_back(fmt::format("{}", fmt::join(parts, " | ")));
    const auto [it, is_new] = places.try_emplace({ops.back(), reasons.back()}, rows.size());
    if (is_new) rows.push_back({ops.back(), reasons.back(), {}});
    rows[it->second].nodes.push_back(fmt::format("[{}, {}]", range.begin, range.end));
  }
  const size_t op_width = max_width(9, ops), reason_width = max_width(0, reasons);
  std::string text = table_head(fmt::format("{}| {:7} | {} | Nodes", padded("Operator", op_width), "Count",
                                            padded("Reason", reason_width)));
  for (const Row& r : rows)
    text += fmt::format("{}| {:7} | {} | [{}]\n", padded(r.op, op_width), r.nodes.size(),
                        padded(r.reason, reason_width), fmt::join(r.nodes, ", "));
  return text;
}

}  // namespace assay
