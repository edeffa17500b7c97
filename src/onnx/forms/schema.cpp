// onnx.proto of ONNX 1.23: names, numbers and kinds of all fields.
#include "onnx/forms/schema.h"

namespace assay::onnx {
namespace schema {

constexpr EnumValue kDataLocations[] = {{"DEFAULT", 0}, {"EXTERNAL", 1}};
constexpr EnumValue kAttributeTypes[] = {{"UNDEFINED", 0},       {"FLOAT", 1},       {"INT", 2},
                                         {"STRING", 3},          {"TENSOR", 4},      {"GRAPH", 5},
                                         {"FLOATS", 6},          {"INTS", 7},        {"STRINGS", 8},
                                         {"TENSORS", 9},         {"GRAPHS", 10},     {"SPARSE_TENSOR", 11},
                                         {"SPARSE_TENSORS", 12}, {"TYPE_PROTO", 13}, {"TYPE_PROTOS", 14}};

constexpr FieldSchema one(uint32_t number, std::string_view name, FieldKind kind) {
  return {number, name, kind};
}
constexpr FieldSchema list(uint32_t number, std::string_view name, FieldKind kind) {
  return {number, name, kind, true};
}
constexpr FieldSchema packed(uint32_t number, std::string_view name, FieldKind kind) {
  return {number, name, kind, true, true};
}
constexpr FieldSchema message(uint32_t number, std::string_view name, const MessageSchema& m) {
  return {number, name, FieldKind::kMessage, false, false, &m};
}
constexpr FieldSchema messages(uint32_t number, std::string_view name, const MessageSchema& m) {
  return {number, name, FieldKind::kMessage, true, false, &m};
}
constexpr FieldSchema enumeration(uint32_t number, std::string_view name, std::span<const EnumValue> values) {
  return {number, name, FieldKind::kEnum, false, false, nullptr, values};
}

// Messages hold each other.
extern const MessageSchema kTypeSchema, kGraphSchema;

constexpr FieldSchema kStringStringEntryFields[] = {one(1, "key", FieldKind::kString),
                                                    one(2, "value", FieldKind::kString)};

constinit const MessageSchema kStringStringEntrySchema = {"StringStringEntryProto", kStringStringEntryFields};

constexpr FieldSchema kOperatorSetIdFields[] = {one(1, "domain", FieldKind::kString),
                                                one(2, "version", FieldKind::kInt64)};

constinit const MessageSchema kOperatorSetIdSchema = {"OperatorSetIdProto", kOperatorSetIdFields};

constexpr FieldSchema kSegmentFields[] = {one(1, "begin", FieldKind::kInt64),
                                          one(2, "end", FieldKind::kInt64)};

constinit const MessageSchema kSegmentSchema = {"TensorProto.Segment", kSegmentFields};

constexpr FieldSchema kTensorFields[] = {list(1, "dims", FieldKind::kInt64),
                                         one(2, "data_type", FieldKind::kInt32),
                                         message(3, "segment", kSegmentSchema),
                                         packed(4, "float_data", FieldKind::kFloat),
                                         packed(5, "int32_data", FieldKind::kInt32),
                                         list(6, "string_data", FieldKind::kBytes),
                                         packed(7, "int64_data", FieldKind::kInt64),
                                         one(8, "name", FieldKind::kString),
                                         one(9, "raw_data", FieldKind::kBytes),
                                         packed(10, "double_data", FieldKind::kDouble),
                                         packed(11, "uint64_data", FieldKind::kUInt64),
                                         one(12, "doc_string", FieldKind::kString),
                                         messages(13, "external_data", kStringStringEntrySchema),
                                         enumeration(14, "data_location", kDataLocations),
                                         messages(16, "metadata_props", kStringStringEntrySchema)};

constinit const MessageSchema kTensorSchema = {"TensorProto", kTensorFields};

constexpr FieldSchema kSparseTensorFields[] = {message(1, "values", kTensorSchema),
                                               message(2, "indices", kTensorSchema),
                                               list(3, "dims", FieldKind::kInt64)};

constinit const MessageSchema kSparseTensorSchema = {"SparseTensorProto", kSparseTensorFields};

constexpr FieldSchema kDimensionFields[] = {one(1, "dim_value", FieldKind::kInt64),
                                            one(2, "dim_param", FieldKind::kString),
                                            one(3, "denotation", FieldKind::kString)};

constinit const MessageSchema kDimensionSchema = {"TensorShapeProto.Dimension", kDimensionFields, true, 2};

constexpr FieldSchema kTensorShapeFields[] = {messages(1, "dim", kDimensionSchema)};

constinit const MessageSchema kTensorShapeSchema = {"TensorShapeProto", kTensorShapeFields};

constexpr FieldSchema kTensorTypeFields[] = {one(1, "elem_type", FieldKind::kInt32),
                                             message(2, "shape", kTensorShapeSchema)};

constinit const MessageSchema kTensorTypeSchema = {"TypeProto.Tensor", kTensorTypeFields};

constexpr FieldSchema kSequenceTypeFields[] = {message(1, "elem_type", kTypeSchema)};

constinit const MessageSchema kSequenceTypeSchema = {"TypeProto.Sequence", kSequenceTypeFields};

constexpr FieldSchema kMapTypeFields[] = {one(1, "key_type", FieldKind::kInt32),
                                          message(2, "value_type", kTypeSchema)};

constinit const MessageSchema kMapTypeSchema = {"TypeProto.Map", kMapTypeFields};

constexpr FieldSchema kOptionalTypeFields[] = {message(1, "elem_type", kTypeSchema)};

constinit const MessageSchema kOptionalTypeSchema = {"TypeProto.Optional", kOptionalTypeFields};

constexpr FieldSchema kSparseTensorTypeFields[] = {one(1, "elem_type", FieldKind::kInt32),
                                                   message(2, "shape", kTensorShapeSchema)};

constinit const MessageSchema kSparseTensorTypeSchema = {"TypeProto.SparseTensor", kSparseTensorTypeFields};

constexpr FieldSchema kOpaqueTypeFields[] = {one(1, "domain", FieldKind::kString),
                                             one(2, "name", FieldKind::kString)};

constinit const MessageSchema kOpaqueTypeSchema = {"TypeProto.Opaque", kOpaqueTypeFields};

constexpr FieldSchema kTypeFields[] = {message(1, "tensor_type", kTensorTypeSchema),
                                       message(4, "sequence_type", kSequenceTypeSchema),
                                       message(5, "map_type", kMapTypeSchema),
                                       message(7, "opaque_type", kOpaqueTypeSchema),
                                       message(8, "sparse_tensor_type", kSparseTensorTypeSchema),
                                       message(9, "optional_type", kOptionalTypeSchema),
                                       one(6, "denotation", FieldKind::kString)};

constinit const MessageSchema kTypeSchema = {"TypeProto", kTypeFields, true, 6};

constexpr FieldSchema kValueInfoFields[] = {
    one(1, "name", FieldKind::kString), message(2, "type", kTypeSchema),
    one(3, "doc_string", FieldKind::kString), messages(4, "metadata_props", kStringStringEntrySchema)};

constinit const MessageSchema kValueInfoSchema = {"ValueInfoProto", kValueInfoFields};

constexpr FieldSchema kAttributeFields[] = {one(1, "name", FieldKind::kString),
                                            one(2, "f", FieldKind::kFloat),
                                            one(3, "i", FieldKind::kInt64),
                                            one(4, "s", FieldKind::kBytes),
                                            message(5, "t", kTensorSchema),
                                            message(6, "g", kGraphSchema),
                                            list(7, "floats", FieldKind::kFloat),
                                            list(8, "ints", FieldKind::kInt64),
                                            list(9, "strings", FieldKind::kBytes),
                                            messages(10, "tensors", kTensorSchema),
                                            messages(11, "graphs", kGraphSchema),
                                            one(13, "doc_string", FieldKind::kString),
                                            message(14, "tp", kTypeSchema),
                                            messages(15, "type_protos", kTypeSchema),
                                            enumeration(20, "type", kAttributeTypes),
                                            one(21, "ref_attr_name", FieldKind::kString),
                                            message(22, "sparse_tensor", kSparseTensorSchema),
                                            messages(23, "sparse_tensors", kSparseTensorSchema)};

constinit const MessageSchema kAttributeSchema = {"AttributeProto", kAttributeFields};

constexpr FieldSchema kIntIntListEntryFields[] = {one(1, "key", FieldKind::kInt64),
                                                  list(2, "value", FieldKind::kInt64)};

constinit const MessageSchema kIntIntListEntrySchema = {"IntIntListEntryProto", kIntIntListEntryFields};

constexpr FieldSchema kSimpleShardedDimFields[] = {one(1, "dim_value", FieldKind::kInt64),
                                                   one(2, "dim_param", FieldKind::kString),
                                                   one(3, "num_shards", FieldKind::kInt64)};

constinit const MessageSchema kSimpleShardedDimSchema = {"SimpleShardedDimProto", kSimpleShardedDimFields,
                                                         true, 2};

constexpr FieldSchema kShardedDimFields[] = {one(1, "axis", FieldKind::kInt64),
                                             messages(2, "simple_sharding", kSimpleShardedDimSchema)};

constinit const MessageSchema kShardedDimSchema = {"ShardedDimProto", kShardedDimFields};

constexpr FieldSchema kShardingSpecFields[] = {
    one(1, "tensor_name", FieldKind::kString), list(2, "device", FieldKind::kInt64),
    messages(3, "index_to_device_group_map", kIntIntListEntrySchema),
    messages(4, "sharded_dim", kShardedDimSchema)};

constinit const MessageSchema kShardingSpecSchema = {"ShardingSpecProto", kShardingSpecFields};

constexpr FieldSchema kNodeDeviceConfigurationFields[] = {one(1, "configuration_id", FieldKind::kString),
                                                          messages(2, "sharding_spec", kShardingSpecSchema),
                                                          one(3, "pipeline_stage", FieldKind::kInt32)};

constinit const MessageSchema kNodeDeviceConfigurationSchema = {"NodeDeviceConfigurationProto",
                                                                kNodeDeviceConfigurationFields};

constexpr FieldSchema kNodeFields[] = {list(1, "input", FieldKind::kString),
                                       list(2, "output", FieldKind::kString),
                                       one(3, "name", FieldKind::kString),
                                       one(4, "op_type", FieldKind::kString),
                                       messages(5, "attribute", kAttributeSchema),
                                       one(6, "doc_string", FieldKind::kString),
                                       one(7, "domain", FieldKind::kString),
                                       one(8, "overload", FieldKind::kString),
                                       messages(9, "metadata_props", kStringStringEntrySchema),
                                       messages(10, "device_configurations", kNodeDeviceConfigurationSchema)};

constinit const MessageSchema kNodeSchema = {"NodeProto", kNodeFields};

constexpr FieldSchema kTensorAnnotationFields[] = {
    one(1, "tensor_name", FieldKind::kString),
    messages(2, "quant_parameter_tensor_names", kStringStringEntrySchema)};

constinit const MessageSchema kTensorAnnotationSchema = {"TensorAnnotation", kTensorAnnotationFields};

constexpr FieldSchema kGraphFields[] = {messages(1, "node", kNodeSchema),
                                        one(2, "name", FieldKind::kString),
                                        messages(5, "initializer", kTensorSchema),
                                        one(10, "doc_string", FieldKind::kString),
                                        messages(11, "input", kValueInfoSchema),
                                        messages(12, "output", kValueInfoSchema),
                                        messages(13, "value_info", kValueInfoSchema),
                                        messages(14, "quantization_annotation", kTensorAnnotationSchema),
                                        messages(15, "sparse_initializer", kSparseTensorSchema),
                                        messages(16, "metadata_props", kStringStringEntrySchema)};

constinit const MessageSchema kGraphSchema = {"GraphProto", kGraphFields};

constexpr FieldSchema kFunctionFields[] = {one(1, "name", FieldKind::kString),
                                           list(4, "input", FieldKind::kString),
                                           list(5, "output", FieldKind::kString),
                                           list(6, "attribute", FieldKind::kString),
                                           messages(7, "node", kNodeSchema),
                                           one(8, "doc_string", FieldKind::kString),
                                           messages(9, "opset_import", kOperatorSetIdSchema),
                                           one(10, "domain", FieldKind::kString),
                                           messages(11, "attribute_proto", kAttributeSchema),
                                           messages(12, "value_info", kValueInfoSchema),
                                           one(13, "overload", FieldKind::kString),
                                           messages(14, "metadata_props", kStringStringEntrySchema)};

constinit const MessageSchema kFunctionSchema = {"FunctionProto", kFunctionFields};

constexpr FieldSchema kTrainingInfoFields[] = {
    message(1, "initialization", kGraphSchema), message(2, "algorithm", kGraphSchema),
    messages(3, "initialization_binding", kStringStringEntrySchema),
    messages(4, "update_binding", kStringStringEntrySchema)};

constinit const MessageSchema kTrainingInfoSchema = {"TrainingInfoProto", kTrainingInfoFields};

constexpr FieldSchema kDeviceConfigurationFields[] = {one(1, "name", FieldKind::kString),
                                                      one(2, "num_devices", FieldKind::kInt32),
                                                      list(3, "device", FieldKind::kString)};

constinit const MessageSchema kDeviceConfigurationSchema = {"DeviceConfigurationProto",
                                                            kDeviceConfigurationFields};

constexpr FieldSchema kModelFields[] = {one(1, "ir_version", FieldKind::kInt64),
                                        one(2, "producer_name", FieldKind::kString),
                                        one(3, "producer_version", FieldKind::kString),
                                        one(4, "domain", FieldKind::kString),
                                        one(5, "model_version", FieldKind::kInt64),
                                        one(6, "doc_string", FieldKind::kString),
                                        message(7, "graph", kGraphSchema),
                                        messages(8, "opset_import", kOperatorSetIdSchema),
                                        messages(14, "metadata_props", kStringStringEntrySchema),
                                        messages(20, "training_info", kTrainingInfoSchema),
                                        messages(25, "functions", kFunctionSchema),
                                        messages(26, "configuration", kDeviceConfigurationSchema)};

}  // namespace schema

constinit const MessageSchema kModelSchema = {"ModelProto", schema::kModelFields};

std::string json_name(std::string_view name) {
  std::string json;
  bool upper = false;
  for (const char c : name) {
    if (c != '_') json += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return json;
}

}  // namespace assay::onnx
