// The viewer page's data of a model or a plan, as JSON.
#pragma once

#include <string_view>

#include "assay/graph.h"
#include "assay/runtime.h"
#include "base/json_writer.h"

namespace assay {

/// Writes one object, described in docs/guide/viewer.md. Long names, extents and texts are shortened, so that
/// the document grows with the file and not with the number of uses.
void write_model_payload(JsonWriter& json, const Model& model, std::string_view path);
void write_engine_payload(JsonWriter& json, const Engine& engine, std::string_view path);

}  // namespace assay
