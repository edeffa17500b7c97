// The layers of a plan as a table of a report.
#pragma once

#include "assay/runtime.h"
#include "view/report.h"

namespace assay {

/// Tactic, types, formats and bytes of each layer of the first plan, and the ONNX nodes that it stands for.
ReportTable layer_table(const Engine& engine);

/// For each region of a network the tactics that could take it, with their times, and those that could not,
/// with the reason. No rows for an engine that was loaded: its plan does not say it.
ReportTable choice_table(const Engine& engine);

/// Products that stay in float32 for want of an algorithm in the allowed types, with the reason.
ReportTable near_miss_table(const Engine& engine);

/// Adds those of these tables that have rows.
void add_plan_tables(const Engine& engine, Report& report);

}  // namespace assay
