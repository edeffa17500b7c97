#include "inspect/viewer_page.h"

#include "inspect/viewer_payload.h"

namespace assay {
namespace {

// kPageHead and kPageTail: viewer/*, put together by viewer/embed.py.
#include "inspect/viewer_page.inc"

std::string_view page_text(const unsigned char* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

template <typename WritePayload>
void write_page(const PageSink& sink, WritePayload write_payload) {
  sink(page_text(kPageHead, sizeof kPageHead));
  JsonWriter json(sink, JsonStyle::kScript);
  write_payload(json);
  sink(page_text(kPageTail, sizeof kPageTail));
}

}  // namespace

void write_model_page(const Model& model, std::string_view path, const PageSink& sink) {
  write_page(sink, [&](JsonWriter& json) { write_model_payload(json, model, path); });
}

void write_engine_page(const Engine& engine, std::string_view path, const PageSink& sink) {
  write_page(sink, [&](JsonWriter& json) { write_engine_payload(json, engine, path); });
}

}  // namespace assay
