#include "onnx/forms/proto_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "assay/error.h"
#include "base/similar_name.h"
#include "base/utf8.h"
#include "onnx/forms/message_builder.h"
#include "onnx/message_reader.h"
#include "onnx/text_place.h"

namespace assay::onnx {
namespace proto_text {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// A text in which values are read one after the other. Blanks and comments are skipped before each.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  MessageWriter model();

 private:
  [[noreturn]] void fail_at(size_t at, const std::string& message) const { fail_in_text(text_, at, message); }
  [[noreturn]] void fail_expected(std::string_view what);
  void check(size_t at, const std::string& problem) const {
    if (!problem.empty()) fail_at(at, problem);
  }

  void skip_blanks();
  /// The next significant character; 0 at the end.
  char peek();
  bool accept(char c);
  std::string_view identifier();
  /// Letters, digits, dots and signs of exponents.
  std::string_view number_word();

  const FieldSchema& field_name(const MessageSchema& schema);
  MessageWriter message(const MessageSchema& schema, char close);
  void field(MessageBuilder& builder);
  void value(MessageBuilder& builder, const FieldSchema& field);
  void nested(MessageBuilder& builder, const FieldSchema& field);
  void number(MessageBuilder& builder, const FieldSchema& field);
  void real(MessageBuilder& builder, const FieldSchema& field, size_t at, bool is_negative,
            std::string_view word);
  std::string strings(const FieldSchema& field);
  void string(std::string& out);
  void escape(std::string& out);
  void code_point(size_t digits, std::string& out);

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

void Reader::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (is_blank(text_[at_]))
      ++at_;
    else
      return;
  }
}

char Reader::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Reader::accept(char c) {
  if (at_ >= text_.size() || peek() != c) return false;
  ++at_;
  return true;
}

void Reader::fail_expected(std::string_view what) {
  peek();
  size_t end = at_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  end = std::max(end, std::min(at_ + 1, text_.size()));
  fail_at(at_, at_ == text_.size() ? fmt::format("expected {}, but the text ends", what)
                                   : fmt::format("expected {}, but found '{}'", what,
                                                 text_.substr(at_, std::min<size_t>(end - at_, 40))));
}

std::string_view Reader::identifier() {
  if (!is_letter(peek())) return {};
  const size_t from = at_;
  while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  return text_.substr(from, at_ - from);
}

std::string_view Reader::number_word() {
  const size_t from = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool is_exponent = at_ > from && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') &&
                             !text_.substr(from, 2).starts_with("0x") &&
                             !text_.substr(from, 2).starts_with("0X");
    if (!is_letter(c) && !is_digit(c) && c != '.' && !(is_exponent && (c == '-' || c == '+'))) break;
    ++at_;
  }
  return text_.substr(from, at_ - from);
}

const FieldSchema& Reader::field_name(const MessageSchema& schema) {
  if (peek() == '[') fail_at(at_, "extensions and Any, whose names stand in brackets, are not part of ONNX");
  const std::string_view name = identifier();
  if (name.empty()) fail_expected(fmt::format("the name of a field of {}", schema.name));
  for (const FieldSchema& f : schema.fields)
    if (f.name == name) return f;
  fail_at(at_ - name.size(), unknown_field(schema, name, /*is_json=*/false));
}

MessageWriter Reader::message(const MessageSchema& schema, char close) {
  MessageBuilder builder(schema);
  for (;;) {
    if (close != '\0' && accept(close)) break;
    skip_blanks();
    if (at_ == text_.size()) {
      if (close == '\0') break;
      fail_expected(fmt::format("a field of {}, or '{}'", schema.name, close));
    }
    field(builder);
    if (!accept(',')) accept(';');
  }
  return builder.finish();
}

void Reader::field(MessageBuilder& builder) {
  skip_blanks();
  const size_t at = at_;
  const FieldSchema& f = field_name(builder.schema());
  check(at, builder.begin(f));
  const bool has_colon = accept(':');
  if (f.kind != FieldKind::kMessage && !has_colon) fail_expected(fmt::format("':' after '{}'", f.name));
  if (!accept('[')) return value(builder, f);
  if (!f.is_repeated) fail_at(at_ - 1, fmt::format("'{}' takes one value, not a list", f.name));
  if (accept(']')) return;
  do value(builder, f);
  while (accept(','));
  if (!accept(']')) fail_expected("']' or ',' after a value of a list");
}

void Reader::value(MessageBuilder& builder, const FieldSchema& f) {
  skip_blanks();
  const size_t at = at_;
  switch (f.kind) {
    case FieldKind::kMessage:
      return nested(builder, f);
    case FieldKind::kString:
    case FieldKind::kBytes:
      return check(at, builder.bytes(f, strings(f)));
    case FieldKind::kEnum:
      if (const std::string_view name = identifier(); !name.empty())
        return check(at, builder.enumerator(f, name));
      return number(builder, f);
    default:
      return number(builder, f);
  }
}

void Reader::nested(MessageBuilder& builder, const FieldSchema& f) {
  const char open = peek();
  if (open != '{' && open != '<') fail_expected(fmt::format("'{{' before the message '{}'", f.name));
  if (++depth_ > kMaxDepth) fail_at(at_, fmt::format("messages nest deeper than {}", kMaxDepth));
  ++at_;
  builder.message(f, message(*f.message, open == '{' ? '}' : '>'));
  --depth_;
}

void Reader::number(MessageBuilder& builder, const FieldSchema& f) {
  skip_blanks();
  const size_t at = at_;
  const bool is_negative = accept('-');
  skip_blanks();
  const std::string_view word = number_word();
  const bool is_real = f.kind == FieldKind::kFloat || f.kind == FieldKind::kDouble;
  int base = 10;
  std::string_view digits = word;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (!is_real && digits.size() > 1 && digits.front() == '0') {
    base = 8;
  }
  uint64_t magnitude = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  const bool is_whole = !digits.empty() && end == digits.data() + digits.size();
  // A negative zero is one only among floating-point numbers.
  if (is_whole && ec == std::errc() && !(is_real && magnitude == 0))
    return check(at, builder.integer(f, is_negative, magnitude));
  if (is_real && base == 10) return real(builder, f, at, is_negative, word);
  if (is_whole)
    fail_at(at, fmt::format("the number {}{} has more than 64 bits", is_negative ? "-" : "", word));
  at_ = at;
  fail_expected(fmt::format("a whole number for '{}'", f.name));
}

void Reader::real(MessageBuilder& builder, const FieldSchema& f, size_t at, bool is_negative,
                  std::string_view word) {
  std::string lower;
  for (const char c : word.substr(0, 400))
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  double value = 0;
  if (lower == "inf" || lower == "infinity" || lower == "inff" || lower == "infinityf") {
    value = std::numeric_limits<double>::infinity();
  } else if (lower == "nan" || lower == "nanf") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    std::string_view digits = word;
    if (digits.ends_with('f') || digits.ends_with('F')) digits.remove_suffix(1);
    const bool begins_well =
        !digits.empty() && (is_digit(digits[0]) || (digits[0] == '.' && digits.size() > 1));
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (!begins_well || end != digits.data() + digits.size()) {
      at_ = at;
      fail_expected(fmt::format("a number for '{}'", f.name));
    }
    // from_chars then does not set the value; protobuf reads it as infinity or zero.
    if (ec == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  }
  builder.real(f, is_negative ? -value : value);
}

std::string Reader::strings(const FieldSchema& f) {
  if (const char c = peek(); c != '"' && c != '\'')
    fail_expected(fmt::format("a string in quotes for '{}'", f.name));
  std::string out;
  for (char c = peek(); c == '"' || c == '\''; c = peek()) string(out);
  return out;
}

void Reader::string(std::string& out) {
  const size_t from = at_;
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
    const size_t plain = text_.find_first_of(quote == '"' ? "\"\\\n" : "'\\\n", at_);
    const size_t end = std::min(plain, text_.size());
    out += text_.substr(at_, end - at_);
    at_ = end;
    if (at_ < text_.size() && text_[at_] == '\\') escape(out);
  }
  if (at_ >= text_.size() || text_[at_] != quote) fail_at(from, "this string does not end in its line");
  ++at_;
}

void Reader::escape(std::string& out) {
  const size_t from = at_++;
  if (at_ >= text_.size()) fail_at(from, "the text ends within an escape");
  const char c = text_[at_++];
  constexpr std::string_view kNames = "abfnrtv\\'\"?", kStandFor = "\a\b\f\n\r\t\v\\'\"?";
  if (const size_t i = kNames.find(c); i != std::string_view::npos) {
    out += kStandFor[i];
  } else if (c >= '0' && c <= '7') {
    unsigned byte = static_cast<unsigned>(c - '0');
    for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
      byte = byte * 8 + static_cast<unsigned>(text_[at_++] - '0');
    if (byte > 255) fail_at(from, "an octal escape stands for more than a byte");
    out += static_cast<char>(byte);
  } else if (c == 'x' || c == 'X') {
    unsigned byte = 0;
    int digits = 0;
    for (; digits < 2 && at_ < text_.size() && hex_digit(text_[at_]) >= 0; ++digits)
      byte = byte * 16 + static_cast<unsigned>(hex_digit(text_[at_++]));
    if (digits == 0) fail_at(from, "\\x needs hexadecimal digits");
    out += static_cast<char>(byte);
  } else if (c == 'u' || c == 'U') {
    code_point(c == 'u' ? 4 : 8, out);
  } else {
    fail_at(from, fmt::format("'\\{}' is no escape", c));
  }
}

void Reader::code_point(size_t digits, std::string& out) {
  const size_t from = at_ - 2;
  const auto read = [&](size_t count) -> char32_t {
    uint64_t point = 0;
    for (size_t i = 0; i < count; ++i) {
      if (at_ >= text_.size() || hex_digit(text_[at_]) < 0)
        fail_at(from, fmt::format("\\{} needs {} hexadecimal digits", digits == 4 ? 'u' : 'U', digits));
      point = point * 16 + static_cast<unsigned>(hex_digit(text_[at_++]));
    }
    return static_cast<char32_t>(std::min<uint64_t>(point, 0xFFFFFFFF));
  };
  char32_t point = read(digits);
  const bool is_high = point >= 0xD800 && point < 0xDC00;
  if (is_high && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const char32_t low = read(4);
    point = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                                          : char32_t{0xD800};
  }
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
    fail_at(from, "this escape stands for no character");
  append_code_point(out, point);
}

MessageWriter Reader::model() { return message(kModelSchema, '\0'); }

}  // namespace proto_text

std::string read_proto_text(std::string_view text) { return proto_text::Reader(text).model().bytes(); }

}  // namespace assay::onnx
