// `check lint` on the file, without running it.
#include "fuzz/targets/models.h"
#include "lint/lint.h"

namespace assay::fuzz::target_model_lint {
namespace {

void run(std::string_view input) { lint::lint_model({.path = input_file(input)}); }

}  // namespace

constinit const Target def = model_target("model_lint", run);

}  // namespace assay::fuzz::target_model_lint
