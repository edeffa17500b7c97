#include "graph/value_info.h"

#include "graph/type_message.h"

namespace assay {

using onnx::MessageWriter;

namespace {

MessageWriter name_and_type(const Value& v) {
  MessageWriter w;
  w.copied(v.extra_fields);
  w.text(1, v.name());
  if (v.type.kind != Type::Kind::kUnknown) w.message(2, type_message(v.type));
  return w;
}

}  // namespace

MessageWriter value_info_message(const Value& v) {
  MessageWriter w = name_and_type(v);
  w.text_if(3, v.doc_string);
  write_metadata(w, 4, v.metadata);
  return w;
}

MessageWriter value_info_entry(const Value& v) {
  return v.is_constant() && !v.is_overridable ? name_and_type(v) : value_info_message(v);
}

void write_metadata(MessageWriter& message, uint32_t field, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    MessageWriter pair;
    pair.text(1, key);
    pair.text(2, value);
    message.message(field, pair);
  }
}

}  // namespace assay
