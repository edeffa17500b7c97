// ValueInfoProto of a value.
#pragma once

#include "assay/graph.h"
#include "onnx/writer.h"

namespace assay {

/// Name, type unless it is unknown, doc string and metadata.
onnx::MessageWriter value_info_message(const Value& value);
/// The same for the entry in value_info of a value that may be an initializer, whose doc string and metadata
/// are with its data.
onnx::MessageWriter value_info_entry(const Value& value);
/// A message's metadata_props field.
void write_metadata(onnx::MessageWriter& message, uint32_t field, const Metadata& metadata);

}  // namespace assay
