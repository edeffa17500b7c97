// Initializers whose data change while all else that their file says of them stays.
#pragma once

#include <string>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// Gives an initializer other data of the same type and shape. What its message says besides (doc string,
/// metadata, unknown fields) is saved as it was read, also where the initializer is a graph input, too.
void replace_data(Value& initializer, UnalignedTensor data);

/// Takes the data of an initializer away: it keeps type and shape and is saved with empty data and this doc
/// string, which begins with onnx::kWeightlessMark. The data themselves are not looked at.
void strip_data(Value& initializer, std::string_view doc_string);

/// True for an initializer whose data were stripped, by strip_data() or in its file.
bool is_weightless(const Value& initializer);

/// The doc string of the message that an initializer was read from; empty when it has none.
std::string tensor_doc_string(const Value& initializer);

}  // namespace assay
