// The ONNX protobuf messages as plain structs whose texts and bytes are views of the file (onnx.proto3;
// nothing is copied, so the bytes must outlive them). Only the reader fills them; graph/import.cpp turns them
// into a Model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::onnx {

/// Maximum nesting of subgraphs, without the main graph: the limit of the protobuf libraries (100 messages,
/// three for each subgraph).
inline constexpr int kMaxGraphDepth = 32;

using StringPairs = std::vector<std::pair<std::string_view, std::string_view>>;

/// TensorProto. Elements in typed fields (float_data, ...) stay in `bytes`; tensor_data.h decodes them.
struct TensorMessage {
  std::string_view bytes;  ///< the whole message
  std::string_view name, doc_string;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  bool has_raw_data = false;
  std::string_view raw_data;
  int64_t data_location = 0;  ///< 1: external
  StringPairs external_data;
  StringPairs metadata;
};

struct SparseTensorMessage {
  std::string_view bytes;  ///< the whole message
  TensorMessage values, indices;
  std::vector<int64_t> dims;
};

struct DimMessage {
  int64_t value = 0;
  bool has_value = false;
  std::string_view param;
};

/// SequenceProto or OptionalProto, which share field numbers, or MapProto.
struct ContainerMessage {
  /// SequenceProto.DataType: 1 tensor, 2 sparse tensor, 3 sequence, 4 map, 5 optional; 0 in maps.
  int64_t elem_type = 0;
  std::vector<TensorMessage> tensors;
  std::vector<SparseTensorMessage> sparse_tensors;
  std::vector<ContainerMessage> sequences, maps, optionals;
  // A map's keys. Its values are the only entry of `sequences`.
  int64_t key_type = 0;
  std::vector<int64_t> keys;
  std::vector<std::string_view> string_keys;
};

/// TypeProto; `kind` is the field number of the member that is set (1 tensor, 4 sequence, 5 map, 7 opaque, 8
/// sparse tensor, 9 optional), 0 for none.
struct TypeMessage {
  std::string_view bytes;  ///< the whole message
  int kind = 0;
  int64_t elem_type = 0;  ///< tensor: element type; map: key type
  bool has_shape = false;
  std::vector<DimMessage> dims;
  std::vector<TypeMessage> element;  ///< at most one
  std::string_view denotation;
};

struct ValueInfoMessage {
  std::string_view bytes;  ///< the whole message
  std::string_view name, doc_string;
  bool has_type = false;
  TypeMessage type;
  StringPairs metadata;
  std::string extra;
};

struct GraphMessage;

/// AttributeProto. `type` is AttributeProto.AttributeType; 0 in old files that leave it out.
struct AttributeMessage {
  std::string_view name, doc_string, ref_attr_name;
  int64_t type = 0;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<TensorMessage> tensors;  ///< t and tensors
  std::vector<GraphMessage> graphs;    ///< g and graphs
  std::vector<TypeMessage> types;      ///< tp and type_protos
  std::vector<SparseTensorMessage> sparse_tensors;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  uint32_t fields = 0;  ///< bit n: field number n was present
  std::string extra;
};

struct NodeMessage {
  std::vector<std::string_view> inputs, outputs;
  std::string_view name, op_type, domain, overload, doc_string;
  std::vector<AttributeMessage> attributes;
  StringPairs metadata;
  std::string extra;
};

struct QuantizationMessage {
  std::string_view tensor_name;
  StringPairs parameters;
};

struct GraphMessage {
  std::vector<NodeMessage> nodes;
  std::string_view name, doc_string;
  std::vector<TensorMessage> initializers;
  std::vector<SparseTensorMessage> sparse_initializers;
  std::vector<ValueInfoMessage> inputs, outputs, value_infos;
  std::vector<QuantizationMessage> quantization_annotations;
  StringPairs metadata;
  std::string extra;
};

struct OpsetMessage {
  std::string_view domain;
  int64_t version = 0;
  std::string extra;
};

struct FunctionMessage {
  std::string_view name, domain, overload, doc_string;
  std::vector<std::string_view> inputs, outputs, attribute_names;
  std::vector<AttributeMessage> attribute_defaults;
  std::vector<NodeMessage> nodes;
  std::vector<ValueInfoMessage> value_infos;
  std::vector<OpsetMessage> opsets;
  StringPairs metadata;
  std::string extra;
};

struct ModelMessage {
  int64_t ir_version = 0;
  std::string_view producer_name, producer_version, domain, doc_string;
  int64_t model_version = 0;
  bool has_graph = false;
  GraphMessage graph;
  std::vector<OpsetMessage> opsets;
  std::vector<FunctionMessage> functions;
  StringPairs metadata;
  std::string extra;
};

/// Read one message. Throw Error (kInvalidModel) with the byte offset and the path of the field, such as
/// `graph.node[17].attribute[2]`, for malformed bytes,
/// and when subgraphs nest deeper than kMaxGraphDepth.
ModelMessage read_model(std::string_view bytes);
TensorMessage read_tensor(std::string_view bytes);
SparseTensorMessage read_sparse_tensor(std::string_view bytes);
TypeMessage read_type(std::string_view bytes);
/// A SequenceProto or an OptionalProto.
ContainerMessage read_sequence(std::string_view bytes);
/// A MapProto.
ContainerMessage read_map(std::string_view bytes);

}  // namespace assay::onnx
