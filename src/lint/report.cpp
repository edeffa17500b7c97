#include "lint/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"

namespace assay::lint {
namespace {

Finding finding(const Entry& e) {
  return {.rule = std::string(e.rule->name),
          .level = e.rule->level,
          .source = std::string(e.rule->source),
          .message = e.message,
          .node = e.node,
          .op_type = e.operator_};
}

void write_names(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.key(key).begin_array();
  for (const std::string& name : names) json.value(name);
  json.end_array();
}

}  // namespace

void Report::add_passing(const std::string& node) {
  if (!failing_set_.contains(node) && passing_set_.insert(node).second) passing_.push_back(node);
}

std::vector<std::string> Report::passing() const {
  std::vector<std::string> names;
  for (const std::string& node : passing_)
    if (!failing_set_.contains(node)) names.push_back(node);
  return names;
}

void Report::keep(const Rule& rule, const Place& place, std::string message) {
  Entry e{&rule, place.inside + std::move(message), place.node, place.operator_};
  if (on_finding_) on_finding_(finding(e));
  if (rule.level == Level::kException) {
    is_valid_ = false;
    if (!e.node.empty() && failing_set_.insert(e.node).second) failing_.push_back(e.node);
  }
  entries_.push_back(std::move(e));
}

Findings Report::findings() const {
  Findings all{.entries = {}, .passing = passing(), .failing = failing_, .upstream_only = upstream_only_};
  for (const Entry& e : entries_) all.entries.push_back(finding(e));
  return all;
}

bool Findings::is_valid() const {
  return std::none_of(entries.begin(), entries.end(),
                      [](const Finding& f) { return f.level == Level::kException; });
}

std::string finding_text(const Finding& f) {
  const std::string scope =
      f.node.empty() || f.op_type.empty() ? "" : fmt::format("Name: {}, Op: {} | ", f.node, f.op_type);
  return fmt::format("LINT | {}{}", scope, f.message);
}

std::string findings_json(const Findings& findings) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("summary").begin_object();
  write_names(json, "passing", findings.passing);
  write_names(json, "failing", findings.failing);
  json.end_object().key("lint_entries").begin_array();
  for (const Finding& f : findings.entries) {
    json.begin_object();
    json.key("level").value(level_name(f.level));
    json.key("source").value(f.source);
    json.key("message").value(f.message);
    if (!f.node.empty()) write_names(json, "nodes", {f.node});
    if (!findings.upstream_only) json.key("rule").value(f.rule);
    json.end_object();
  }
  json.end_array().end_object();
  return text;
}

}  // namespace assay::lint
