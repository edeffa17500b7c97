// A verdict as JSON, as `run --save-verdict` writes it.
#pragma once

#include "assay/arbiter.h"
#include "base/json_writer.h"

namespace assay {

/// One element of `iterations`.
void write_verdict(JsonWriter& json, const Arbitration& iteration);

}  // namespace assay
