#include "inspect/viewer_page.h"

#include "inspect/viewer_payload.h"

namespace assay {

void write_model_page(const Model& model, std::string_view path, const PageSink& sink) {
  write_page({.model = [&](JsonWriter& json) { write_model_payload(json, model, path); }}, sink);
}

void write_engine_page(const Engine& engine, std::string_view path, const PageSink& sink) {
  write_page({.model = [&](JsonWriter& json) { write_engine_payload(json, engine, path); }}, sink);
}

}  // namespace assay
