#include "onnx/text/reader.h"

#include <fmt/core.h>

#include <unordered_set>

#include "onnx/messages.h"
#include "onnx/text/attributes.h"
#include "onnx/text/lexer.h"
#include "onnx/text/syntax.h"
#include "onnx/text/tensors.h"
#include "onnx/text/types.h"
#include "onnx/writer.h"

namespace assay::onnx {
namespace {

/// Recursive descent. Each member begins at the first word of its element and returns its message.
class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}
  MessageWriter model();

 private:
  /// A value with a name and an optional type; `= constant` makes it an initializer.
  struct Item {
    MessageWriter value_info;
    MessageWriter initializer;
    bool has_type = false, is_initializer = false, is_sparse = false;
    std::string name;
  };

  bool at_name();
  std::string name(std::string_view what);
  std::vector<std::string> names(char end);
  Item item(bool allows_initializer);
  void initializer(Item& item, const TextType& type, size_t type_at, const Notes& notes);
  template <typename Each>
  void items(char open, char close, bool allows_initializers, std::string_view what, Each each);
  void arrow(std::string_view after);

  template <typename Entry>
  void header(Entry entry);
  std::string header_string();
  void opset_imports(MessageWriter& w, uint32_t field);

  MessageWriter attribute();
  void attributes(MessageWriter& node);
  void op_type(MessageWriter& node);
  MessageWriter node();
  void nodes(MessageWriter& owner, uint32_t field);
  MessageWriter graph();
  void quantization(MessageWriter& graph, std::vector<Annotation>& annotations);
  void function_attributes(MessageWriter& function);
  MessageWriter function();

  Lexer lexer_;
  int graphs_ = 0;
};

bool Reader::at_name() {
  const Token::Kind kind = lexer_.peek().kind;
  return kind == Token::Kind::kIdentifier || kind == Token::Kind::kString;
}

std::string Reader::name(std::string_view what) {
  if (!at_name()) lexer_.fail_expected(what);
  const Token t = lexer_.take();
  return t.kind == Token::Kind::kString ? lexer_.string_value(t) : std::string(t.text);
}

/// Names up to `end`, which is not consumed. A name omitted before a comma is empty.
std::vector<std::string> Reader::names(char end) {
  std::vector<std::string> list;
  while (!lexer_.peek().is(end)) {
    if (lexer_.peek().is(','))
      list.emplace_back();
    else
      list.push_back(name(fmt::format("a name or '{}'", end)));
    if (!lexer_.accept(',')) break;
  }
  return list;
}

void Reader::initializer(Item& item, const TextType& type, size_t type_at, const Notes& notes) {
  item.is_initializer = true;
  item.is_sparse = type.kind == 8;
  item.initializer = item.is_sparse ? read_sparse_constant(lexer_, type, type_at, item.name)
                                    : read_tensor_constant(lexer_, type, type_at, item.name, notes);
}

Reader::Item Reader::item(bool allows_initializer) {
  const Notes notes = claim_notes(
      lexer_, "a value", {kDocAnnotation, kMetadataAnnotation, kDenotationAnnotation, kDataAnnotation});
  Item item;
  TextType type;
  const Token first = lexer_.peek();
  if (first.kind == Token::Kind::kIdentifier && is_text_type(first.text)) {
    type = read_type(lexer_, notes.denotations);
    item.has_type = true;
  }
  item.name = name(item.has_type ? "the name of a value" : "a type or the name of a value");
  item.value_info.text(1, item.name);
  if (item.has_type) item.value_info.message(2, type.message);
  item.value_info.text_if(3, notes.doc_string);
  write_pairs(item.value_info, 4, notes.metadata);
  if (!allows_initializer || !lexer_.accept('=')) return item;
  if (!item.has_type) lexer_.fail_at(first.at, "an initializer needs a tensor type before its name");
  initializer(item, type, first.at, notes);
  return item;
}

template <typename Each>
void Reader::items(char open, char close, bool allows_initializers, std::string_view what, Each each) {
  lexer_.expect(open, fmt::format("before the {}", what));
  if (lexer_.accept(close)) return;
  do {
    each(item(allows_initializers));
  } while (lexer_.accept(','));
  lexer_.expect(close, fmt::format("or ',' after the {}", what));
}

void Reader::arrow(std::string_view after) {
  lexer_.expect('=', fmt::format("(of '=>') after the inputs of {}", after));
  lexer_.expect('>', fmt::format("(of '=>') after the inputs of {}", after));
}

/// `<key: value, ...>`; entry(key) reads the value and returns whether the key is known.
template <typename Entry>
void Reader::header(Entry entry) {
  if (!lexer_.accept('<')) return;
  if (lexer_.accept('>')) return;
  std::unordered_set<std::string_view> seen;
  do {
    const Token key = lexer_.peek();
    if (key.kind != Token::Kind::kIdentifier) lexer_.fail_expected("a key of the header");
    lexer_.take();
    if (!seen.insert(key.text).second) lexer_.fail_at(key.at, fmt::format("'{}' is given twice", key.text));
    lexer_.expect(':', "after a key");
    if (!entry(key.text)) lexer_.fail_at(key.at, fmt::format("the key '{}' is unknown here", key.text));
  } while (lexer_.accept(','));
  lexer_.expect('>', "or ',' after a value of the header");
}

std::string Reader::header_string() {
  if (lexer_.peek().kind != Token::Kind::kString) lexer_.fail_expected("a string in quotes");
  return lexer_.string_value(lexer_.take());
}

void Reader::opset_imports(MessageWriter& w, uint32_t field) {
  lexer_.expect('[', "before the opset imports");
  if (lexer_.accept(']')) return;
  do {
    MessageWriter import;
    import.text(1, header_string());
    lexer_.expect(':', "after the domain of an opset");
    import.integer(2, read_integer(lexer_));
    w.message(field, import);
  } while (lexer_.accept(','));
  lexer_.expect(']', "or ',' after an opset import");
}

MessageWriter Reader::attribute() {
  const Notes notes = claim_attribute_notes(lexer_);
  const std::string attribute_name = name("the name of an attribute");
  return read_attribute(lexer_, attribute_name, notes, [this] { return graph(); });
}

void Reader::attributes(MessageWriter& node) {
  if (!lexer_.accept('<')) return;
  do {
    node.message(5, attribute());
  } while (lexer_.accept(','));
  lexer_.expect('>', "or ',' after an attribute");
}

/// `domain.with.parts.Op:overload`.
void Reader::op_type(MessageWriter& node) {
  std::string domain, op = name("the type of an operator");
  while (lexer_.accept('.')) {
    if (!domain.empty()) domain += '.';
    domain += op;
    op = name("the type of an operator after its domain");
  }
  node.text(4, op);
  node.text_if(7, domain);
  if (lexer_.accept(':')) node.text(8, name("the overload of a function"));
}

MessageWriter Reader::node() {
  const Notes notes = claim_notes(lexer_, "a node", {kDocAnnotation, kMetadataAnnotation});
  MessageWriter w;
  if (lexer_.accept('[')) {
    if (!lexer_.peek().is(']')) w.text(3, name("the name of a node"));
    lexer_.expect(']', "after the name of a node");
  }
  for (const std::string& output : names('=')) w.text(2, output);
  lexer_.expect('=', "or ',' after the outputs of a node");
  op_type(w);
  const bool has_attributes = lexer_.peek().is('<');
  attributes(w);
  lexer_.expect('(', "before the inputs of a node");
  for (const std::string& input : names(')')) w.text(1, input);
  lexer_.expect(')', "or ',' after the inputs of a node");
  if (!has_attributes) attributes(w);
  w.text_if(6, notes.doc_string);
  write_pairs(w, 9, notes.metadata);
  return w;
}

void Reader::nodes(MessageWriter& owner, uint32_t field) {
  lexer_.expect('{', "before the nodes");
  while (!lexer_.peek().is('}')) {
    if (lexer_.peek().kind == Token::Kind::kEnd) lexer_.fail_expected("a node or '}'");
    owner.message(field, node());
  }
  lexer_.take();
}

/// Takes the quantization annotations out of the list; those of one tensor are consecutive.
void Reader::quantization(MessageWriter& graph, std::vector<Annotation>& annotations) {
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> tensors;
  for (Annotation& a : annotations) {
    if (a.key != kQuantizationAnnotation) continue;
    if (a.values.size() == 1 || tensors.empty() || tensors.back().first != a.values[0])
      tensors.push_back({a.values[0], {}});
    if (a.values.size() == 3)
      tensors.back().second.emplace_back(std::move(a.values[1]), std::move(a.values[2]));
  }
  for (const auto& [tensor, parameters] : tensors) {
    MessageWriter w;
    w.text(1, tensor);
    write_pairs(w, 2, parameters);
    graph.message(14, w);
  }
}

MessageWriter Reader::graph() {
  MessageWriter w;
  std::vector<Annotation> annotations = lexer_.claim_annotations();
  for (const Annotation& a : annotations) {
    if (a.key == kDocAnnotation)
      w.text(10, a.values[0]);
    else if (a.key == kMetadataAnnotation)
      write_pairs(w, 16, {{a.values[0], a.values[1]}});
    else if (a.key != kQuantizationAnnotation)
      lexer_.fail_at(a.at, fmt::format("a graph has no annotation '{}'", a.key));
  }
  quantization(w, annotations);
  if (graphs_ > kMaxGraphDepth)
    lexer_.fail_at(lexer_.peek().at, fmt::format("subgraphs nest deeper than {}", kMaxGraphDepth));
  ++graphs_;
  w.text_if(2, name("the name of a graph"));
  const auto add = [&](const Item& i) {
    if (i.is_initializer) w.message(i.is_sparse ? 15 : 5, i.initializer);
  };
  items('(', ')', true, "inputs of a graph", [&](const Item& i) {
    w.message(11, i.value_info);
    add(i);
  });
  arrow("a graph");
  items('(', ')', false, "outputs of a graph", [&](const Item& i) { w.message(12, i.value_info); });
  if (lexer_.peek().is('<'))
    items('<', '>', true, "initializers", [&](const Item& i) {
      add(i);
      if (!i.is_initializer) w.message(13, i.value_info);
    });
  nodes(w, 1);
  --graphs_;
  return w;
}

/// `<name, name: type = default, ...>`.
void Reader::function_attributes(MessageWriter& function) {
  if (!lexer_.accept('<')) return;
  if (lexer_.accept('>')) return;
  do {
    const Notes notes = claim_attribute_notes(lexer_);
    const std::string attribute_name = name("the name of an attribute");
    if (lexer_.peek().is(':') || lexer_.peek().is('='))
      function.message(11, read_attribute(lexer_, attribute_name, notes, [this] { return graph(); }));
    else
      function.text(6, attribute_name);
  } while (lexer_.accept(','));
  lexer_.expect('>', "or ',' after an attribute of a function");
}

MessageWriter Reader::function() {
  const Notes notes = claim_notes(lexer_, "a function", {kMetadataAnnotation});
  MessageWriter w;
  header([&](std::string_view key) {
    if (key == "opset_import") return opset_imports(w, 9), true;
    if (key == "doc_string") return w.text(8, header_string()), true;
    if (key == "domain") return w.text(10, header_string()), true;
    return key == "overload" && (w.text(13, header_string()), true);
  });
  w.text(1, name("the name of a function, or the end of the text"));
  function_attributes(w);
  const auto add = [&](uint32_t field) {
    return [&w, field](const Item& i) {
      w.text(field, i.name);
      if (i.has_type) w.message(12, i.value_info);
    };
  };
  items('(', ')', false, "inputs of a function", add(4));
  arrow("a function");
  items('(', ')', false, "outputs of a function", add(5));
  if (lexer_.peek().is('<'))
    items('<', '>', false, "types of a function", [&](const Item& i) { w.message(12, i.value_info); });
  nodes(w, 7);
  write_pairs(w, 14, notes.metadata);
  return w;
}

MessageWriter Reader::model() {
  MessageWriter w;
  header([&](std::string_view key) {
    if (key == "ir_version") return w.integer(1, read_integer(lexer_)), true;
    if (key == "model_version") return w.integer(5, read_integer(lexer_)), true;
    if (key == "opset_import") return opset_imports(w, 8), true;
    if (key == "metadata_props") return write_pairs(w, 14, read_pairs(lexer_)), true;
    if (key == "producer_name") return w.text(2, header_string()), true;
    if (key == "producer_version") return w.text(3, header_string()), true;
    if (key == "domain") return w.text(4, header_string()), true;
    return key == "doc_string" && (w.text(6, header_string()), true);
  });
  w.message(7, graph());
  while (lexer_.peek().kind != Token::Kind::kEnd) w.message(25, function());
  lexer_.take();
  return w;
}

}  // namespace

bool has_text_suffix(std::string_view path) {
  return path.ends_with(".onnxtxt") || path.ends_with(".onnxtext") || path.ends_with(".txt");
}

std::string read_text(std::string_view text) {
  const MessageWriter message = Reader(text).model();
  std::string bytes;
  bytes.reserve(message.size());
  message.write_to([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace assay::onnx
