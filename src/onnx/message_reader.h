// Reads ONNX's protobuf messages; for the files reader*.cpp.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/error.h"
#include "base/memory_limit.h"
#include "onnx/messages.h"
#include "onnx/writer.h"

namespace assay::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// The limit of the protobuf libraries; only a hostile file nests deeper.
inline constexpr int kMaxDepth = 100;

constexpr uint32_t bytes_field(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr uint32_t varint_field(uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::varint); }
constexpr uint32_t fixed32_field(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::fixed32);
}

inline std::string_view text(pbf_reader& r) {
  const protozero::data_view v = r.get_view();
  return {v.data(), v.size()};
}

/// An optional string; if it is present but empty, `extra` records that.
inline std::string_view optional_text(pbf_reader& r, std::string& extra) {
  const uint32_t field = r.tag();  // which protozero's checked form forgets once the value was taken
  const std::string_view value = text(r);
  if (value.empty()) add_empty_field(field, extra);
  return value;
}

/// Reads messages and tracks the path of the current field, for errors.
class MessageReader {
 public:
  explicit MessageReader(std::string_view file) : begin_(file.data()) {}

  ModelMessage model(std::string_view bytes);
  TensorMessage tensor(std::string_view bytes);
  SparseTensorMessage sparse_tensor(std::string_view bytes);
  TypeMessage type(std::string_view bytes);
  ContainerMessage sequence(std::string_view bytes);
  ContainerMessage map(std::string_view bytes);

 private:
  /// Calls field(reader, tag and wire type) for every field. field() returns false for one it does not know,
  /// whose bytes are skipped, or appended to `extra`.
  template <typename Field>
  void each_field(std::string_view bytes, std::string* extra, Field field) {
    pbf_reader r(bytes.data(), bytes.size());
    try {
      for (const char* start = r.data().data(); r.next(); start = r.data().data()) {
        if (field(r, r.tag_and_type())) continue;
        r.skip();
        if (extra != nullptr) extra->append(start, r.data().data());
      }
    } catch (const protozero::exception& e) {
      fail(ErrorCode::kInvalidModel, "the bytes are damaged at offset {}{}: {}", r.data().data() - begin_,
           path_.empty() ? "" : ", in " + path_, reason(e));
    }
  }

  template <typename Field>
  void each_field(std::string_view bytes, Field field) {
    each_field(bytes, nullptr, field);
  }

  static std::string reason(const protozero::exception& e) {
    if (dynamic_cast<const protozero::end_of_buffer_exception*>(&e)) return "a length reaches beyond its end";
    if (dynamic_cast<const protozero::varint_too_long_exception*>(&e))
      return "a number is longer than 64 bits";
    if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&e)) return "an unknown wire type";
    if (dynamic_cast<const protozero::invalid_tag_exception*>(&e)) return "an invalid field number";
    return e.what();
  }

  /// Runs read(bytes of the submessage) with the field's name on the path.
  template <typename Read>
  void nested(pbf_reader& r, const char* field, Read read, int64_t index = -1) {
    const std::string_view bytes = text(r);
    const size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += field;
    if (index >= 0) path_ += '[' + std::to_string(index) + ']';
    require(++depth_ <= kMaxDepth, ErrorCode::kInvalidModel, "messages nest deeper than {} at {}", kMaxDepth,
            path_);
    require(++messages_ <= most_messages_, ErrorCode::kInvalidModel,
            "the file holds more than {} messages, for which the memory that there is does not suffice",
            most_messages_);
    read(bytes);
    --depth_;
    path_.resize(length);
  }
  template <typename T>
  void append(pbf_reader& r, const char* field, std::vector<T>& list,
              T (MessageReader::*read)(std::string_view)) {
    nested(
        r, field, [&](std::string_view bytes) { list.push_back((this->*read)(bytes)); },
        static_cast<int64_t>(list.size()));
  }

  void pair(pbf_reader& r, StringPairs& list);
  static void ints(pbf_reader& r, uint32_t key, uint32_t tag, std::vector<int64_t>& list);

  void tensor_type(std::string_view bytes, TypeMessage& type);
  ValueInfoMessage value_info(std::string_view bytes);
  AttributeMessage attribute(std::string_view bytes);
  /// Reads the field if it is the attribute's value, one or a list; else false.
  bool attribute_value(pbf_reader& r, uint32_t key, AttributeMessage& a);
  bool attribute_list(pbf_reader& r, uint32_t key, AttributeMessage& a);
  NodeMessage node(std::string_view bytes);
  QuantizationMessage quantization(std::string_view bytes);
  GraphMessage graph(std::string_view bytes);
  OpsetMessage opset(std::string_view bytes);
  FunctionMessage function(std::string_view bytes);

  /// Average memory of a message at least; in the file it may be two bytes.
  static constexpr int64_t kMessageBytes = 256;

  const char* begin_;
  std::string path_;
  int64_t messages_ = 0;
  const int64_t most_messages_ = memory_limit() / kMessageBytes;
  int depth_ = 0;
  int graphs_ = 0;
};

}  // namespace assay::onnx
