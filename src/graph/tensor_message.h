// The TensorProto message of a constant, as it was read and as it is written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "onnx/writer.h"

namespace assay {

/// Numbers of TensorProto's fields.
namespace tensor_field {
inline constexpr uint32_t kName = 8, kRawData = 9, kDocString = 12, kExternalData = 13, kDataLocation = 14,
                          kMetadata = 16;
inline constexpr std::initializer_list<uint32_t> kPlaces = {kExternalData, kDataLocation};
/// float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data, and the places.
inline constexpr std::initializer_list<uint32_t> kDataAndPlaces = {
    4, 5, 6, 7, kRawData, 10, 11, kExternalData, kDataLocation};
}  // namespace tensor_field

/// True when the source is of a tensor with this type, shape and data, so that the other fields of its
/// message are still valid.
bool describes(const TensorSource* source, DType dtype, const Shape& shape, const void* data);

/// Appends encoded fields except those with numbers in `but`. The bytes must live until the message is
/// written.
void copy_fields(onnx::MessageWriter& message, std::string_view fields, const std::vector<uint32_t>& but);

/// TensorProto's dims and data_type.
void write_tensor_type(onnx::MessageWriter& message, DType dtype, const Shape& shape);

}  // namespace assay
