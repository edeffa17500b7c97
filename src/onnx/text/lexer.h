// Lexer of the text form, with positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::onnx {

/// One word. `text` views the model's text.
struct Token {
  enum class Kind : uint8_t { kEnd, kIdentifier, kString, kInteger, kFloat, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< a string's is without its quotes, escapes left as they are
  size_t at = 0;          ///< byte offset of its first character

  bool is(char punctuation) const { return kind == Kind::kPunctuation && text[0] == punctuation; }
};

/// A `#: key "..." "..."` comment (syntax.h).
struct Annotation {
  std::string_view key;
  std::vector<std::string> values;
  size_t at = 0;
};

/// Yields words; comments and blanks between them are skipped, annotations are kept for the element that the
/// next word begins. Every member throws Error (kInvalidModel) with the line and the position in it.
class Lexer {
 public:
  /// `text` outlives the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The next word, without consuming it.
  const Token& peek();
  /// Consumes and returns the next word. An unclaimed annotation before it is an error.
  Token take();
  /// Consumes and returns the annotations before the next word.
  std::vector<Annotation> claim_annotations();

  /// Consumes the punctuation if it is next.
  bool accept(char punctuation);
  /// Consumes the punctuation; `where` is part of the error: `expected ')' after the inputs, but found ...`.
  void expect(char punctuation, std::string_view where);

  /// The value of a string token.
  std::string string_value(const Token& string) const;

  /// `expected WHAT, but found ...` at the next word.
  [[noreturn]] void fail_expected(std::string_view what);
  /// Throws any other error at an offset of the text.
  [[noreturn]] void fail_at(size_t at, const std::string& message) const;

 private:
  void skip_blanks();
  void read_annotation(size_t mark);
  Token read();
  Token read_string(size_t from);
  Token read_number(size_t from);

  std::string_view text_;
  size_t pos_ = 0;
  bool has_next_ = false;
  Token next_;
  std::vector<Annotation> annotations_;
};

}  // namespace assay::onnx
