// TypeProto and Type.
#pragma once

#include "assay/type.h"
#include "onnx/messages.h"
#include "onnx/writer.h"

namespace assay {

/// The element type of that number; 0 is kUndefined.
/// Throws Error (kInvalidModel) for an unknown number.
DType to_dtype(int64_t number);
/// Keeps the message's bytes in Type::source if the type does not represent all of them.
Type to_type(const onnx::TypeMessage& message);
onnx::MessageWriter type_message(const Type& type);

}  // namespace assay
