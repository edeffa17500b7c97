#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/python_repr.h"
#include "base/utf8.h"

namespace assay {
namespace {

void append_escaped(uint32_t point, std::string& out) {
  switch (point) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\b':
      out += "\\b";
      return;
    default:
      break;
  }
  if (point >= 0x20 && point < 0x7f) {
    out += static_cast<char>(point);
  } else if (point < 0x10000) {
    out += fmt::format("\\u{:04x}", point);
  } else {
    point -= 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const char32_t point = take_code_point(text, Surrogates::kTaken);
    // As Python's surrogateescape has it.
    append_escaped(point == kNotUtf8 ? 0xdc00u + byte : point, out);
  }
  return out + '"';
}

JsonWriter::JsonWriter(AtomicFile& file) : sink_([&file](std::string_view text) { file.write(text); }) {}

void JsonWriter::new_line() {
  if (style_ == JsonStyle::kPython) sink_("\n" + std::string(4 * levels_.size(), ' '));
}

std::string JsonWriter::quoted(std::string_view text) const {
  std::string out = json_quoted(text);
  if (style_ != JsonStyle::kScript) return out;
  for (size_t i = out.find('<'); i != std::string::npos; i = out.find('<', i)) out.replace(i, 1, "\\u003c");
  return out;
}

void JsonWriter::before_value() {
  require(!done_ && !in_base64_, ErrorCode::kInternal, "a JSON value was written where none may stand");
  if (levels_.empty()) return;
  Level& level = levels_.back();
  require(level.where != Where::kObject, ErrorCode::kInternal, "a JSON value was written without its key");
  if (level.where == Where::kAfterKey) {
    level.where = Where::kObject;
    return;
  }
  if (!level.empty) sink_(",");
  level.empty = false;
  new_line();
}

JsonWriter& JsonWriter::key(std::string_view name) {
  require(!levels_.empty() && levels_.back().where == Where::kObject && !in_base64_, ErrorCode::kInternal,
          "the JSON key {} was written outside an object", name);
  Level& level = levels_.back();
  if (!level.empty) sink_(",");
  level.empty = false;
  level.where = Where::kAfterKey;
  new_line();
  sink_(quoted(name));
  sink_(style_ == JsonStyle::kScript ? ":" : ": ");
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  levels_.push_back({Where::kObject});
  sink_("{");
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  levels_.push_back({Where::kArray});
  sink_("[");
  return *this;
}

void JsonWriter::end(Where where, char bracket) {
  require(!levels_.empty() && levels_.back().where == where && !in_base64_, ErrorCode::kInternal,
          "a JSON container was ended that is not open");
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) new_line();
  sink_({&bracket, 1});
  done_ = levels_.empty();
}

JsonWriter& JsonWriter::end_object() {
  end(Where::kObject, '}');
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  end(Where::kArray, ']');
  return *this;
}

JsonWriter& JsonWriter::scalar(std::string_view text) {
  before_value();
  sink_(text);
  done_ = levels_.empty();
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return scalar(quoted(text)); }
JsonWriter& JsonWriter::value(int64_t number) { return scalar(std::to_string(number)); }
JsonWriter& JsonWriter::value(uint64_t number) { return scalar(std::to_string(number)); }
JsonWriter& JsonWriter::value(bool truth) { return scalar(truth ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return scalar("null"); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    const char* text = std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity";
    return style_ == JsonStyle::kScript ? value(text) : scalar(text);
  }
  return scalar(python_float_repr(number));
}

JsonWriter& JsonWriter::begin_base64() {
  before_value();
  sink_("\"");
  in_base64_ = true;
  return *this;
}

JsonWriter& JsonWriter::base64_chunk(const void* data, size_t bytes) {
  constexpr size_t kPiece = 3 << 15;
  require(in_base64_, ErrorCode::kInternal, "base64 was written outside its string");
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const size_t n = std::min(bytes, kPiece);
    buffer_.clear();
    encoder_.append(p, n, buffer_);
    sink_(buffer_);
    p += n;
    bytes -= n;
  }
  return *this;
}

JsonWriter& JsonWriter::end_base64() {
  require(in_base64_, ErrorCode::kInternal, "a base64 string was ended that is not open");
  buffer_.clear();
  encoder_.finish(buffer_);
  buffer_ += '"';
  sink_(buffer_);
  in_base64_ = false;
  done_ = levels_.empty();
  return *this;
}

}  // namespace assay
