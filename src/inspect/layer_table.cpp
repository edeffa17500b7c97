#include "inspect/layer_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/inspect.h"

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

}  // namespace assay
