// `assay check lint`: finds all defects of a model in one run. assay/lint.h has the findings.
#pragma once

#include "assay/lint.h"
#include "lint/report.h"

namespace assay::lint {

/// lint_model() with the rules themselves.
Report check_model(const LintOptions& options);

}  // namespace assay::lint
