#include "base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "assay/error.h"
#include "base/utf8.h"

namespace assay {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;

/// Non-zero when a byte of the word is below n (n <= 128).
constexpr uint64_t has_below(uint64_t word, uint64_t n) { return (word - kOnes * n) & ~word & kHighs; }
constexpr uint64_t has_byte(uint64_t word, char c) {
  return has_below(word ^ (kOnes * static_cast<unsigned char>(c)), 1);
}

/// The first quote, backslash or control character at or after `at`; the length of the text when there is
/// none.
size_t find_string_stop(std::string_view text, size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if ((has_byte(word, '"') | has_byte(word, '\\') | has_below(word, 0x20)) != 0) break;
  }
  while (at < text.size() && text[at] != '"' && text[at] != '\\' &&
         static_cast<unsigned char>(text[at]) >= 0x20)
    ++at;
  return at;
}

/// As Python's surrogateescape has it: U+DC80 to U+DCFF stand for bytes that are not UTF-8.
void append_character(uint32_t point, std::string& out) {
  if (point >= 0xdc80 && point <= 0xdcff)
    out += static_cast<char>(point - 0xdc00);
  else
    append_code_point(out, point);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view json_event_name(JsonEvent event) {
  switch (event) {
    case JsonEvent::kBeginObject:
      return "an object";
    case JsonEvent::kEndObject:
      return "the end of an object";
    case JsonEvent::kBeginArray:
      return "an array";
    case JsonEvent::kEndArray:
      return "the end of an array";
    case JsonEvent::kKey:
      return "a key";
    case JsonEvent::kString:
      return "a string";
    case JsonEvent::kNumber:
      return "a number";
    case JsonEvent::kTrue:
    case JsonEvent::kFalse:
      return "a truth value";
    case JsonEvent::kNull:
      return "null";
    case JsonEvent::kEnd:
      return "the end of the document";
  }
  return "nothing";
}

void JsonReader::error_at(size_t offset, std::string_view message) const {
  const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  Error e(ErrorCode::kInvalidArgument, std::string(message));
  e.add_context({ErrorPlace::Kind::kFile, name_,
                 fmt::format("in {}, line {}, column {}", name_, line, before.size() - start + 1)});
  throw e;
}

void JsonReader::error(std::string_view message) const { error_at(event_at_, message); }

JsonEvent JsonReader::next() {
  if (peeked_)
    peeked_ = false;
  else
    event_ = read_event();
  return event_;
}

JsonEvent JsonReader::peek() {
  if (!peeked_) event_ = read_event();
  peeked_ = true;
  return event_;
}

void JsonReader::skip_value() {
  size_t depth = 0;
  do {
    const JsonEvent e = next();
    if (e == JsonEvent::kBeginObject || e == JsonEvent::kBeginArray) ++depth;
    if (e == JsonEvent::kEndObject || e == JsonEvent::kEndArray || e == JsonEvent::kEnd) {
      require(depth > 0, ErrorCode::kInternal, "there is no JSON value to skip");
      --depth;
    }
  } while (depth > 0);
}

JsonEvent JsonReader::read_event() {
  skip_blanks();
  event_at_ = at_;
  if (levels_.empty()) {
    if (started_) {
      if (at_ < text_.size()) error_at(at_, "the JSON document is followed by something else");
      return JsonEvent::kEnd;
    }
    started_ = true;
    return read_value();
  }
  if (after_key_) {
    after_key_ = false;
    return read_value();
  }
  if (at_ >= text_.size()) error_at(at_, "the JSON document ends too early");
  Level& level = levels_.back();
  const char close = level.object ? '}' : ']';
  if (text_[at_] == close && level.empty) return end_container();
  if (!level.empty) {
    if (text_[at_] == close) return end_container();
    if (text_[at_] != ',') error_at(at_, fmt::format("expected ',' or '{}' in JSON", close));
    ++at_;
    skip_blanks();
    event_at_ = at_;
  }
  level.empty = false;
  if (!level.object) return read_value();
  read_key();
  return JsonEvent::kKey;
}

JsonEvent JsonReader::end_container() {
  ++at_;
  const bool object = levels_.back().object;
  levels_.pop_back();
  return object ? JsonEvent::kEndObject : JsonEvent::kEndArray;
}

void JsonReader::read_key() {
  if (at_ >= text_.size() || text_[at_] != '"')
    error_at(at_, "expected a key in double quotes in a JSON object");
  read_string();
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != ':') error_at(at_, "expected ':' after a JSON key");
  ++at_;
  after_key_ = true;
}

JsonEvent JsonReader::read_value() {
  if (at_ >= text_.size())
    error_at(at_, text_.empty() ? "the JSON document is empty" : "the JSON document ends too early");
  const char c = text_[at_];
  switch (c) {
    case '{':
    case '[':
      if (levels_.size() >= kMaxDepth)
        error_at(at_, fmt::format("JSON is nested more than {} deep", kMaxDepth));
      ++at_;
      levels_.push_back({c == '{'});
      return c == '{' ? JsonEvent::kBeginObject : JsonEvent::kBeginArray;
    case '"':
      read_string();
      return JsonEvent::kString;
    case 't':
      read_literal("true");
      return JsonEvent::kTrue;
    case 'f':
      read_literal("false");
      return JsonEvent::kFalse;
    case 'n':
      read_literal("null");
      return JsonEvent::kNull;
    default:
      read_number();
      return JsonEvent::kNumber;
  }
}

void JsonReader::skip_blanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

void JsonReader::read_literal(std::string_view literal) {
  if (text_.substr(at_, literal.size()) != literal) error_at(at_, "expected a JSON value");
  string_ = text_.substr(at_, literal.size());
  at_ += literal.size();
}

size_t JsonReader::find_stop() {
  constexpr size_t kWindow = 16 << 20;
  for (size_t from = at_;;) {
    const size_t window_end = std::min(text_.size(), from + kWindow);
    const size_t stop = find_string_stop(text_.substr(0, window_end), from);
    if (stop < window_end || stop == text_.size()) return stop;
    if (progress_) progress_(text_.substr(from, stop - from));
    from = stop;
  }
}

void JsonReader::read_string() {
  const size_t first = ++at_;
  bool plain = true;
  for (;;) {
    const size_t stop = find_stop();
    if (stop >= text_.size()) error_at(first - 1, "a JSON string does not end");
    if (!plain) decoded_ += text_.substr(at_, stop - at_);
    if (text_[stop] == '"') {
      string_ = plain ? text_.substr(first, stop - first) : std::string_view(decoded_);
      at_ = stop + 1;
      return;
    }
    if (text_[stop] != '\\') error_at(stop, "a JSON string holds an unescaped control character");
    if (plain) decoded_.assign(text_.substr(first, stop - first));
    plain = false;
    at_ = stop + 1;
    read_escape();
  }
}

void JsonReader::read_escape() {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t i = kNames.find(c); i != kNames.npos) {
    decoded_ += kMeanings[i];
    ++at_;
    return;
  }
  if (c != 'u') error_at(at_ - 1, "a JSON string holds an unknown escape");
  ++at_;
  uint32_t point = read_hex4();
  if (point >= 0xd800 && point < 0xdc00 && text_.substr(at_, 2) == "\\u") {
    const size_t back = at_;
    at_ += 2;
    const uint32_t low = read_hex4();
    if (low >= 0xdc00 && low < 0xe000)
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    else
      at_ = back;
  }
  append_character(point, decoded_);
}

uint32_t JsonReader::read_hex4() {
  uint32_t value = 0;
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4 || digits[0] == '-')
    error_at(at_, "a JSON string holds \\u without four hexadecimal digits");
  at_ += 4;
  return value;
}

void JsonReader::read_number() {
  const size_t first = at_;
  const auto digits = [&] {
    const size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ - start;
  };
  for (const std::string_view special : {"NaN", "Infinity", "-Infinity"})
    if (text_.substr(at_, special.size()) == special) return read_literal(special);
  if (text_[at_] == '-') ++at_;
  const size_t integer = at_;
  if (digits() == 0) error_at(first, "expected a JSON value");
  if (at_ - integer > 1 && text_[integer] == '0') error_at(first, "a JSON number has leading zeros");
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    if (digits() == 0) error_at(first, "a JSON number has no digits after its point");
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (digits() == 0) error_at(first, "a JSON number has no digits in its exponent");
  }
  string_ = text_.substr(first, at_ - first);
}

double JsonReader::as_double() const {
  if (string_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (string_ == "Infinity") return std::numeric_limits<double>::infinity();
  if (string_ == "-Infinity") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto result = std::from_chars(string_.data(), string_.data() + string_.size(), value);
  // Out of range: infinity or zero, as Python has it.
  if (result.ec == std::errc::result_out_of_range) value = std::strtod(std::string(string_).c_str(), nullptr);
  return value;
}

int64_t JsonReader::as_int64() const {
  int64_t value = 0;
  const auto [end, error_code] = std::from_chars(string_.data(), string_.data() + string_.size(), value);
  if (error_code != std::errc() || end != string_.data() + string_.size())
    error(fmt::format("expected a 64-bit integer, found {}", string_.substr(0, 40)));
  return value;
}

void JsonReader::expect(JsonEvent event, std::string_view what) {
  const JsonEvent found = next();
  if (found != event)
    error(fmt::format("expected {} for {}, found {}", json_event_name(event), what, json_event_name(found)));
}

std::string_view JsonReader::expect_string(std::string_view what) {
  expect(JsonEvent::kString, what);
  return string_;
}

double JsonReader::expect_double(std::string_view what) {
  expect(JsonEvent::kNumber, what);
  return as_double();
}

int64_t JsonReader::expect_int64(std::string_view what) {
  expect(JsonEvent::kNumber, what);
  return as_int64();
}

bool JsonReader::next_key() { return next() == JsonEvent::kKey; }

bool JsonReader::next_element() {
  if (peek() != JsonEvent::kEndArray) return true;
  next();
  return false;
}

}  // namespace assay
