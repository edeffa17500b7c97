#include "graph/model_message.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "graph/order.h"
#include "graph/tensor_message.h"
#include "graph/type_message.h"
#include "graph/value_info.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay {
namespace {

using onnx::MessageWriter;
using tensor_field::kDataLocation;
using tensor_field::kDocString;
using tensor_field::kExternalData;
using tensor_field::kMetadata;
using tensor_field::kName;
using tensor_field::kRawData;

/// The first IR version in which an initializer need not be an input, too.
constexpr int64_t kUnlistedInitializers = 4;

void write_data(MessageWriter& w, const UnalignedTensor& t) {
  if (t.dtype() != DType::kString)
    return w.borrowed(kRawData, {static_cast<const char*>(t.data()), t.nbytes()});
  const Tensor strings = t.aligned();
  for (const std::string& s : strings.span<std::string>()) w.text(6, s);
}

bool equal(const Metadata& a, const onnx::StringPairs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.second == y.second; });
}

/// Where the parts of an initializer's message come from.
struct InitializerForm {
  bool is_held = false;         ///< in the message of the source, except for what is written here
  bool is_placed = false;       ///< the placer takes the data
  onnx::TensorMessage message;  ///< of the source, where it is held
  bool writes_data = true, writes_name = true, writes_words = true;

  /// The numbers of fields that the source's message has otherwise.
  std::vector<uint32_t> replaced_fields() const {
    std::vector<uint32_t> fields;
    if (writes_name) fields.push_back(kName);
    if (writes_words) fields.insert(fields.end(), {kDocString, kMetadata});
    if (writes_data) fields.insert(fields.end(), tensor_field::kDataAndPlaces);
    return fields;
  }
};

void write_place(MessageWriter& w, const DataPlace& place) {
  Metadata entries = {{"location", place.location},
                      {"offset", std::to_string(place.offset)},
                      {"length", std::to_string(place.length)}};
  if (!place.checksum.empty()) entries.emplace_back("checksum", place.checksum);
  write_metadata(w, kExternalData, entries);
  w.integer(kDataLocation, 1);
}

/// Turns the IR into messages.
class Exporter {
 public:
  explicit Exporter(const MessageOptions& options) : options_(options) {}
  MessageWriter model(const Model& m);

 private:
  friend struct AttributePayload;
  MessageWriter graph(const Graph& g);
  MessageWriter function(const Function& f);
  MessageWriter constant_node(const Value& v);
  MessageWriter node(const Node& n);
  MessageWriter attribute(const Attribute& a);
  MessageWriter attribute_tensor(const UnalignedTensor& t, const TensorSource* source);
  MessageWriter initializer(const Value& v);
  InitializerForm form_of(const Value& v) const;
  void require_source(const Value& missing) const;
  bool may_refer(const TensorSource* source) const { return source->is_external && options_.keep_references; }
  /// Whether the source's message, which is `m`, can stand for data of that size.
  bool gives_data(const TensorSource& source, const onnx::TensorMessage& m, size_t bytes) const {
    if (source.is_external && !may_refer(&source)) return false;
    return bytes == 0 || onnx::has_data(m);
  }
  bool is_dropped(const Value& v) const {
    return options_.placer != nullptr && options_.placer->takes(v) && options_.placer->drops(v);
  }
  void note_location(const onnx::TensorMessage& m) const;

  const MessageOptions& options_;
};

void Exporter::note_location(const onnx::TensorMessage& m) const {
  if (options_.locations == nullptr) return;
  for (const auto& [key, value] : m.external_data)
    if (key == "location")
      options_.locations->insert(std::filesystem::path(value).lexically_normal().string());
}

MessageWriter Exporter::attribute_tensor(const UnalignedTensor& t, const TensorSource* source) {
  MessageWriter w;
  if (!describes(source, t.dtype(), t.shape(), t.data())) {
    write_tensor_type(w, t.dtype(), t.shape());
    write_data(w, t);
  } else if (!source->is_external || may_refer(source)) {
    if (source->is_external) note_location(onnx::read_tensor(source->bytes));
    w.borrowed(source->bytes);
  } else {
    copy_fields(w, source->bytes, tensor_field::kPlaces);
    write_data(w, t);
  }
  return w;
}

void Exporter::require_source(const Value& missing) const {
  const TensorSource* source = missing.tensor_source();
  const auto shape = missing.type.has_shape() ? known_shape(*missing.type.dims) : std::nullopt;
  require(shape && describes(source, missing.type.dtype, *shape, nullptr) &&
              (may_refer(source) || onnx::is_weightless(onnx::read_tensor(source->bytes))),
          ErrorCode::kInvalidArgument,
          "the data of initializer '{}' were not loaded and can only be saved as a reference to the file "
          "they are in, so in that file's folder",
          missing.name());
}

InitializerForm Exporter::form_of(const Value& v) const {
  const UnalignedTensor& t = v.tensor();
  const TensorSource* source = v.tensor_source();
  const bool is_missing = !t.defined();
  if (is_missing) require_source(v);
  InitializerForm f;
  f.is_placed = !is_missing && options_.placer != nullptr && options_.placer->takes(v);
  f.is_held = is_missing || describes(source, t.dtype(), t.shape(), t.data());
  f.writes_words = !v.is_overridable;
  if (!f.is_held) return f;
  f.message = onnx::read_tensor(source->bytes);
  f.writes_data = !is_missing && (f.is_placed || !gives_data(*source, f.message, t.nbytes()));
  f.writes_name = f.message.name != v.name();
  f.writes_words =
      f.writes_words && (f.message.doc_string != v.doc_string || !equal(v.metadata, f.message.metadata));
  return f;
}

MessageWriter Exporter::initializer(const Value& v) {
  const UnalignedTensor& t = v.tensor();
  const InitializerForm form = form_of(v);
  MessageWriter w;
  if (form.is_held) {
    const TensorSource& source = *v.tensor_source();
    if (!form.writes_data && source.is_external) note_location(form.message);
    copy_fields(w, source.bytes, form.replaced_fields());
  } else {
    write_tensor_type(w, t.dtype(), t.shape());
  }
  if (form.writes_name) w.text(kName, v.name());
  if (form.writes_data && !form.is_placed) write_data(w, t);
  if (form.writes_words) w.text_if(kDocString, v.doc_string);
  if (form.is_placed) write_place(w, options_.placer->add(v));
  if (form.writes_words) write_metadata(w, kMetadata, v.metadata);
  return w;
}

/// Writes the payload field of an attribute and yields AttributeProto.AttributeType.
struct AttributePayload {
  MessageWriter& w;
  Exporter& e;
  const std::vector<TensorSource>* sources;
  size_t tensors = 0;  ///< number of tensors written

  int operator()(std::monostate) { return 0; }
  int operator()(float v) { return w.fixed32(2, v), 1; }
  int operator()(int64_t v) { return w.integer(3, v), 2; }
  int operator()(const std::string& v) { return w.text(4, v), 3; }
  int operator()(const UnalignedTensor& v) { return w.message(5, tensor(v)), 4; }
  int operator()(const std::shared_ptr<Graph>& v) { return w.message(6, e.graph(*v)), 5; }
  int operator()(const std::vector<float>& list) {
    for (const float v : list) w.fixed32(7, v);
    return 6;
  }
  int operator()(const std::vector<int64_t>& list) {
    for (const int64_t v : list) w.integer(8, v);
    return 7;
  }
  int operator()(const std::vector<std::string>& list) {
    for (const std::string& v : list) w.text(9, v);
    return 8;
  }
  int operator()(const std::vector<Tensor>& list) {
    for (const Tensor& v : list) w.message(10, tensor(v));
    return 9;
  }
  int operator()(const Attribute::Graphs& list) {
    for (const auto& v : list) w.message(11, e.graph(*v));
    return 10;
  }
  int operator()(const Type& v) { return w.message(14, type_message(v)), 13; }
  int operator()(const Attribute::Types& list) {
    for (const Type& v : list) w.message(15, type_message(v));
    return 14;
  }
  int operator()(const Attribute::Sparse& v) { return w.message(22, sparse(v)), 11; }
  int operator()(const std::vector<Attribute::Sparse>& list) {
    for (const auto& v : list) w.message(23, sparse(v));
    return 12;
  }

  MessageWriter tensor(const UnalignedTensor& t) {
    const size_t i = tensors++;
    return e.attribute_tensor(t, sources != nullptr && i < sources->size() ? &(*sources)[i] : nullptr);
  }
  MessageWriter sparse(const Attribute::Sparse& s) {
    MessageWriter m;
    m.message(1, tensor(s.values));
    m.message(2, tensor(s.indices));
    for (const int64_t d : s.dims) m.integer(3, d);
    return m;
  }
};

MessageWriter Exporter::attribute(const Attribute& a) {
  MessageWriter w;
  w.copied(a.extra_fields);
  w.text(1, a.name);
  AttributePayload payload{w, *this, a.tensor_sources.get()};
  const int type = std::visit(payload, a.data);
  w.text_if(13, a.doc_string);
  if (type != 0) w.integer(20, type);
  w.text_if(21, a.ref_attr_name);
  return w;
}

std::string_view name_of(const Value* v) {
  return v == nullptr ? std::string_view() : std::string_view(v->name());
}

MessageWriter Exporter::node(const Node& n) {
  MessageWriter w;
  w.copied(n.extra_fields);
  for (const Value* v : n.inputs()) w.text(1, name_of(v));
  for (const Value* v : n.outputs()) w.text(2, name_of(v));
  w.text_if(3, n.name);
  w.text(4, n.op_type);
  for (const Attribute& a : n.attributes) w.message(5, attribute(a));
  w.text_if(6, n.doc_string);
  w.text_if(7, n.domain);
  w.text_if(8, n.overload);
  write_metadata(w, 9, n.metadata);
  return w;
}

/// The inputs and the initializers that are inputs, too; in the file's order if the inputs still are.
std::vector<const Value*> all_inputs(const Graph& g) {
  std::vector<const Value*> list;
  const std::unordered_set<const Value*> inputs(g.inputs.begin(), g.inputs.end());
  for (const Value* v : g.input_order)
    if (inputs.contains(v) || v->is_overridable) list.push_back(v);
  std::vector<const Value*> proper;
  std::copy_if(list.begin(), list.end(), std::back_inserter(proper),
               [](const Value* v) { return !v->is_overridable; });
  if (!std::equal(proper.begin(), proper.end(), g.inputs.begin(), g.inputs.end()))
    list.assign(g.inputs.begin(), g.inputs.end());
  const std::unordered_set<const Value*> listed(list.begin(), list.end());
  for (const auto& v : g.values())
    if (v->is_overridable && !listed.contains(v.get())) list.push_back(v.get());
  return list;
}

/// Entries of the file, then intermediate values that need one.
void write_value_infos(MessageWriter& w, uint32_t field, const Graph& g) {
  std::unordered_set<const Value*> listed(g.inputs.begin(), g.inputs.end());
  listed.insert(g.outputs.begin(), g.outputs.end());
  listed.insert(g.value_info_order.begin(), g.value_info_order.end());
  for (const Value* v : g.value_info_order) w.message(field, value_info_entry(*v));
  for (const auto& v : g.values())
    if (v->producer() != nullptr && !listed.contains(v.get()) &&
        (v->type.kind != Type::Kind::kUnknown || !v->metadata.empty()))
      w.message(field, value_info_message(*v));
}

/// True for an entry of the file that is stale, because an edit changed the constant's type or shape.
bool is_stale(const onnx::ValueInfoMessage& m, const Graph& g) {
  const Value* v = g.find_value(m.name);
  constexpr int kTensorType = 1;
  if (v == nullptr || !v->is_constant() || !m.has_type || m.type.kind != kTensorType) return false;
  if (m.type.elem_type != 0 && m.type.elem_type != static_cast<int64_t>(v->type.dtype)) return true;
  if (!m.type.has_shape || !v->type.dims) return false;
  const auto fits = [](const onnx::DimMessage& said, const Dim& d) {
    return !said.has_value || d == Dim(said.value);
  };
  return !std::equal(m.type.dims.begin(), m.type.dims.end(), v->type.dims->begin(), v->type.dims->end(),
                     fits);
}

/// Other entries of the file that are not stale.
std::string current_fields(const Graph& g) {
  if (g.extra_fields.empty()) return {};
  std::string model;
  onnx::add_field(7, g.extra_fields, model);
  const onnx::ModelMessage read = onnx::read_model(model);
  const auto& entries = read.graph.value_infos;
  const auto stale = [&](const onnx::ValueInfoMessage& m) { return is_stale(m, g); };
  if (std::none_of(entries.begin(), entries.end(), stale)) return g.extra_fields;
  std::string fields = read.graph.extra;
  for (const onnx::ValueInfoMessage& m : entries)
    if (!stale(m)) onnx::add_field(13, m.bytes, fields);
  return fields;
}

/// A sparse initializer whose dense form is unchanged.
bool is_sparse_source(const Value& v) {
  const TensorSource* source = v.tensor_source();
  return source != nullptr && source->is_sparse && source->data == v.tensor().data() &&
         onnx::read_sparse_tensor(source->bytes).values.name == v.name();
}

MessageWriter Exporter::graph(const Graph& g) {
  MessageWriter w;
  w.copied(current_fields(g));
  for (const auto& n : g.nodes()) w.message(1, node(*n));
  w.text_if(2, g.name);
  for (const auto& v : g.values()) {
    if (!v->is_constant() || is_dropped(*v)) continue;
    if (is_sparse_source(*v))
      w.borrowed(15, v->tensor_source()->bytes);
    else
      w.message(5, initializer(*v));
  }
  w.text_if(10, g.doc_string);
  for (const Value* v : all_inputs(g)) w.message(11, value_info_message(*v));
  for (const Value* v : g.outputs) w.message(12, value_info_message(*v));
  write_value_infos(w, 13, g);
  for (const auto& [name, parameters] : g.quantization_annotations) {
    MessageWriter q;
    q.text(1, name);
    write_metadata(q, 2, parameters);
    w.message(14, q);
  }
  write_metadata(w, 16, g.metadata);
  return w;
}

/// True for a new constant that is not also an input of the graph.
bool holds_new_initializer(const Graph& g) {
  for (const auto& v : g.values())
    if (v->is_constant() && !v->is_overridable && v->tensor_source() == nullptr) return true;
  for (const auto& n : g.nodes())
    for (const Attribute& a : n->attributes) {
      if (const auto* inner = a.get_if<std::shared_ptr<Graph>>();
          inner != nullptr && holds_new_initializer(**inner))
        return true;
      if (const auto* graphs = a.get_if<Attribute::Graphs>())
        for (const auto& inner : *graphs)
          if (holds_new_initializer(*inner)) return true;
    }
  return false;
}

MessageWriter opset_message(const OpsetImport& o) {
  MessageWriter w;
  w.copied(o.extra_fields);
  w.text_if(1, o.domain);
  w.integer(2, o.version);
  return w;
}

/// A constant as a node: bodies of functions have no initializers.
MessageWriter Exporter::constant_node(const Value& v) {
  MessageWriter value;
  value.text(1, "value");
  value.message(5, initializer(v));
  value.integer(20, 4);
  MessageWriter w;
  w.text(2, v.name());
  w.text(4, "Constant");
  w.message(5, value);
  return w;
}

MessageWriter Exporter::function(const Function& f) {
  MessageWriter w;
  w.copied(f.extra_fields);
  w.text(1, f.name);
  for (const Value* v : f.body->inputs) w.text(4, v->name());
  for (const Value* v : f.body->outputs) w.text(5, v->name());
  for (const std::string& a : f.attribute_names) w.text(6, a);
  const std::unordered_set<const Value*> outputs(f.body->outputs.begin(), f.body->outputs.end());
  for (const auto& v : f.body->values())
    if (v->is_constant() && (!v->consumers().empty() || outputs.contains(v.get())))
      w.message(7, constant_node(*v));
  for (const auto& n : f.body->nodes()) w.message(7, node(*n));
  w.text_if(8, f.doc_string);
  for (const OpsetImport& o : f.opsets) w.message(9, opset_message(o));
  w.text_if(10, f.domain);
  for (const Attribute& a : f.attribute_defaults) w.message(11, attribute(a));
  write_value_infos(w, 12, *f.body);
  w.text_if(13, f.overload);
  write_metadata(w, 14, f.metadata);
  return w;
}

MessageWriter Exporter::model(const Model& m) {
  check_depth(m);
  MessageWriter w;
  w.copied(m.extra_fields);
  w.integer(1, written_ir_version(m));
  w.text_if(2, m.producer_name);
  w.text_if(3, m.producer_version);
  w.text_if(4, m.domain);
  if (m.model_version != 0) w.integer(5, m.model_version);
  w.text_if(6, m.doc_string);
  w.message(7, graph(*m.graph));
  for (const OpsetImport& o : m.opsets) w.message(8, opset_message(o));
  write_metadata(w, 14, m.metadata);
  for (const Function& f : m.functions) w.message(25, function(f));
  return w;
}

}  // namespace

int64_t written_ir_version(const Model& m) {
  const bool lists_all = m.ir_version > 0 && m.ir_version < kUnlistedInitializers;
  return lists_all && holds_new_initializer(*m.graph) ? kUnlistedInitializers : m.ir_version;
}

MessageWriter model_message(const Model& model, const MessageOptions& options) {
  return Exporter(options).model(model);
}

}  // namespace assay
