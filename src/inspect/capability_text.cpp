// Capability reports as tables and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "assay/inspect.h"
#include "base/json_writer.h"
#include "inspect/table_text.h"

namespace assay {
namespace {

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

std::string used_tactics(const TacticUse::Row& row) {
  return row.tactics.empty() ? "none needed" : fmt::format("{}", fmt::join(row.tactics, ", "));
}

std::string sums_text(const TacticUse::Sums& sums) {
  return fmt::format(
      "{} of {} node(s) run on fast tactics, {} by plain evaluation, {} need no step (folded, or a view)",
      sums.nodes - sums.evaluated - sums.without_step, sums.nodes, sums.evaluated, sums.without_step);
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& t : texts) json.value(t);
  json.end_array();
}

void write_unsupported(JsonWriter& json, const UnsupportedNode& u) {
  json.begin_object();
  write_texts(json, "stack", u.stack);
  json.key("index").value(static_cast<int64_t>(u.index)).key("op").value(u.op).key("name").value(u.name);
  json.key("reason").value(u.reason).end_object();
}

void write_row(JsonWriter& json, const TacticUse::Row& row) {
  json.begin_object().key("op").value(row.op);
  write_texts(json, "tactics", row.tactics);
  if (!row.reason.empty()) json.key("reason").value(row.reason);
  if (!row.body.empty()) json.key("body").value(row.body);
  json.key("nodes").begin_array();
  for (const size_t n : row.nodes) json.value(static_cast<int64_t>(n));
  json.end_array().end_object();
}

void write_range(JsonWriter& json, const RangeCapability& r) {
  json.begin_object();
  json.key("begin")
      .value(static_cast<int64_t>(r.nodes.begin))
      .key("end")
      .value(static_cast<int64_t>(r.nodes.end));
  json.key("supported").value(r.nodes.is_supported);
  if (r.use) {
    json.key("tactics").begin_array();
    for (const TacticUse::Row& row : r.use->rows) write_row(json, row);
    json.end_array();
  }
  if (!r.open_input.empty()) json.key("unknown_shape_of").value(r.open_input);
  if (!r.problem.empty()) json.key("problem").value(r.problem);
  json.end_object();
}

}  // namespace

std::string tactics_text(const TacticUse& use) {
  size_t op_width = 8, tactic_width = 6, reason_width = 6;
  for (const TacticUse::Row& r : use.rows) {
    op_width = std::max(op_width, text_width(r.op));
    tactic_width = std::max(tactic_width, text_width(used_tactics(r)));
    reason_width = std::max(reason_width, text_width(r.reason));
  }
  const std::string header = fmt::format("{} |   Count | {} | {} | Nodes", padded("Operator", op_width),
                                         padded("Tactic", tactic_width), padded("Reason", reason_width));
  std::string text =
      fmt::format("===== Tactics =====\n{}\n{}\n", header, std::string(text_width(header), '-'));
  for (const TacticUse::Row& r : use.rows)
    text += fmt::format("{} | {:7} | {} | {} | {}{}{}\n", padded(r.op, op_width), r.nodes.size(),
                        padded(used_tactics(r), tactic_width), padded(r.reason, reason_width), r.body,
                        r.body.empty() ? "" : " ", ranges_text(r.nodes));
  return text + sums_text(use.main) + (use.bodies.nodes > 0 ? "; in bodies " + sums_text(use.bodies) : "");
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

std::string unsupported_ranges_text(std::span<const NodeRange> ranges,
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
      std::string part =
          next->stack.empty() ? next->reason : fmt::format("{} [in {}]", next->reason, stack_text(*next));
      if (known.insert(part).second) parts.push_back(std::move(part));
    }
    ops.push_back(range.op);
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

std::string capability_json(const Capability& capability) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("unsupported").begin_array();
  for (const UnsupportedNode& u : capability.unsupported) write_unsupported(json, u);
  json.end_array().key("ranges").begin_array();
  for (const RangeCapability& r : capability.ranges) write_range(json, r);
  json.end_array().end_object();
  return text;
}

}  // namespace assay
