// `assay check lint`: everything that is wrong with a model, in one run. What is found is assay/lint.h's.
#pragma once

#include "assay/lint.h"
#include "lint/report.h"

namespace assay::lint {

/// lint_model() with the rules themselves.
Report check_model(const LintOptions& options);

}  // namespace assay::lint
