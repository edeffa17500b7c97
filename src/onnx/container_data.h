// Converts SequenceProto, OptionalProto and MapProto messages to containers (Tensor::sequence, ...).
#pragma once

#include <memory>
#include <string>

#include "assay/tensor.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay::onnx {

/// The value of a message for a container of that kind (kSequence, kOptional or kMap). Sparse
/// tensors become dense ones. A map's values are one tensor of one dimension where each is a single number or
/// string, else a sequence. Throws Error (kInvalidModel) where the message is ambiguous or inconsistent; and
/// for its tensors as decode_tensor().
Tensor decode_container(const ContainerMessage& m, DType kind, const std::shared_ptr<const void>& owner,
                        ExternalData& external);

/// Such a message alone in a file, as in ONNX's test data (input_0.pb). Throws Error naming the file.
Tensor load_container_file(const std::string& path, DType kind);

}  // namespace assay::onnx
