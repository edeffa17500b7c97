// Streaming JSON writer with the layout of Python's json.dumps(indent=4).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"

namespace assay {

class AtomicFile;

/// The layout of a document.
enum class JsonStyle : uint8_t {
  kPython,  ///< as json.dumps(indent=4) does
  /// For a script element of a page: no blanks, `<` as \u003c (so nothing in it ends the element), and NaN
  /// and the infinities, which JSON does not have, as the strings "NaN", "Infinity" and "-Infinity".
  kScript,
};

/// Emits one document piece by piece, by default with four blanks per level, `"key": value`, empty containers
/// as [] and {}, every character outside printable ASCII as \uXXXX, floats as Python's repr, NaN and Infinity
/// as literals, no line end at the end. Bytes that are not UTF-8 become the lone surrogates that Python's
/// surrogateescape gives. An invalid order of calls throws Error (kInternal).
class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink, JsonStyle style = JsonStyle::kPython)
      : sink_(std::move(sink)), style_(style) {}
  /// Writes to a file that outlives the writer; the caller commits it.
  explicit JsonWriter(AtomicFile& file);

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(int64_t number);
  JsonWriter& value(uint64_t number);
  JsonWriter& value(int number) { return value(static_cast<int64_t>(number)); }
  JsonWriter& value(bool truth);
  JsonWriter& null();

  /// A string value that is the base64 of bytes given in pieces.
  JsonWriter& begin_base64();
  JsonWriter& base64_chunk(const void* data, size_t bytes);
  JsonWriter& end_base64();

 private:
  enum class Where : uint8_t { kArray, kObject, kAfterKey };
  struct Level {
    Where where;
    bool empty = true;
  };

  void before_value();
  void new_line();
  void end(Where where, char bracket);
  JsonWriter& scalar(std::string_view text);
  std::string quoted(std::string_view text) const;

  Sink sink_;
  JsonStyle style_ = JsonStyle::kPython;
  std::vector<Level> levels_;
  bool done_ = false;
  bool in_base64_ = false;
  Base64Encoder encoder_;
  std::string buffer_;
};

/// The text between and including the quotes, escaped as above.
std::string json_quoted(std::string_view text);

}  // namespace assay
