// The page's data of a file that is not a model.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "graph/damaged_model.h"

namespace assay {

/// As write_model_payload(), with `problem` at the place of the error.
void write_damaged_payload(JsonWriter& json, const DamagedModel& model, std::string_view path);

}  // namespace assay
