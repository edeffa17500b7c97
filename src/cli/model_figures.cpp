#include "cli/model_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "console/text_table.h"
#include "graph/topological_scope.h"
#include "passes/pass_list.h"
#include "run/model_loader.h"

namespace assay::cli {
namespace {

/// Operators in the table, those with the largest change.
constexpr size_t kOperators = 12;

std::string bytes_text(const std::string& bytes) { return bytes + " B"; }

std::string change_text(std::optional<int64_t> before, std::optional<int64_t> after) {
  if (!before || !after || *before == *after) return "";
  if (*before == 0) return fmt::format("+{}", *after);
  return fmt::format("{:+.1f} %",
                     100.0 * static_cast<double>(*after - *before) / static_cast<double>(*before));
}

struct Rows {
  void add(const std::string& name, int64_t before, int64_t after) {
    rows.push_back({name, std::to_string(before), std::to_string(after), change_text(before, after)});
  }
  void add(const std::string& name, const Count& before, const Count& after, bool is_bytes) {
    const auto text = [&](const Count& c) { return is_bytes ? bytes_text(c.str()) : c.str(); };
    rows.push_back({name, text(before), text(after), change_text(before.number(), after.number())});
  }

  std::vector<FigureRow> rows;
};

int64_t count_of(const std::map<std::string, int64_t>& operators, const std::string& name) {
  const auto it = operators.find(name);
  return it == operators.end() ? 0 : it->second;
}

void add_operators(Rows& rows, const ModelFigures& before, const ModelFigures& after) {
  std::map<std::string, int64_t> all = before.operators;
  all.insert(after.operators.begin(), after.operators.end());
  std::vector<std::pair<int64_t, std::string>> changed;
  for (const auto& [name, any] : all)
    if (const int64_t by = count_of(after.operators, name) - count_of(before.operators, name); by != 0)
      changed.emplace_back(-std::abs(by), name);
  std::sort(changed.begin(), changed.end());
  for (size_t i = 0; i < std::min(changed.size(), kOperators); ++i) {
    const std::string& name = changed[i].second;
    rows.add("  " + name, count_of(before.operators, name), count_of(after.operators, name));
  }
}

}  // namespace

std::optional<ModelFigures> figures_of(const std::function<std::shared_ptr<Model>()>& load) {
  const log::Capture quiet;
  try {
    const std::shared_ptr<Model> model = load();
    pass_inline_functions::def.run(*model);
    const TopologicalScope sorted(*model);
    infer_known_shapes(*model);
    ModelFigures figures{.stats = model_stats(*model)};
    for (const OperatorStats& o : figures.stats.operators) figures.operators[o.op_type] = o.nodes;
    return figures;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<FigureRow> figure_rows(const ModelFigures& before, const ModelFigures& after) {
  Rows rows;
  rows.add("Nodes", before.stats.nodes, after.stats.nodes);
  add_operators(rows, before, after);
  rows.add("Parameters", before.stats.parameters, after.stats.parameters);
  rows.add("Multiply-accumulates", before.stats.macs, after.stats.macs, false);
  rows.add("Memory of values", before.stats.peak_bytes, after.stats.peak_bytes, true);
  rows.add("Initialized bytes", Count(before.stats.constant_bytes), Count(after.stats.constant_bytes), true);
  return std::move(rows.rows);
}

std::string figures_text(const std::vector<FigureRow>& rows) {
  TextTable table({{""}, {"Before", true}, {"After", true}, {"Change", true}});
  for (const FigureRow& r : rows) table.add({r.name, r.before, r.after, r.change});
  return table.str(table_columns(0));
}

}  // namespace assay::cli
