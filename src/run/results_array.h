// Arrays of a result file; run/results_read.cpp is the only user.
#pragma once

#include "run/results_json.h"
#include "tensor/tensor_store.h"

namespace assay::internal {

/// The tensor of an ndarray object: base64 of an .npy stream, decoded when it is loaded, or the form of old
/// versions: an .npz archive, or the raw bytes as latin-1 text. `place` names it in errors that loading
/// throws later. Throws Error for any other form, for a type without counterpart, and for truncated data.
StoredTensor decode_ndarray(const JsonNode& object, const JsonDocument& document, const std::string& place);

/// The tensor of a NarrowArray object: its type's name, its shape, and its bytes as an ndarray of uint8. Same
/// errors.
StoredTensor decode_narrow_array(const JsonNode& object, const JsonDocument& document,
                                 const std::string& place);

}  // namespace assay::internal
