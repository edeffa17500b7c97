#include "onnx/text/types.h"

#include <fmt/core.h>

#include <charconv>

#include "onnx/text/syntax.h"

namespace assay::onnx {
namespace {

constexpr int kMaxTypeDepth = 32;

using Denotations = std::span<const std::string>;

/// One extent: `?`, a name, or a number.
void read_dim(Lexer& lexer, MessageWriter& dim, TextType& type) {
  const Token t = lexer.peek();
  std::optional<int64_t> value;
  if (t.kind == Token::Kind::kIdentifier) {
    dim.text(2, t.text);
  } else if (t.kind == Token::Kind::kString) {
    dim.text(2, lexer.string_value(t));
  } else if (t.kind == Token::Kind::kInteger) {
    int64_t number = 0;
    if (std::from_chars(t.text.data(), t.text.data() + t.text.size(), number).ec != std::errc())
      lexer.fail_at(t.at, fmt::format("the extent {} does not fit in 64 bits", t.text));
    dim.integer(1, number);
    value = number;
  } else if (!t.is('?')) {
    lexer.fail_expected("an extent: a number, a name or '?'");
  }
  lexer.take();
  if (!value)
    type.dims.reset();
  else if (type.dims)
    type.dims->push_back(*value);
}

/// An element type and its extents: TypeProto.Tensor.
MessageWriter read_tensor_type(Lexer& lexer, TextType& type) {
  const Token word = lexer.take();
  type.element_type = text_element_type(word.text);
  MessageWriter tensor, shape;
  tensor.integer(1, type.element_type);
  const bool has_brackets = lexer.accept('[');
  if (has_brackets && lexer.accept(']')) return tensor;  // even the rank is unknown
  type.dims.emplace();
  if (has_brackets) {
    do {
      MessageWriter dim;
      read_dim(lexer, dim, type);
      shape.message(1, dim);
    } while (lexer.accept(','));
    lexer.expect(']', "or ',' after an extent");
  }
  tensor.message(2, shape);
  return tensor;
}

TextType read_nested(Lexer& lexer, Denotations denotations, int depth);

/// The element type in the parentheses of seq() and optional(); it may be omitted.
MessageWriter read_element(Lexer& lexer, uint32_t field, Denotations denotations, int depth) {
  MessageWriter container;
  if (!lexer.peek().is(')')) container.message(field, read_nested(lexer, denotations, depth).message);
  return container;
}

MessageWriter read_map(Lexer& lexer, Denotations denotations, int depth) {
  const Token key = lexer.peek();
  if (key.kind != Token::Kind::kIdentifier || text_element_type(key.text) < 0)
    lexer.fail_expected("the type of a map's keys");
  lexer.take();
  MessageWriter map;
  map.integer(1, text_element_type(key.text));
  if (lexer.accept(',')) map.message(2, read_nested(lexer, denotations, depth).message);
  return map;
}

std::string read_qualified_name(Lexer& lexer) {
  std::string name;
  do {
    const Token t = lexer.peek();
    if (t.kind != Token::Kind::kIdentifier && t.kind != Token::Kind::kString)
      lexer.fail_expected("the name of an opaque type");
    if (!name.empty()) name += '.';
    name += t.kind == Token::Kind::kString ? lexer.string_value(t) : std::string(t.text);
    lexer.take();
  } while (lexer.accept('.'));
  return name;
}

/// opaque(), opaque(name) or opaque(domain, name).
MessageWriter read_opaque(Lexer& lexer) {
  MessageWriter opaque;
  if (lexer.peek().is(')')) return opaque;
  std::string name = read_qualified_name(lexer);
  if (lexer.accept(',')) {
    opaque.text(1, name);
    name = read_qualified_name(lexer);
  }
  opaque.text(2, name);
  return opaque;
}

/// The content of the parentheses, and its field in TypeProto.
MessageWriter read_parameters(Lexer& lexer, std::string_view word, TextType& type, Denotations denotations,
                              int depth) {
  if (word == "seq") return type.kind = 4, read_element(lexer, 1, denotations, depth);
  if (word == "optional") return type.kind = 9, read_element(lexer, 1, denotations, depth);
  if (word == "map") return type.kind = 5, read_map(lexer, denotations, depth);
  if (word == "opaque") return type.kind = 7, read_opaque(lexer);
  if (lexer.peek().kind != Token::Kind::kIdentifier || text_element_type(lexer.peek().text) < 0)
    lexer.fail_expected("a tensor type in sparse_tensor()");
  return type.kind = 8, read_tensor_type(lexer, type);
}

TextType read_nested(Lexer& lexer, Denotations denotations, int depth) {
  const Token word = lexer.peek();
  if (word.kind != Token::Kind::kIdentifier || !is_text_type(word.text)) lexer.fail_expected("a type");
  if (depth > kMaxTypeDepth) lexer.fail_at(word.at, fmt::format("types nest deeper than {}", kMaxTypeDepth));
  TextType type;
  if (text_element_type(word.text) >= 0) {
    type.kind = 1;
    type.message.message(1, read_tensor_type(lexer, type));
  } else {
    lexer.take();
    lexer.expect('(', fmt::format("after '{}'", word.text));
    const Denotations inner = denotations.empty() ? denotations : denotations.subspan(1);
    const MessageWriter parameters = read_parameters(lexer, word.text, type, inner, depth + 1);
    lexer.expect(')', fmt::format("at the end of '{}('", word.text));
    type.message.message(static_cast<uint32_t>(type.kind), parameters);
  }
  if (!denotations.empty()) type.message.text_if(6, denotations[0]);
  return type;
}

}  // namespace

TextType read_type(Lexer& lexer, std::span<const std::string> denotations) {
  return read_nested(lexer, denotations, 0);
}

}  // namespace assay::onnx
