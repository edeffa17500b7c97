#include "fuzz/targets/model_inputs.h"
#include "fuzz/targets/target.h"
#include "graph/import.h"

namespace assay::fuzz {
namespace {

void run(std::string_view input) { parse_text(input, "input", {.external_data_dir = "/proc/self/fdinfo"}); }

}  // namespace

constinit const Target target_text = {.name = "text", .run = run, .seeds = text_models, .words = kTextWords};

}  // namespace assay::fuzz
