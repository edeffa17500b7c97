// The layers of a plan as a table of a report.
#pragma once

#include "assay/runtime.h"
#include "view/report.h"

namespace assay {

/// Tactic, types, formats and bytes of each layer of the first plan, and the ONNX nodes that it stands for.
ReportTable layer_table(const Engine& engine);

}  // namespace assay
