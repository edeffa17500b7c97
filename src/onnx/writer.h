// Writes protobuf messages. Large byte spans are borrowed, not copied, until the message is output.
#pragma once

#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace assay::onnx {

/// A message of owned bytes, with borrowed spans at some positions. Fields appear in the order of the
/// calls.
class MessageWriter {
 public:
  void varint(uint32_t field, uint64_t value) {
    tag(field, 0);
    protozero::add_varint_to_buffer(&own_, value);
  }
  void integer(uint32_t field, int64_t value) { varint(field, static_cast<uint64_t>(value)); }
  void fixed32(uint32_t field, float value) {
    tag(field, 5);
    char bytes[4];
    std::memcpy(bytes, &value, 4);
    own_.append(bytes, 4);
  }
  void text(uint32_t field, std::string_view bytes) {
    length(field, bytes.size());
    own_ += bytes;
  }
  /// Omits an empty field.
  void text_if(uint32_t field, std::string_view bytes) {
    if (!bytes.empty()) text(field, bytes);
  }
  /// Fields that are encoded already.
  void copied(std::string_view fields) { own_ += fields; }
  /// Fields that are encoded already; the bytes must live until the message is written.
  void borrowed(std::string_view fields) {
    if (fields.size() < kCopyBelow) return copied(fields);
    spans_.push_back({own_.size(), fields});
    borrowed_ += fields.size();
  }
  /// The bytes must live until the message is written.
  void borrowed(uint32_t field, std::string_view bytes) {
    length(field, bytes.size());
    borrowed(bytes);
  }
  void message(uint32_t field, const MessageWriter& m) {
    length(field, m.size());
    for (const Span& s : m.spans_) spans_.push_back({own_.size() + s.at, s.bytes});
    own_ += m.own_;
    borrowed_ += m.borrowed_;
  }

  size_t size() const { return own_.size() + borrowed_; }
  std::string bytes() const {
    std::string all;
    all.reserve(size());
    write_to([&](std::string_view piece) { all += piece; });
    return all;
  }
  /// Calls sink(std::string_view) with the pieces in order.
  template <typename Sink>
  void write_to(Sink sink) const {
    size_t at = 0;
    for (const Span& s : spans_) {
      sink(std::string_view(own_).substr(at, s.at - at));
      sink(s.bytes);
      at = s.at;
    }
    sink(std::string_view(own_).substr(at));
  }

 private:
  static constexpr size_t kCopyBelow = 4096;
  struct Span {
    size_t at;  ///< position in own_ before which it stands
    std::string_view bytes;
  };
  void tag(uint32_t field, uint32_t wire_type) {
    protozero::add_varint_to_buffer(&own_, field << 3 | wire_type);
  }
  void length(uint32_t field, size_t n) {
    tag(field, 2);
    protozero::add_varint_to_buffer(&own_, n);
  }

  std::string own_;
  std::vector<Span> spans_;
  size_t borrowed_ = 0;
};

/// Appends a length-delimited field to encoded ones.
inline void add_field(uint32_t field, std::string_view content, std::string& fields) {
  MessageWriter w;
  w.text(field, content);
  fields += w.bytes();
}
inline void add_zero_field(uint32_t field, std::string& fields) {
  MessageWriter w;
  w.integer(field, 0);
  fields += w.bytes();
}
inline void add_empty_field(uint32_t field, std::string& fields) { add_field(field, {}, fields); }

}  // namespace assay::onnx
