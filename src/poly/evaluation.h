// Evaluations from their settings.
#pragma once

#include "assay/evaluation.h"
#include "eval/evaluate.h"
#include "poly/run_parts.h"

namespace assay::poly {

/// The options of an evaluation from its settings. `registries` and `edits` as for run_options(). Throws
/// Error for impossible settings and for data that cannot be opened.
eval::EvalOptions evaluation_options(const EvaluationSettings& settings,
                                     const extension::Registries& registries, const ModelEdits& edits);

/// Functions by FILE.py[:FUNCTION], prepared. Throws Error as MetricScript.
std::vector<std::shared_ptr<script::MetricScript>> metric_functions(const std::vector<std::string>& scripts);

/// Throws Error naming the missing samples unless all are there.
void require_complete(const eval::Evaluation& evaluation);

}  // namespace assay::poly
