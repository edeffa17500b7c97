// `check lint` on the file, without running it.
#include "fuzz/targets/models.h"
#include "lint/lint.h"

namespace assay::fuzz {
namespace {

void run(std::string_view input) { lint::lint_model({.path = input_file(input)}); }

}  // namespace

constinit const Target target_model_lint = model_target("model_lint", run);

}  // namespace assay::fuzz
