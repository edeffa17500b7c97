#include "onnx/text/lexer.h"

#include <algorithm>

#include "assay/error.h"
#include "base/utf8.h"
#include "onnx/text/syntax.h"
#include "onnx/text_place.h"

namespace assay::onnx {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

/// A token as messages show it.
std::string shown(const Token& t) {
  constexpr size_t kMax = 40;
  if (t.kind == Token::Kind::kEnd) return "the end of the text";
  std::string text(t.text.substr(0, kMax));
  if (t.text.size() > kMax) text += "...";
  return t.kind == Token::Kind::kString ? '"' + text + '"' : "'" + text + "'";
}

/// Checks that a key is known and has as many values as it needs.
std::string annotation_problem(const Annotation& a) {
  const auto needs = [&](size_t count) -> std::string {
    if (a.values.size() == count) return {};
    return fmt::format("the annotation '{}' takes {} string(s), but {} follow", a.key, count,
                       a.values.size());
  };
  if (a.key == kDocAnnotation || a.key == kDataAnnotation) return needs(1);
  if (a.key == kMetadataAnnotation) return needs(2);
  if (a.key == kQuantizationAnnotation) return needs(a.values.size() == 1 ? 1 : 3);
  if (a.key == kDenotationAnnotation) return a.values.empty() ? needs(1) : std::string();
  return fmt::format("the annotation '{}' is unknown", a.key);
}

}  // namespace

const Token& Lexer::peek() {
  if (!has_next_) next_ = read();
  has_next_ = true;
  return next_;
}

Token Lexer::take() {
  peek();
  if (!annotations_.empty())
    fail_at(annotations_[0].at,
            fmt::format("the annotation '{}' stands before nothing that has one", annotations_[0].key));
  has_next_ = false;
  return next_;
}

std::vector<Annotation> Lexer::claim_annotations() {
  peek();
  return std::move(annotations_);
}

bool Lexer::accept(char punctuation) {
  if (!peek().is(punctuation)) return false;
  take();
  return true;
}

void Lexer::expect(char punctuation, std::string_view where) {
  if (!accept(punctuation)) fail_expected(fmt::format("'{}' {}", punctuation, where));
}

std::string Lexer::string_value(const Token& string) const {
  std::string out;
  out.reserve(string.text.size());
  for (size_t i = 0; i < string.text.size(); ++i) {
    if (string.text[i] == '\\') ++i;  // read_string() saw that something follows
    out += string.text[i];
  }
  return out;
}

void Lexer::fail_expected(std::string_view what) {
  const Token& found = peek();
  const bool left_out = text_.substr(found.at, 3) == "...";
  fail_at(found.at, fmt::format("expected {}, but found {}", what,
                                left_out ? "'...': this text leaves elements out" : shown(found)));
}

void Lexer::fail_at(size_t at, const std::string& message) const { fail_in_text(text_, at, message); }

void Lexer::skip_blanks() {
  while (pos_ < text_.size()) {
    if (is_blank(text_[pos_])) {
      ++pos_;
    } else if (text_[pos_] == '#') {
      if (text_.substr(pos_).starts_with(kAnnotationMark)) read_annotation(pos_);
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      return;
    }
  }
}

/// Reads the rest of the line as a key and strings.
void Lexer::read_annotation(size_t mark) {
  const size_t end = std::min(text_.find('\n', mark), text_.size());
  size_t at = mark + kAnnotationMark.size();
  const auto skip = [&] {
    while (at < end && is_blank(text_[at])) ++at;
  };
  skip();
  Annotation a;
  a.at = mark;
  const size_t key = at;
  while (at < end && is_word(text_[at])) ++at;
  a.key = text_.substr(key, at - key);
  for (skip(); at < end; skip()) {
    if (text_[at] != '"') fail_at(at, "expected a string in quotes in an annotation");
    std::string value;
    for (++at; at < end && text_[at] != '"'; ++at) {
      char c = text_[at];
      if (c == '\\' && ++at < end) c = text_[at] == 'n' ? '\n' : text_[at] == 'r' ? '\r' : text_[at];
      value += c;
    }
    if (at >= end) fail_at(mark, "the string in this annotation does not end on its line");
    ++at;
    a.values.push_back(std::move(value));
  }
  if (const std::string problem = annotation_problem(a); !problem.empty()) fail_at(mark, problem);
  annotations_.push_back(std::move(a));
}

Token Lexer::read() {
  skip_blanks();
  const size_t from = pos_;
  if (from == text_.size()) return {.at = from};
  const char c = text_[from];
  if (c == '"') return read_string(from);
  if (is_digit(c) || c == '-') return read_number(from);
  Token t{.kind = Token::Kind::kPunctuation, .text = text_.substr(from, 1), .at = from};
  ++pos_;
  if (!is_word(c)) return t;
  while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
  t.kind = Token::Kind::kIdentifier;
  t.text = text_.substr(from, pos_ - from);
  return t;
}

Token Lexer::read_string(size_t from) {
  for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_)
    if (text_[pos_] == '\\') ++pos_;
  if (pos_ >= text_.size()) fail_at(from, "this string does not end: expected '\"'");
  ++pos_;
  return {.kind = Token::Kind::kString, .text = text_.substr(from + 1, pos_ - from - 2), .at = from};
}

/// Digits with at most one point and an exponent; or a sign before inf or nan, which are words without one.
Token Lexer::read_number(size_t from) {
  const auto digits = [&] {
    while (pos_ < text_.size() && is_digit(text_[pos_])) ++pos_;
  };
  const auto next_is = [&](char c) { return pos_ < text_.size() && text_[pos_] == c; };
  Token t{.kind = Token::Kind::kInteger, .at = from};
  if (next_is('-')) ++pos_;
  const size_t first = pos_;
  digits();
  if (pos_ == first) {
    while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
    t.kind = Token::Kind::kFloat;
    if (!is_text_float_word(text_.substr(first, pos_ - first))) fail_at(from, "expected a number after '-'");
  } else {
    if (next_is('.')) {
      ++pos_, digits();
      t.kind = Token::Kind::kFloat;
    }
    if (next_is('e') || next_is('E')) {
      ++pos_;
      if (next_is('+') || next_is('-')) ++pos_;
      if (pos_ == text_.size() || !is_digit(text_[pos_]))
        fail_at(from, "this number has an exponent without digits");
      digits();
      t.kind = Token::Kind::kFloat;
    }
    if (pos_ < text_.size() && (is_word(text_[pos_]) || text_[pos_] == '.'))
      fail_at(from, "this is not a number, and a name that begins with a digit must stand in quotes");
  }
  t.text = text_.substr(from, pos_ - from);
  return t;
}

}  // namespace assay::onnx
