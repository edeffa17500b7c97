#include "lint/report.h"

#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/log.h"

namespace assay::lint {
namespace {

void log_entry(const Entry& e) {
  const std::string scope =
      e.node.empty() || e.operator_.empty() ? "" : fmt::format("Name: {}, Op: {} | ", e.node, e.operator_);
  switch (e.rule->level) {
    case Level::kException:
      return log::error("LINT | {}{}", scope, e.message);
    case Level::kWarning:
      return log::warning("LINT | {}{}", scope, e.message);
    default:
      return log::info("LINT | {}{}", scope, e.message);
  }
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
  log_entry(e);
  if (rule.level == Level::kException) {
    is_valid_ = false;
    if (!e.node.empty() && failing_set_.insert(e.node).second) failing_.push_back(e.node);
  }
  entries_.push_back(std::move(e));
}

void Report::save(const std::string& path) const {
  log::info("Saving linting report to {}", path);
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object().key("summary").begin_object();
  write_names(json, "passing", passing());
  write_names(json, "failing", failing_);
  json.end_object().key("lint_entries").begin_array();
  for (const Entry& e : entries_) {
    json.begin_object();
    json.key("level").value(level_name(e.rule->level));
    json.key("source").value(e.rule->source);
    json.key("message").value(e.message);
    if (!e.node.empty()) write_names(json, "nodes", {e.node});
    if (!upstream_only_) json.key("rule").value(e.rule->name);
    json.end_object();
  }
  json.end_array().end_object();
  file.commit();
}

}  // namespace assay::lint
