#include "graph/to_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "base/base64.h"
#include "graph/model_message.h"
#include "graph/order.h"
#include "onnx/text/syntax.h"
#include "tensor/packed_bits.h"

namespace assay {
namespace {

using onnx::annotation_string;
using onnx::text_name;
using onnx::text_string;

constexpr int kIndent = 2;

/// The one NaN of each sign that its decimal form brings back.
template <typename Float, typename Bits>
bool survives_as_decimal(Float value) {
  if (!std::isnan(value)) return true;
  const auto bits = std::bit_cast<Bits>(value);
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & ~kSign) == std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
}
bool survives(float v) { return survives_as_decimal<float, uint32_t>(v); }
bool survives(double v) { return survives_as_decimal<double, uint64_t>(v); }

/// The name of an AttributeProto.AttributeType for what an attribute holds.
struct AttributeTypeName {
  std::string_view operator()(std::monostate) const { return "undefined"; }
  std::string_view operator()(float) const { return "float"; }
  std::string_view operator()(int64_t) const { return "int"; }
  std::string_view operator()(const std::string&) const { return "string"; }
  std::string_view operator()(const Tensor&) const { return "tensor"; }
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

/// Writes from the outside in. An annotation stands on a line of its own, before its thing.
class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}
  std::string take() { return std::move(out_); }

  void model(const Model& m);

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void new_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    put("\n{:{}}", "", level_ * kIndent);
  }
  template <typename List, typename Each>
  void list(const List& items, std::string_view separator, Each each) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += separator;
      first = false;
      each(item);
    }
  }

  // Annotations. Each begins a new line and ends it.
  void annotate(std::string_view key, std::initializer_list<std::string_view> values);
  void annotate_metadata(const Metadata& metadata);
  void annotate_denotations(const Type& type);
  void annotate_data(std::string_view bytes);
  void annotate_bits(const Tensor& t);
  bool at_line_start() const;

  void opsets(const std::vector<OpsetImport>& imports);
  void pairs(const Metadata& entries);
  void type(const Type& t);
  void dims(const std::optional<Dims>& dims);
  void tensor_type(DType dtype, const Shape& shape);
  template <typename T, typename Each>
  void elements(const T* data, int64_t count, Each each);
  void constant(const Tensor& t);
  void tensor(const Tensor& t);
  void sparse(const Attribute::Sparse& s);
  void value(const Value& v, bool is_initializer);
  void initializer_data(const Value& v);

  friend struct AttributeValue;
  void annotate_attribute(const Attribute& a);
  void attribute(const Attribute& a);
  void attributes(const std::vector<Attribute>& list);
  void names(const std::vector<Value*>& values);
  void node(const Node& n);
  void nodes(const Graph& g);
  void values(const Graph& g);
  void graph(const Graph& g);
  void function(const Function& f);

  const TextOptions& options_;
  std::string out_;
  int level_ = 0;
};

bool Writer::at_line_start() const {
  const size_t last = out_.find_last_not_of(' ');
  return last == std::string::npos || out_[last] == '\n';
}

void Writer::annotate(std::string_view key, std::initializer_list<std::string_view> values) {
  if (!at_line_start()) new_line();
  put("{} {}", onnx::kAnnotationMark, key);
  for (const std::string_view v : values) put(" {}", annotation_string(v));
  new_line();
}

void Writer::annotate_metadata(const Metadata& metadata) {
  for (const auto& [key, value] : metadata) annotate(onnx::kMetadataAnnotation, {key, value});
}

void Writer::annotate_denotations(const Type& type) {
  std::string text;
  bool has_any = false;
  for (const Type* t = &type; t != nullptr; t = t->element.get()) {
    text += ' ' + annotation_string(t->denotation);
    has_any = has_any || !t->denotation.empty();
  }
  if (!has_any) return;
  if (!at_line_start()) new_line();
  put("{} {}{}", onnx::kAnnotationMark, onnx::kDenotationAnnotation, text);
  new_line();
}

void Writer::annotate_data(std::string_view bytes) {
  annotate(onnx::kDataAnnotation, {base64_encode(bytes)});
}

/// Where decimal numbers would lose the bits of a NaN.
void Writer::annotate_bits(const Tensor& t) {
  const Tensor a = t.aligned();
  const auto all_survive = [&](auto zero) {
    using Float = decltype(zero);
    const auto* data = static_cast<const Float*>(a.data());
    return std::all_of(data, data + a.nbytes() / sizeof(Float), [](Float v) { return survives(v); });
  };
  const bool is_single = t.dtype() == DType::kFloat32 || t.dtype() == DType::kComplex64;
  const bool is_double = t.dtype() == DType::kFloat64 || t.dtype() == DType::kComplex128;
  if ((is_single && !all_survive(0.0F)) || (is_double && !all_survive(0.0)))
    annotate_data({static_cast<const char*>(a.data()), a.nbytes()});
}

void Writer::opsets(const std::vector<OpsetImport>& imports) {
  out_ += "opset_import: [";
  list(imports, ", ", [&](const OpsetImport& o) { put("{} : {}", text_string(o.domain), o.version); });
  out_ += ']';
}

void Writer::pairs(const Metadata& entries) {
  out_ += '[';
  list(entries, ", ", [&](const auto& e) { put("{}: {}", text_string(e.first), text_string(e.second)); });
  out_ += ']';
}

void Writer::dims(const std::optional<Dims>& dims) {
  if (!dims) {
    out_ += "[]";
  } else if (!dims->empty()) {
    out_ += '[';
    list(*dims, ", ", [&](const Dim& d) { out_ += d.is_symbol() ? text_name(d.symbol()) : d.str(); });
    out_ += ']';
  }
}

void Writer::type(const Type& t) {
  const auto element = [&] {
    if (t.element) type(*t.element);
  };
  switch (t.kind) {
    case Type::Kind::kUnknown:
      break;
    case Type::Kind::kTensor:
      out_ += onnx_name(t.dtype);
      dims(t.dims);
      break;
    case Type::Kind::kSparseTensor:
      put("sparse_tensor({}", onnx_name(t.dtype));
      dims(t.dims);
      out_ += ')';
      break;
    case Type::Kind::kSequence:
      out_ += "seq(", element(), out_ += ')';
      break;
    case Type::Kind::kOptional:
      out_ += "optional(", element(), out_ += ')';
      break;
    case Type::Kind::kMap:
      put("map({}{}", onnx_name(t.dtype), t.element ? ", " : "");
      element(), out_ += ')';
      break;
    case Type::Kind::kOpaque:
      out_ += "opaque()";
      break;
  }
}

void Writer::tensor_type(DType dtype, const Shape& shape) {
  out_ += onnx_name(dtype);
  if (!shape.empty()) put("[{}]", fmt::join(shape.dims(), ", "));
}

template <typename T, typename Each>
void Writer::elements(const T* data, int64_t count, Each each) {
  const int64_t shown = options_.max_elements < 0
                            ? count
                            : std::min<int64_t>(count, std::max<int64_t>(options_.max_elements, 0));
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) out_ += ", ";
    each(data[i]);
  }
  if (shown < count) out_ += shown > 0 ? ", ..." : "...";
}

/// `{...}`: numbers; bits as unsigned numbers for narrow floats, bytes for types whose elements share them.
void Writer::constant(const Tensor& tensor) {
  const Tensor t = tensor.aligned();
  const auto numbers = [&]<typename T>(T) {
    elements(static_cast<const T*>(t.data()), static_cast<int64_t>(t.nbytes() / sizeof(T)),
             [&](T v) { put("{}", v); });
  };
  out_ += '{';
  switch (t.dtype()) {
    case DType::kFloat32:
    case DType::kComplex64:
      numbers(float{});
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      numbers(double{});
      break;
    case DType::kString:
      elements(t.data<std::string>(), t.numel(), [&](const std::string& s) { out_ += text_string(s); });
      break;
    case DType::kInt8:
      numbers(int8_t{});
      break;
    case DType::kInt16:
      numbers(int16_t{});
      break;
    case DType::kInt32:
      numbers(int32_t{});
      break;
    case DType::kInt64:
      numbers(int64_t{});
      break;
    case DType::kUInt32:
      numbers(uint32_t{});
      break;
    case DType::kUInt64:
      numbers(uint64_t{});
      break;
    default:
      if (bit_width(t.dtype()) == 16) {
        numbers(uint16_t{});
      } else if (spans_bytes(t.dtype())) {
        std::vector<uint8_t> codes(static_cast<size_t>(t.numel()));
        unpack_bits(static_cast<const uint8_t*>(t.data()), 0, bit_width(t.dtype()), codes);
        elements(codes.data(), t.numel(), [&](uint8_t v) { put("{}", v); });
      } else {
        numbers(uint8_t{});
      }
  }
  out_ += '}';
}

void Writer::tensor(const Tensor& t) {
  tensor_type(t.dtype(), t.shape());
  out_ += ' ';
  constant(t);
}

void Writer::sparse(const Attribute::Sparse& s) {
  out_ += "sparse_tensor(";
  tensor_type(s.values.dtype(), Shape(s.dims));
  out_ += ") {";
  annotate_bits(s.values);
  tensor(s.values);
  out_ += ", ";
  tensor(s.indices);
  out_ += '}';
}

void Writer::initializer_data(const Value& v) {
  out_ += " = ";
  const Tensor& t = v.tensor();
  if (!t.defined()) {
    require(options_.max_elements >= 0, ErrorCode::kInvalidArgument,
            "the data of initializer '{}' were not loaded and cannot be written", v.name());
    out_ += "{...}";
    return;
  }
  if (options_.place)
    if (const auto place = options_.place(v)) {
      pairs({{"location", place->location},
             {"offset", std::to_string(place->offset)},
             {"length", std::to_string(place->length)}});
      return;
    }
  constant(t);
}

/// A value of a list, with its type and, for an initializer, its data.
void Writer::value(const Value& v, bool is_initializer) {
  if (!v.doc_string.empty()) annotate(onnx::kDocAnnotation, {v.doc_string});
  annotate_metadata(v.metadata);
  annotate_denotations(v.type);
  if (!is_initializer) {
    type(v.type);
  } else if (v.tensor().defined()) {
    annotate_bits(v.tensor());
    tensor_type(v.tensor().dtype(), v.tensor().shape());
  } else {
    type(v.type);
  }
  if (out_.back() != ' ' && out_.back() != '\n' && out_.back() != '(' && out_.back() != '<') out_ += ' ';
  out_ += text_name(v.name());
  if (is_initializer) initializer_data(v);
}

/// Writes the value of an attribute.
struct AttributeValue {
  Writer& w;

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
  void operator()(const Tensor& v) { w.tensor(v); }
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

void Writer::annotate_attribute(const Attribute& a) {
  if (!a.doc_string.empty()) annotate(onnx::kDocAnnotation, {a.doc_string});
  if (const auto* t = a.get_if<Type>()) annotate_denotations(*t);
  if (const auto* t = a.get_if<Tensor>()) annotate_bits(*t);
  const auto bits = [&](const float* first, size_t count) {
    if (!std::all_of(first, first + count, [](float v) { return survives(v); }))
      annotate_data({reinterpret_cast<const char*>(first), count * sizeof(float)});
  };
  if (const auto* f = a.get_if<float>()) bits(f, 1);
  if (const auto* f = a.get_if<std::vector<float>>()) bits(f->data(), f->size());
}

void Writer::attribute(const Attribute& a) {
  annotate_attribute(a);
  out_ += text_name(a.name);
  if (!a.ref_attr_name.empty()) {
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

void Writer::attributes(const std::vector<Attribute>& items) {
  if (items.empty()) return;
  out_ += " <";
  ++level_;
  list(items, ", ", [&](const Attribute& a) { attribute(a); });
  --level_;
  out_ += '>';
}

void Writer::names(const std::vector<Value*>& values) {
  list(values, ", ",
       [&](const Value* v) { out_ += v == nullptr ? std::string("\"\"") : text_name(v->name()); });
}

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

void Writer::node(const Node& n) {
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

void Writer::nodes(const Graph& g) {
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

/// Intermediate values of which something is known.
std::vector<const Value*> described_values(const Graph& g, std::unordered_set<const Value*> listed) {
  std::vector<const Value*> found;
  for (const auto& v : g.values())
    if (v->producer() != nullptr && !listed.contains(v.get()) &&
        (v->type.kind != Type::Kind::kUnknown || !v->metadata.empty()))
      found.push_back(v.get());
  return found;
}

/// `<initializers and types of intermediate values>`, one a line.
void Writer::values(const Graph& g) {
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

void Writer::graph(const Graph& g) {
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

void Writer::function(const Function& f) {
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

void Writer::model(const Model& m) {
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

}  // namespace

std::string to_text(const Model& model, const TextOptions& options) {
  check_depth(model);
  Writer writer(options);
  writer.model(model);
  return writer.take();
}

}  // namespace assay
