#include "inspect/layer_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "assay/inspect.h"
#include "engine/objects/state.h"

namespace assay {

ReportTable layer_table(const Engine& engine) {
  using Kind = ReportColumn::Kind;
  const EngineDescription description = describe(engine, {.layers = true, .attrs = true});
  ReportTable table{
      .title = "Layers of the plan",
      .note =
          "In the order in which they run. A node that stands in none was folded, or only views a tensor.",
      .columns = {{"layer", Kind::kNode},
                  {"tactic"},
                  {"computes in"},
                  {"result"},
                  {"bytes of results", Kind::kNumber, "B"},
                  {"bytes of constants", Kind::kNumber, "B"},
                  {"nodes"}}};
  for (const PlanLayerDescription& layer : description.layers) {
    int64_t results = 0, constants = 0;
    for (const PlanValueDescription& v : layer.outputs) results += static_cast<int64_t>(v.bytes);
    for (const PlanValueDescription& v : layer.inputs)
      if (v.is_constant) constants += static_cast<int64_t>(v.bytes);
    const PlanValueDescription* first = layer.outputs.empty() ? nullptr : &layer.outputs.front();
    table.rows.push_back(
        {layer.name, layer.way, layer.computes,
         first == nullptr ? std::string() : fmt::format("{} {}", dtype_name(first->dtype), first->format),
         results, constants, fmt::format("{}", fmt::join(layer.origins, ", "))});
  }
  return table;
}

ReportTable choice_table(const Engine& engine) {
  using Kind = ReportColumn::Kind;
  ReportTable table{
      .title = "Tactics that were considered",
      .note =
          "Of each region: what it could have been computed with and how long that takes, the chosen one "
          "first, "
          "then those that could not take it.",
      .columns = {
          {"region", Kind::kNode}, {"tactic"}, {"outcome"}, {"time", Kind::kNumber, "us"}, {"why not"}}};
  for (const engine::RegionReport& r : engine.state().choices) {
    const std::string region = fmt::format("{}", fmt::join(r.origins, " + "));
    std::vector<engine::RegionReport::Line> lines = r.candidates;
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a.chosen != b.chosen ? a.chosen : a.seconds < b.seconds;
    });
    for (const engine::RegionReport::Line& line : lines)
      table.rows.push_back({region, line.candidate, std::string(line.chosen ? "chosen" : "possible"),
                            1e6 * line.seconds, std::string()});
    for (const engine::Refusal& refusal : r.refusals)
      table.rows.push_back({region, refusal.tactic, std::string("refused"), {}, refusal.reason});
  }
  return table;
}

ReportTable near_miss_table(const Engine& engine) {
  using Kind = ReportColumn::Kind;
  ReportTable table{.title = "Products that stay in float32",
                    .note =
                        "A narrower type was allowed, but no algorithm could take them. Those with most "
                        "multiply-adds first.",
                    .columns = {{"layer", Kind::kNode}, {"why"}, {"multiply-adds", Kind::kNumber}}};
  for (const engine::NearMiss& m : engine.state().saved.near_misses)
    table.rows.push_back({m.layer, m.reason, m.multiply_adds});
  return table;
}

void add_plan_tables(const Engine& engine, Report& report) {
  for (ReportTable& table : std::vector{layer_table(engine), choice_table(engine), near_miss_table(engine)})
    if (!table.rows.empty()) report.sections.emplace_back(std::move(table));
}

}  // namespace assay
