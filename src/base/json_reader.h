// JSON read event by event from memory, such as a mapped file of many gigabytes.
//
// A separate implementation, because result files contain the literals NaN, Infinity and -Infinity and exceed
// 4 GB; simdjson supports neither.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class JsonEvent : uint8_t {
  kBeginObject,
  kEndObject,
  kBeginArray,
  kEndArray,
  kKey,
  kString,
  kNumber,  ///< NaN, Infinity and -Infinity too
  kTrue,
  kFalse,
  kNull,
  kEnd,  ///< after the document; nothing but blanks follows
};

/// A pull parser. Every member that reads throws Error (kInvalidArgument) for text that is not JSON, naming
/// `name`, line and column. Memory does not grow with the document, only with its depth, which is limited.
class JsonReader {
 public:
  static constexpr size_t kMaxDepth = 1000;

  /// Called about every 16 MiB within a long string, with the part of the document that was read.
  using Progress = std::function<void(std::string_view read)>;

  /// `text` outlives the reader; `name` identifies it in errors, such as the path of the file. For a mapped
  /// file, `progress` can release the pages of long strings.
  JsonReader(std::string_view text, std::string name, Progress progress = {})
      : text_(text), name_(std::move(name)), progress_(std::move(progress)) {}

  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  JsonEvent next();
  /// The event that next() will return.
  JsonEvent peek();
  /// Skips the value that begins with the next event (after a key: its value), containers whole.
  void skip_value();

  /// Of the last kKey or kString, unescaped; a view into the document when nothing was escaped, else into the
  /// reader. Valid until the next call. Lone surrogates U+DC80 to U+DCFF become the bytes they stand for in
  /// Python.
  std::string_view string() const { return string_; }
  /// True when string() is a view into the document.
  bool string_is_plain() const { return string_.data() != decoded_.data(); }
  /// Of the last kNumber.
  std::string_view number_text() const { return string_; }
  double as_double() const;
  /// Throws Error when the number has a fraction or an exponent or does not fit.
  int64_t as_int64() const;

  /// next() that must be the given event; `what` describes the expected value in errors.
  void expect(JsonEvent event, std::string_view what);
  /// expect(kString) and its text; expect(kNumber) and its value.
  std::string_view expect_string(std::string_view what);
  double expect_double(std::string_view what);
  int64_t expect_int64(std::string_view what);
  /// Within an object: true and the key in string(), or false when the object has ended.
  bool next_key();
  /// Within an array: true when an element follows, which next() then begins; false when the array has ended.
  bool next_element();

  /// The position at which the last event began.
  size_t event_offset() const { return event_at_; }
  /// Bytes of the document before the next character to read.
  size_t offset() const { return at_; }
  const std::string& name() const { return name_; }
  /// Throws Error (kInvalidArgument) with `message` and the position of the last event.
  [[noreturn]] void error(std::string_view message) const;

 private:
  struct Level {
    bool object;
    bool empty = true;
  };

  [[noreturn]] void error_at(size_t offset, std::string_view message) const;
  JsonEvent read_event();
  JsonEvent read_value();
  JsonEvent end_container();
  void skip_blanks();
  void read_key();
  void read_string();
  size_t find_stop();
  void read_escape();
  uint32_t read_hex4();
  void read_number();
  void read_literal(std::string_view literal);

  std::string_view text_;
  std::string name_;
  Progress progress_;
  size_t at_ = 0;
  size_t event_at_ = 0;
  std::vector<Level> levels_;
  bool started_ = false;
  bool after_key_ = false;
  bool peeked_ = false;
  JsonEvent event_ = JsonEvent::kEnd;
  std::string_view string_;
  std::string decoded_;
};

/// For errors: an object, a key, a number, ...
std::string_view json_event_name(JsonEvent event);

}  // namespace assay
