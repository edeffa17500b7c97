// What the viewer's page knows of a model or a plan, as JSON.
#pragma once

#include <string_view>

#include "assay/graph.h"
#include "assay/runtime.h"
#include "base/json_writer.h"

namespace assay {

/// Writes one object; docs/guide/viewer.md says what is in it. Names, extents and texts that are long are
/// shortened, so that the document grows with the file and not with how often something in it is used.
void write_model_payload(JsonWriter& json, const Model& model, std::string_view path);
void write_engine_payload(JsonWriter& json, const Engine& engine, std::string_view path);

}  // namespace assay
