#include "view/page.h"

namespace assay {
namespace {

// kPageHead, kPageReport, kPageOther, kPageTail: page/*, put together by page/embed.py.
#include "view/page.inc"

template <size_t kSize>
std::string_view text_of(const unsigned char (&data)[kSize]) {
  return {reinterpret_cast<const char*>(data), kSize};
}

void write_part(const WritePagePart& part, const PageSink& sink) {
  JsonWriter json(sink, JsonStyle::kScript);
  if (part)
    part(json);
  else
    json.null();
}

}  // namespace

void write_page(const PageParts& parts, const PageSink& sink) {
  sink(text_of(kPageHead));
  write_part(parts.model, sink);
  sink(text_of(kPageReport));
  write_part(parts.report, sink);
  sink(text_of(kPageOther));
  write_part(parts.other, sink);
  sink(text_of(kPageTail));
}

}  // namespace assay
