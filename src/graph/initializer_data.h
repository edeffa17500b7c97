// Changes an initializer's data and keeps its other fields from the file.
#pragma once

#include <string>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// Gives an initializer other data of the same type and shape. Other fields of its message (doc string,
/// metadata, unknown fields) are saved as they were read, also if the initializer is a graph input.
void replace_data(Value& initializer, UnalignedTensor data);

/// Strips the data of an initializer: it keeps type and shape and is saved with empty data and this doc
/// string, which begins with onnx::kWeightlessMark. Does not access the data.
void strip_data(Value& initializer, std::string_view doc_string);

/// True for an initializer whose data were stripped, by strip_data() or in its file.
bool is_weightless(const Value& initializer);

/// The doc string of the message that an initializer was read from; empty when it has none.
std::string tensor_doc_string(const Value& initializer);

}  // namespace assay
