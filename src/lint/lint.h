// `assay check lint`: finds all defects of a model in one run. assay/lint.h has the findings.
#pragma once

#include "assay/lint.h"
#include "lint/report.h"

namespace assay::lint {

/// As lint_model() of assay/lint.h, but findings point at their rules (rules.def).
Report check_model(const LintOptions& options);

}  // namespace assay::lint
