#include "graph/to_text.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <unordered_set>

#include "base/visible_text.h"
#include "graph/model_message.h"
#include "graph/order.h"
#include "graph/text_writer.h"
#include "onnx/text/syntax.h"

namespace assay {

using onnx::text_name;
using onnx::text_string;

namespace {

/// The name of an AttributeProto.AttributeType for what an attribute holds.
struct AttributeTypeName {
  std::string_view operator()(std::monostate) const { return "undefined"; }
  std::string_view operator()(float) const { return "float"; }
  std::string_view operator()(int64_t) const { return "int"; }
  std::string_view operator()(const std::string&) const { return "string"; }
  std::string_view operator()(const UnalignedTensor&) const { return "tensor"; }
  std::string_view operator()(const std::shared_ptr<Graph>&) const { return "graph"; }
  std::string_view operator()(const Type&) const { return "type_proto"; }
  std::string_view operator()(const Attribute::Sparse&) const { return "sparse_tensor"; }
  std::string_view operator()(const std::vector<float>&) const { return "floats"; }
  std::string_view operator()(const std::vector<int64_t>&) const { return "ints"; }
  std::string_view operator()(const std::vector<std::string>&) const { return "strings"; }
  std::string_view operator()(const std::vector<Tensor>&) const { return "tensors"; }
  std::string_view operator()(const Attribute::Graphs&) const { return "graphs"; }
  std::string_view operator()(const Attribute::Types&) const { return "type_protos"; }
  std::string_view operator()(const std::vector<Attribute::Sparse>&) const { return "sparse_tensors"; }
};

/// The declared type of a reference to a function's parameter; empty without one.
std::string_view referred_type(const Attribute& a) {
  constexpr std::string_view kNames[] = {
      "",        "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
      "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};
  size_t type = 0;
  protozero::pbf_reader fields(a.extra_fields);
  while (fields.next(20, protozero::pbf_wire_type::varint)) type = static_cast<size_t>(fields.get_int32());
  return type < std::size(kNames) ? kNames[type] : kNames[0];
}

}  // namespace

/// Writes the value of an attribute.
struct AttributeValue {
  TextWriter& w;

  template <typename List, typename Each>
  void many(const List& items, Each each) {
    w.out_ += '[';
    w.elements(items.data(), static_cast<int64_t>(items.size()), each);
    w.out_ += ']';
  }

  void operator()(std::monostate) {}
  void operator()(float v) { w.put("{}", v); }
  void operator()(int64_t v) { w.put("{}", v); }
  void operator()(const std::string& v) { w.out_ += text_string(v); }
  void operator()(const UnalignedTensor& v) { w.tensor(v); }
  void operator()(const std::shared_ptr<Graph>& v) { w.graph(*v); }
  void operator()(const Type& v) { w.type(v); }
  void operator()(const Attribute::Sparse& v) { w.sparse(v); }
  void operator()(const std::vector<float>& v) { many(v, *this); }
  void operator()(const std::vector<int64_t>& v) { many(v, *this); }
  void operator()(const std::vector<std::string>& v) { many(v, *this); }
  void operator()(const Attribute::Graphs& v) { w.list(v, ", ", *this); }
  void operator()(const std::vector<Tensor>& v) {
    w.list(v, ", ", [&](const Tensor& t) { w.annotate_bits(t), w.tensor(t); });
  }
  void operator()(const Attribute::Types& v) {
    w.list(v, ", ", [&](const Type& t) { w.annotate_denotations(t), w.type(t); });
  }
  void operator()(const std::vector<Attribute::Sparse>& v) { w.list(v, ", ", *this); }
};

void TextWriter::annotate_attribute(const Attribute& a) {
  if (!a.doc_string.empty()) annotate(onnx::kDocAnnotation, {a.doc_string});
  if (const auto* t = a.get_if<Type>()) annotate_denotations(*t);
  if (const auto* t = a.get_if<UnalignedTensor>()) annotate_bits(*t);
  const auto bits = [&](const float* first, size_t count) {
    if (!std::all_of(first, first + count, survives_as_decimal))
      annotate_data({reinterpret_cast<const char*>(first), count * sizeof(float)});
  };
  if (const auto* f = a.get_if<float>()) bits(f, 1);
  if (const auto* f = a.get_if<std::vector<float>>()) bits(f->data(), f->size());
}

void TextWriter::attribute(const Attribute& a) {
  annotate_attribute(a);
  out_ += text_name(a.name);
  if (!a.ref_attr_name.empty()) {
    if (const std::string_view type = referred_type(a); !type.empty()) put(": {}", type);
    put(" = @{}", text_name(a.ref_attr_name));
    return;
  }
  put(": {}", std::visit(AttributeTypeName{}, a.data));
  if (std::holds_alternative<std::monostate>(a.data)) return;
  out_ += " = ";
  const bool brackets =
      a.get_if<Attribute::Graphs>() != nullptr || a.get_if<std::vector<Tensor>>() != nullptr ||
      a.get_if<Attribute::Types>() != nullptr || a.get_if<std::vector<Attribute::Sparse>>() != nullptr;
  if (brackets) out_ += '[';
  std::visit(AttributeValue{*this}, a.data);
  if (brackets) out_ += ']';
}

void TextWriter::attributes(const std::vector<Attribute>& items) {
  if (items.empty()) return;
  out_ += " <";
  ++level_;
  list(items, ", ", [&](const Attribute& a) { attribute(a); });
  --level_;
  out_ += '>';
}

void TextWriter::names(const std::vector<Value*>& values) {
  list(values, ", ",
       [&](const Value* v) { out_ += v == nullptr ? std::string("\"\"") : text_name(v->name()); });
}

namespace {

/// A domain part by part, so that dots stay dots.
std::string operator_name(const Node& n) {
  std::string text;
  for (size_t at = 0; at < n.domain.size();) {
    const size_t dot = std::min(n.domain.find('.', at), n.domain.size());
    const std::string part = n.domain.substr(at, dot - at);
    // An empty part, as in "a..b", only survives within quotes.
    if (part.empty() || dot + 1 == n.domain.size()) {
      text = text_string(n.domain) + '.';
      break;
    }
    text += text_name(part) + '.';
    at = dot + 1;
  }
  text += text_name(n.op_type);
  return n.overload.empty() ? text : text + ':' + text_name(n.overload);
}

}  // namespace

void TextWriter::node(const Node& n) {
  if (!n.doc_string.empty()) annotate(onnx::kDocAnnotation, {n.doc_string});
  annotate_metadata(n.metadata);
  if (!n.name.empty()) put("[{}] ", text_name(n.name));
  names(n.outputs());
  put("{}= {}", n.outputs().empty() ? "" : " ", operator_name(n));
  const bool has_graph = std::any_of(n.attributes.begin(), n.attributes.end(), [](const Attribute& a) {
    return a.get_if<std::shared_ptr<Graph>>() != nullptr || a.get_if<Attribute::Graphs>() != nullptr;
  });
  if (!has_graph) attributes(n.attributes);
  out_ += " (";
  names(n.inputs());
  out_ += ')';
  if (has_graph) attributes(n.attributes);
}

void TextWriter::nodes(const Graph& g) {
  out_ += '{';
  ++level_;
  for (const auto& n : g.nodes()) {
    new_line();
    node(*n);
  }
  --level_;
  new_line();
  out_ += '}';
}

namespace {

/// Intermediate values with known properties.
std::vector<const Value*> described_values(const Graph& g, std::unordered_set<const Value*> listed) {
  std::vector<const Value*> found;
  for (const auto& v : g.values())
    if (v->producer() != nullptr && !listed.contains(v.get()) &&
        (v->type.kind != Type::Kind::kUnknown || !v->metadata.empty()))
      found.push_back(v.get());
  return found;
}

}  // namespace

/// `<initializers and types of intermediate values>`, one a line.
void TextWriter::values(const Graph& g) {
  std::unordered_set<const Value*> listed(g.inputs.begin(), g.inputs.end());
  listed.insert(g.outputs.begin(), g.outputs.end());
  std::vector<const Value*> items;
  for (const auto& v : g.values())
    if (v->is_constant() && !v->is_overridable) items.push_back(v.get());
  const std::vector<const Value*> described = described_values(g, std::move(listed));
  items.insert(items.end(), described.begin(), described.end());
  if (items.empty()) return;
  ++level_;
  new_line();
  out_ += '<';
  ++level_;
  list(items, ",", [&](const Value* v) {
    new_line();
    value(*v, v->is_constant());
  });
  level_ -= 2;
  out_ += '>';
  new_line();
}

void TextWriter::graph(const Graph& g) {
  if (!g.doc_string.empty()) annotate(onnx::kDocAnnotation, {g.doc_string});
  annotate_metadata(g.metadata);
  for (const auto& [tensor, parameters] : g.quantization_annotations) {
    if (parameters.empty()) annotate(onnx::kQuantizationAnnotation, {tensor});
    for (const auto& [key, value] : parameters) annotate(onnx::kQuantizationAnnotation, {tensor, key, value});
  }
  ++level_;
  put("{} (", text_name(g.name));
  std::vector<const Value*> inputs(g.inputs.begin(), g.inputs.end());
  for (const auto& v : g.values())
    if (v->is_overridable) inputs.push_back(v.get());
  list(inputs, ", ", [&](const Value* v) { value(*v, v->is_overridable); });
  out_ += ") => (";
  list(g.outputs, ", ", [&](const Value* v) { value(*v, false); });
  out_ += ") ";
  --level_;
  values(g);
  nodes(g);
}

void TextWriter::function(const Function& f) {
  new_line();
  annotate_metadata(f.metadata);
  put("<\n  domain: {},\n", text_string(f.domain));
  if (!f.overload.empty()) put("  overload: {},\n", text_string(f.overload));
  if (!f.doc_string.empty()) put("  doc_string: {},\n", text_string(f.doc_string));
  out_ += "  ";
  opsets(f.opsets);
  put("\n>\n{} ", text_name(f.name));
  if (!f.attribute_names.empty() || !f.attribute_defaults.empty()) {
    out_ += '<';
    list(f.attribute_names, ", ", [&](const std::string& name) { out_ += text_name(name); });
    if (!f.attribute_names.empty() && !f.attribute_defaults.empty()) out_ += ", ";
    list(f.attribute_defaults, ", ", [&](const Attribute& a) { attribute(a); });
    out_ += "> ";
  }
  out_ += '(';
  names(f.body->inputs);
  out_ += ") => (";
  names(f.body->outputs);
  out_ += ") ";
  const auto described = described_values(*f.body, {f.body->outputs.begin(), f.body->outputs.end()});
  if (!described.empty()) {
    out_ += '<';
    list(described, ", ", [&](const Value* v) { value(*v, false); });
    out_ += "> ";
  }
  nodes(*f.body);
}

void TextWriter::model(const Model& m) {
  put("<\n  ir_version: {},\n  ", written_ir_version(m));
  opsets(m.opsets);
  const auto entry = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) put(",\n  {}: {}", key, text_string(text));
  };
  entry("producer_name", m.producer_name);
  entry("producer_version", m.producer_version);
  entry("domain", m.domain);
  if (m.model_version != 0) put(",\n  model_version: {}", m.model_version);
  entry("doc_string", m.doc_string);
  if (!m.metadata.empty()) {
    out_ += ",\n  metadata_props: ";
    pairs(m.metadata);
  }
  out_ += "\n>\n";
  graph(*m.graph);
  for (const Function& f : m.functions) function(f);
  new_line();
}

namespace {

/// All text from a file is quoted, except words of letters, digits and _.
std::string visible_quotes(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (size_t from = 0; from < text.size();) {
    size_t end = from;
    while (end < text.size() && text[end] != '"') end += quoted && text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    out += visible_text(std::string_view(text).substr(from, end - from), quoted ? Lines::kOne : Lines::kMany);
    if (end < text.size()) out += '"';
    quoted = !quoted;
    from = end + 1;
  }
  return out;
}

}  // namespace

std::string to_text(const Model& model, const TextOptions& options) {
  check_depth(model);
  TextWriter writer(options);
  writer.model(model);
  return options.visible ? visible_quotes(writer.take()) : writer.take();
}

}  // namespace assay
