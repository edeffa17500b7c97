#include "fuzz/targets/model_inputs.h"
#include "fuzz/targets/target.h"
#include "graph/import.h"

namespace assay::fuzz::target_text {
namespace {

void run(std::string_view input) { parse_text(input, "input", {.external_data_dir = "/proc/self/fdinfo"}); }

}  // namespace

constinit const Target def = {.name = "text", .run = run, .seeds = text_models, .words = kTextWords};

}  // namespace assay::fuzz::target_text
