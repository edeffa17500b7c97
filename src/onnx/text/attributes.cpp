#include "onnx/text/attributes.h"

#include <fmt/core.h>

#include <cstring>
#include <optional>

#include "onnx/text/syntax.h"

namespace assay::onnx {
namespace {

/// AttributeProto.AttributeType.
enum Type {
  kNone = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kSparse = 11,
  kTypeProto = 13,
};

/// A type of values, its type of lists, and the fields of AttributeProto that hold them.
struct Kind {
  int single, list;
  uint32_t single_field, list_field;
};
constexpr Kind kKinds[] = {{kFloat, 6, 2, 7},       {kInt, 7, 3, 8},     {kString, 8, 4, 9},
                           {kTensor, 9, 5, 10},     {kGraph, 10, 6, 11}, {kSparse, 12, 22, 23},
                           {kTypeProto, 14, 14, 15}};

const Kind* kind_of(int type) {
  for (const Kind& k : kKinds)
    if (k.single == type || k.list == type) return &k;
  return nullptr;
}

/// One value of any kind.
struct Value {
  int type = kNone;
  float f = 0;
  int64_t i = 0;
  std::string s;
  MessageWriter message;  ///< tensor, graph, sparse tensor, type

  void write(MessageWriter& w, uint32_t field) const {
    if (type == kFloat)
      w.fixed32(field, f);
    else if (type == kInt)
      w.integer(field, i);
    else if (type == kString)
      w.text(field, s);
    else
      w.message(field, message);
  }
};

/// Reads the values of one attribute.
class ValueReader {
 public:
  ValueReader(Lexer& lexer, const Notes& notes, const GraphReader& graph)
      : lexer_(lexer), notes_(notes), graph_(graph) {}

  /// One value; `expected` is the type that it must have, kNone for any.
  Value read(int expected);

 private:
  Value guess();
  Value typed(int expected);
  Value number(int type);
  Value constant_or_type(int expected);

  Lexer& lexer_;
  const Notes& notes_;
  const GraphReader& graph_;
};

Value ValueReader::number(int type) {
  Value v{.type = type};
  if (type == kFloat)
    v.f = read_float(lexer_);
  else
    v.i = read_integer(lexer_);
  return v;
}

/// A type, or a tensor or sparse tensor that begins with its type.
Value ValueReader::constant_or_type(int expected) {
  const Notes own = claim_notes(lexer_, "this value", {kDataAnnotation, kDenotationAnnotation});
  const auto& denotations = own.denotations.empty() ? notes_.denotations : own.denotations;
  const size_t at = lexer_.peek().at;
  TextType type = read_type(lexer_, denotations);
  const Token& next = lexer_.peek();
  const bool has_name = next.kind == Token::Kind::kIdentifier || next.kind == Token::Kind::kString;
  const bool is_type = expected == kTypeProto ||
                       (expected == kNone && !has_name && !next.is('{') && !next.is('=') && !next.is('['));
  if (is_type) return {.type = kTypeProto, .message = std::move(type.message)};
  std::string name;
  if (has_name) {
    const Token t = lexer_.take();
    name = t.kind == Token::Kind::kString ? lexer_.string_value(t) : std::string(t.text);
  }
  lexer_.accept('=');
  if (type.kind == 8) return {.type = kSparse, .message = read_sparse_constant(lexer_, type, at, name)};
  const Notes& data = own.has_data ? own : notes_;
  return {.type = kTensor,
          .message =
              read_tensor_constant(lexer_, type, at, name, {.data = data.data, .has_data = data.has_data})};
}

Value ValueReader::typed(int expected) {
  switch (expected) {
    case kFloat:
    case kInt:
      return number(expected);
    case kString: {
      if (lexer_.peek().kind != Token::Kind::kString) lexer_.fail_expected("a string in quotes");
      return {.type = kString, .s = lexer_.string_value(lexer_.take())};
    }
    case kGraph:
      return {.type = kGraph, .message = graph_()};
    default:
      return constant_or_type(expected);
  }
}

/// A value whose type follows from its first word.
Value ValueReader::guess() {
  const Token& t = lexer_.peek();
  switch (t.kind) {
    case Token::Kind::kInteger:
      return number(kInt);
    case Token::Kind::kFloat:
      return number(kFloat);
    case Token::Kind::kString:
      return typed(kString);
    case Token::Kind::kIdentifier:
      if (is_text_type(t.text)) return constant_or_type(kNone);
      return typed(is_text_float_word(t.text) ? kFloat : kGraph);
    default:
      lexer_.fail_expected("the value of an attribute");
  }
}

Value ValueReader::read(int expected) {
  const size_t at = lexer_.peek().at;
  Value v = expected == kNone ? guess() : typed(expected);
  if (expected != kNone && v.type != expected)
    lexer_.fail_at(at, fmt::format("expected a value of type {}, but found one of type {}",
                                   text_attribute_type_name(expected), text_attribute_type_name(v.type)));
  return v;
}

/// Float attributes with bits from an annotation.
std::optional<std::vector<float>> exact_floats(Lexer& lexer, const Notes& notes, size_t count, size_t at) {
  if (!notes.has_data) return std::nullopt;
  if (notes.data.size() != count * sizeof(float))
    lexer.fail_at(at, fmt::format("the annotation 'data' holds {} bytes, but {} float(s) need {}",
                                  notes.data.size(), count, count * sizeof(float)));
  std::vector<float> values(count);
  std::memcpy(values.data(), notes.data.data(), notes.data.size());
  return values;
}

/// The values between `[` and `]`.
int read_list(Lexer& lexer, ValueReader& reader, int declared, const Notes& notes, MessageWriter& w) {
  const size_t at = lexer.take().at;
  const Kind* kind = kind_of(declared);
  if (kind != nullptr && kind->single == declared)
    lexer.fail_at(at, fmt::format("a list is not a value of type {}", text_attribute_type_name(declared)));
  std::vector<Value> values;
  if (!lexer.peek().is(']')) {
    do {
      values.push_back(reader.read(kind != nullptr ? kind->single : kNone));
      if (kind == nullptr) kind = kind_of(values[0].type);
    } while (lexer.accept(','));
  }
  lexer.expect(']', "or ',' after a value in a list");
  if (kind == nullptr) lexer.fail_at(at, "an empty list needs a type before it, as in `axes: ints = []`");
  if (kind->single == kFloat)
    if (const auto exact = exact_floats(lexer, notes, values.size(), at))
      for (size_t i = 0; i < values.size(); ++i) values[i].f = (*exact)[i];
  for (const Value& v : values) v.write(w, kind->list_field);
  return kind->list;
}

/// Reads the value after `=`; returns its type.
int read_value(Lexer& lexer, int declared, const Notes& notes, const GraphReader& graph, MessageWriter& w) {
  ValueReader reader(lexer, notes, graph);
  if (lexer.peek().is('[')) return read_list(lexer, reader, declared, notes, w);
  const size_t at = lexer.peek().at;
  if (const Kind* kind = kind_of(declared); kind != nullptr && kind->list == declared)
    lexer.fail_expected(fmt::format("'[' before a value of type {}", text_attribute_type_name(declared)));
  Value v = reader.read(declared);
  if (v.type == kFloat)
    if (const auto exact = exact_floats(lexer, notes, 1, at)) v.f = (*exact)[0];
  v.write(w, kind_of(v.type)->single_field);
  return v.type;
}

int read_declared_type(Lexer& lexer) {
  if (!lexer.accept(':')) return kNone;
  const Token word = lexer.peek();
  if (word.kind != Token::Kind::kIdentifier || text_attribute_type(word.text) < 0)
    lexer.fail_expected("the type of an attribute, such as int, floats or graph");
  lexer.take();
  return text_attribute_type(word.text);
}

}  // namespace

Notes claim_attribute_notes(Lexer& lexer) {
  return claim_notes(lexer, "an attribute", {kDocAnnotation, kDenotationAnnotation, kDataAnnotation});
}

MessageWriter read_attribute(Lexer& lexer, const std::string& name, const Notes& notes,
                             const GraphReader& graph) {
  MessageWriter w;
  w.text(1, name);
  w.text_if(13, notes.doc_string);
  const bool has_type = lexer.peek().is(':');
  int type = read_declared_type(lexer);
  if (has_type && type == kNone && !lexer.peek().is('=')) return w;  // an attribute without a value
  lexer.expect('=', "after the name of an attribute");
  if (lexer.accept('@')) {
    const Token t = lexer.peek();
    if (t.kind != Token::Kind::kIdentifier && t.kind != Token::Kind::kString)
      lexer.fail_expected("the name of an attribute of the function after '@'");
    lexer.take();
    w.text(21, t.kind == Token::Kind::kString ? lexer.string_value(t) : std::string(t.text));
  } else {
    type = read_value(lexer, type, notes, graph, w);
  }
  if (type != kNone) w.integer(20, type);
  return w;
}

}  // namespace assay::onnx
