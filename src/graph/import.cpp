#include "graph/import.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/diagnostics.h"
#include "base/foreign_file.h"
#include "base/mapped_file.h"
#include "base/memory_limit.h"
#include "base/resident_memory.h"
#include "base/time_trace.h"
#include "base/wording.h"
#include "graph/import_message.h"
#include "graph/order.h"
#include "graph/type_message.h"
#include "graph/value_info.h"
#include "onnx/forms/form.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"
#include "onnx/text/reader.h"
#include "onnx/writer.h"

namespace assay {
namespace {

std::string str(std::string_view v) { return std::string(v); }

Metadata to_metadata(const onnx::StringPairs& pairs) {
  Metadata m;
  for (const auto& [key, value] : pairs) m.emplace_back(key, value);
  return m;
}

/// Builds graphs from messages. One per model: it holds the owner of the bytes.
class Importer {
 public:
  Importer(std::shared_ptr<const void> owner, const ImportOptions& options)
      : owner_(std::move(owner)),
        external_(options.external_data_dir, options.ignore_external_data),
        allow_weightless_(options.allow_weightless),
        keep_node_order_(options.keep_node_order) {}

  void graph(const onnx::GraphMessage& m, Graph& g);
  void function(const onnx::FunctionMessage& m, Function& f);
  bool has_external_data() const { return has_external_data_; }

 private:
  /// Throws Error when a stripped tensor cannot be accepted.
  void check_weightless(const onnx::TensorMessage& t) const;
  void initializer(const onnx::TensorMessage& t, Value& v);
  void inputs(const onnx::GraphMessage& m, Graph& g);
  void initializers(const onnx::GraphMessage& m, Graph& g);
  /// Properties that a graph's value cannot have are kept in `extra`, under the field's number.
  static void value_infos(const std::vector<onnx::ValueInfoMessage>& list, Graph& g, uint32_t field,
                          std::string& extra);
  void nodes(const std::vector<onnx::NodeMessage>& list, Graph& g);
  void node_outputs(const onnx::NodeMessage& m, Graph& g, Node& n);
  void node_inputs(const onnx::NodeMessage& m, Graph& g, Node& n);
  Attribute attribute(const onnx::AttributeMessage& m, Graph* parent);
  Attribute::Data attribute_data(const onnx::AttributeMessage& m, int64_t type, Graph* parent,
                                 std::vector<TensorSource>& sources);
  UnalignedTensor tensor(const onnx::TensorMessage& m) {
    has_external_data_ |= onnx::is_external(m);
    return onnx::decode_tensor(m, owner_, external_);
  }
  /// Decodes, and records the source in `sources`.
  UnalignedTensor attribute_tensor(const onnx::TensorMessage& m, std::vector<TensorSource>& sources);
  /// The same, copying misaligned data.
  Tensor aligned_tensor(const onnx::TensorMessage& m, std::vector<TensorSource>& sources);
  std::shared_ptr<Graph> subgraph(const onnx::GraphMessage& m, Graph* parent);
  static void value_info(const onnx::ValueInfoMessage& m, Value& v);

  std::shared_ptr<const void> owner_;
  onnx::ExternalData external_;
  bool allow_weightless_;
  bool has_external_data_ = false;
  bool keep_node_order_;
};

void Importer::value_info(const onnx::ValueInfoMessage& m, Value& v) {
  with_context([&] { return fmt::format("in the type of '{}'", m.name); },
               [&] {
                 if (!m.has_type) return;
                 Type declared = to_type(m.type);
                 // The type of a constant is that of its data.
                 if (!v.is_constant() || !v.tensor().defined()) v.type = std::move(declared);
               });
  v.doc_string = m.doc_string;
  v.metadata = to_metadata(m.metadata);
  v.extra_fields = m.extra;
  // A type that is present but empty.
  if (m.has_type && m.type.bytes.empty()) onnx::add_empty_field(2, v.extra_fields);
}

void Importer::check_weightless(const onnx::TensorMessage& t) const {
  const Shape shape(t.dims);
  require(shape.numel() <= INT64_MAX / 16, ErrorCode::kInvalidModel, "its shape {} is absurd", shape.str());
  if (allow_weightless_) return;
  Error e(ErrorCode::kInvalidModel,
          "its data were stripped (its doc string says so: " + std::string(onnx::kWeightlessMark) + ")");
  set_remedy(e, Say::kReconstructWeights);
  throw e;
}

void Importer::initializer(const onnx::TensorMessage& t, Value& v) {
  const bool is_external = onnx::is_external(t), is_weightless = onnx::is_weightless(t);
  if (is_weightless) check_weightless(t);
  if (is_weightless || (is_external && external_.ignored())) {
    v.type = Type::tensor(to_dtype(t.data_type), Shape(t.dims));
    v.set_missing();
    has_external_data_ |= is_external;
  } else {
    v.set_tensor(tensor(t));
  }
  v.set_tensor_source(std::make_shared<const TensorSource>(
      TensorSource{t.bytes, owner_, v.tensor().defined() ? v.tensor().data() : nullptr, is_external, false}));
  v.doc_string = t.doc_string;
  v.metadata = to_metadata(t.metadata);
  passed_over(t.raw_data);
}

void Importer::initializers(const onnx::GraphMessage& m, Graph& g) {
  const auto constant = [&](std::string_view name) -> Value* {
    require(!name.empty(), ErrorCode::kInvalidModel, "an initializer of graph '{}' has no name", g.name);
    Value* v = g.try_add_value(str(name));
    require(v != nullptr, ErrorCode::kInvalidModel, "two initializers are named '{}'", name);
    return v;
  };
  for (const onnx::TensorMessage& t : m.initializers)
    with_context([&] { return tensor_place("in initializer", t.name); },
                 [&] { initializer(t, *constant(t.name)); });
  for (const onnx::SparseTensorMessage& s : m.sparse_initializers)
    with_context([&] { return tensor_place("in sparse initializer", s.values.name); },
                 [&] {
                   Value* v = constant(s.values.name);
                   v->set_tensor(onnx::decode_sparse_tensor(s, owner_, external_));
                   v->set_tensor_source(std::make_shared<const TensorSource>(
                       TensorSource{s.bytes, owner_, v->tensor().data(), false, true}));
                 });
}

void Importer::value_infos(const std::vector<onnx::ValueInfoMessage>& list, Graph& g, uint32_t field,
                           std::string& extra) {
  for (const onnx::ValueInfoMessage& m : list) {
    Value* v = g.find_value(m.name);
    if (v != nullptr && v->producer() != nullptr) value_info(m, *v);
    if (v != nullptr && v->type.kind == Type::Kind::kUnknown && !v->is_constant() && m.has_type)
      v->type = to_type(m.type);
    if (v != nullptr && value_info_entry(*v).bytes() == m.bytes)
      g.value_info_order.push_back(v);
    else  // for an unknown value, or a duplicate for an input or initializer
      onnx::add_field(field, m.bytes, extra);
  }
}

/// Inputs and initializers. Before IR version 4 every initializer is also listed as an input.
void Importer::inputs(const onnx::GraphMessage& m, Graph& g) {
  std::unordered_set<std::string_view> constants, names;
  for (const onnx::TensorMessage& t : m.initializers) {
    constants.insert(t.name);
    passed_over(t.raw_data);
  }
  for (const onnx::SparseTensorMessage& s : m.sparse_initializers) constants.insert(s.values.name);
  bool is_overridable = false;
  for (const onnx::ValueInfoMessage& v : m.inputs) {
    if (!names.insert(v.name).second) {
      // Bodies receive inputs by position; a model's inputs are named, so names must be distinct.
      require(g.parent() == nullptr, ErrorCode::kInvalidModel, "two inputs of graph '{}' are named '{}'",
              g.name, v.name);
      diag::warning("Two graph inputs are named '{}'; they are taken for one, of the type that comes first.",
                    v.name);
      continue;
    }
    if (constants.contains(v.name))
      is_overridable = true;
    else
      value_info(v, *g.add_input(str(v.name), {}));
  }
  initializers(m, g);
  if (!is_overridable) return;
  for (const onnx::ValueInfoMessage& info : m.inputs) {
    if (names.erase(info.name) == 0) continue;
    Value* v = g.find_value(info.name);
    g.input_order.push_back(v);
    if (!v->is_constant()) continue;
    v->is_overridable = true;
    value_info(info, *v);
  }
}

void Importer::graph(const onnx::GraphMessage& m, Graph& g) {
  g.name = m.name;
  g.doc_string = m.doc_string;
  g.metadata = to_metadata(m.metadata);
  g.extra_fields = m.extra;
  g.reserve_values(m.inputs.size() + m.initializers.size() + m.nodes.size());
  inputs(m, g);
  nodes(m.nodes, g);
  value_infos(m.value_infos, g, 13, g.extra_fields);
  for (const onnx::ValueInfoMessage& v : m.outputs) {
    // A subgraph may return a value of an enclosing graph.
    Value* value = g.lookup(v.name);
    require(value != nullptr, ErrorCode::kInvalidModel,
            "the graph output '{}' is not defined: no input, initializer or node output has that name",
            v.name);
    // For an input that is returned directly, the input's properties apply.
    const bool is_input = value->producer() == nullptr && !value->is_constant();
    if (&value->graph() == &g && (!is_input || value->type.kind == Type::Kind::kUnknown))
      value_info(v, *value);
    g.outputs.push_back(value);
  }
  for (const onnx::QuantizationMessage& q : m.quantization_annotations)
    g.quantization_annotations.emplace_back(str(q.tensor_name), to_metadata(q.parameters));
}

void Importer::function(const onnx::FunctionMessage& m, Function& f) {
  f.name = m.name;
  f.domain = m.domain;
  f.overload = m.overload;
  f.doc_string = m.doc_string;
  f.metadata = to_metadata(m.metadata);
  f.extra_fields = m.extra;
  for (const auto a : m.attribute_names) f.attribute_names.push_back(str(a));
  for (const auto& a : m.attribute_defaults) f.attribute_defaults.push_back(attribute(a, nullptr));
  for (const auto& o : m.opsets) f.opsets.push_back({str(o.domain), o.version, o.extra});
  f.body->name = m.name;
  for (const auto name : m.inputs) f.body->add_input(str(name), {});
  nodes(m.nodes, *f.body);
  value_infos(m.value_infos, *f.body, 12, f.extra_fields);
  for (const auto name : m.outputs) {
    Value* value = f.body->find_value(name);
    require(value != nullptr, ErrorCode::kInvalidModel, "the function output '{}' is not defined", name);
    f.body->outputs.push_back(value);
  }
}

void Importer::nodes(const std::vector<onnx::NodeMessage>& list, Graph& g) {
  std::vector<Node*> made;
  for (const onnx::NodeMessage& m : list) {
    Node* n = g.add_node(str(m.op_type), {}, {}, {}, str(m.name), str(canonical_domain(m.domain)));
    n->overload = m.overload;
    n->doc_string = m.doc_string;
    n->metadata = to_metadata(m.metadata);
    n->extra_fields = m.extra;
    if (m.domain == "ai.onnx") onnx::add_field(7, m.domain, n->extra_fields);
    made.push_back(n);
    node_outputs(m, g, *n);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    with_context([&] { return node_place(made[i]->label()); },
                 [&] {
                   require(!list[i].op_type.empty(), ErrorCode::kInvalidModel,
                           "the node has no operator type");
                   node_inputs(list[i], g, *made[i]);
                   std::unordered_set<std::string_view> names;
                   for (const onnx::AttributeMessage& a : list[i].attributes) {
                     require(names.insert(a.name).second, ErrorCode::kInvalidModel,
                             "the attribute '{}' is given twice", a.name);
                     made[i]->attributes.push_back(attribute(a, &g));
                   }
                 });
  }
  if (keep_node_order_)
    depth_first_order(g);  // throws on a cycle
  else
    sort_topologically(g);
}

void Importer::node_outputs(const onnx::NodeMessage& m, Graph& g, Node& n) {
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    const std::string_view name = m.outputs[i];
    if (name.empty()) {
      n.set_output(i, nullptr);
      continue;
    }
    Value* added = g.try_add_value(str(name));
    if (added == nullptr) {
      const Value* v = g.find_value(name);
      const char* what = v->producer() != nullptr ? "another node's output"
                         : v->is_constant()       ? "an initializer"
                                                  : "a graph input";
      fail(ErrorCode::kInvalidModel, "the output '{}' of node {} is already the name of {}", name,
           n.name.empty() ? "(" + n.op_type + ")" : n.label(), what);
    }
    n.set_output(i, added);
  }
}

void Importer::node_inputs(const onnx::NodeMessage& m, Graph& g, Node& n) {
  std::vector<Value*> inputs;
  for (const std::string_view name : m.inputs) {
    Value* v = name.empty() ? nullptr : g.lookup(name);
    require(v != nullptr || name.empty(), ErrorCode::kInvalidModel,
            "the input '{}' is not defined: no graph input, initializer or node output has that name", name);
    inputs.push_back(v);
  }
  n.set_inputs(std::move(inputs));
}

std::shared_ptr<Graph> Importer::subgraph(const onnx::GraphMessage& m, Graph* parent) {
  auto g = std::make_shared<Graph>();
  g->set_parent(parent);
  graph(m, *g);
  return g;
}

/// AttributeProto.AttributeType of an attribute; in files
/// older than IR version 2 it follows from the fields.
int64_t attribute_type(const onnx::AttributeMessage& m) {
  if (m.type != 0) return m.type;
  constexpr std::pair<int, int> kFieldTypes[] = {{2, 1},   {3, 2},   {4, 3},   {5, 4},  {6, 5},
                                                 {7, 6},   {8, 7},   {9, 8},   {10, 9}, {11, 10},
                                                 {14, 13}, {15, 14}, {22, 11}, {23, 12}};
  for (const auto& [field, type] : kFieldTypes)
    if (m.fields >> field & 1U) return type;
  return 0;
}

/// The declared type of a reference to a function's parameter, which has no value.
std::string type_field(int64_t type) {
  if (type == 0) return {};
  onnx::MessageWriter w;
  w.integer(20, type);
  return std::string(w.bytes());
}

Attribute Importer::attribute(const onnx::AttributeMessage& m, Graph* parent) {
  Attribute a;
  a.name = m.name;
  a.doc_string = m.doc_string;
  a.ref_attr_name = m.ref_attr_name;
  a.extra_fields = m.extra;
  if (!a.ref_attr_name.empty()) a.extra_fields += type_field(attribute_type(m));
  std::vector<TensorSource> sources;
  with_context([&] { return fmt::format("in attribute '{}'", m.name); },
               [&] {
                 if (a.ref_attr_name.empty()) a.data = attribute_data(m, attribute_type(m), parent, sources);
               });
  if (!sources.empty())
    a.tensor_sources = std::make_shared<const std::vector<TensorSource>>(std::move(sources));
  return a;
}

UnalignedTensor Importer::attribute_tensor(const onnx::TensorMessage& m, std::vector<TensorSource>& sources) {
  UnalignedTensor t = tensor(m);
  sources.push_back({m.bytes, owner_, t.data(), onnx::is_external(m), false});
  return t;
}

Tensor Importer::aligned_tensor(const onnx::TensorMessage& m, std::vector<TensorSource>& sources) {
  Tensor t = attribute_tensor(m, sources).aligned();
  sources.back().data = t.data();
  return t;
}

Attribute::Data Importer::attribute_data(const onnx::AttributeMessage& m, int64_t type, Graph* parent,
                                         std::vector<TensorSource>& sources) {
  const auto single = [&](const auto& list) -> const auto& {
    require(list.size() == 1, ErrorCode::kInvalidModel, "it holds {} values where its type says one",
            list.size());
    return list[0];
  };
  const auto sparse = [&](const onnx::SparseTensorMessage& s) {
    Tensor values = aligned_tensor(s.values, sources);
    return Attribute::Sparse{std::move(values), aligned_tensor(s.indices, sources), s.dims};
  };
  switch (type) {
    case 0:
      return {};
    case 1:
      return m.f;
    case 2:
      return m.i;
    case 3:
      return str(m.s);
    case 4:
      return attribute_tensor(single(m.tensors), sources);
    case 5:
      return subgraph(single(m.graphs), parent);
    case 6:
      return m.floats;
    case 7:
      return m.ints;
    case 8:
      return std::vector<std::string>(m.strings.begin(), m.strings.end());
    case 9: {
      std::vector<Tensor> list;
      for (const auto& t : m.tensors) list.push_back(aligned_tensor(t, sources));
      return list;
    }
    case 10: {
      Attribute::Graphs list;
      for (const auto& g : m.graphs) list.push_back(subgraph(g, parent));
      return list;
    }
    case 11:
      return sparse(single(m.sparse_tensors));
    case 12: {
      std::vector<Attribute::Sparse> list;
      for (const auto& s : m.sparse_tensors) list.push_back(sparse(s));
      return list;
    }
    case 13:
      return to_type(single(m.types));
    case 14: {
      Attribute::Types list;
      for (const auto& t : m.types) list.push_back(to_type(t));
      return list;
    }
    default:
      fail(ErrorCode::kInvalidModel, "its type {} is unknown", type);
  }
}

}  // namespace

std::shared_ptr<Model> import_message(const onnx::ModelMessage& m, std::shared_ptr<const void> owner,
                                      const ImportOptions& options) {
  require(m.has_graph, ErrorCode::kInvalidModel, "this is not an ONNX model: it has no graph");
  auto model = std::make_shared<Model>();
  model->ir_version = m.ir_version;
  model->model_version = m.model_version;
  model->producer_name = m.producer_name;
  model->producer_version = m.producer_version;
  model->domain = m.domain;
  model->doc_string = m.doc_string;
  model->metadata = to_metadata(m.metadata);
  model->extra_fields = m.extra;
  model->ops = options.ops;
  for (const auto& o : m.opsets) model->opsets.push_back({str(o.domain), o.version, o.extra});
  Importer importer(std::move(owner), options);
  importer.graph(m.graph, *model->graph);
  for (const auto& f : m.functions) {
    with_context([&] { return fmt::format("in function '{}'", f.name); },
                 [&] { importer.function(f, model->functions.emplace_back()); });
  }
  if (importer.has_external_data())
    model->external_data_folder = options.external_data_dir.empty() ? "." : options.external_data_dir;
  forgive_heap();
  return model;
}

namespace {

/// Throws Error for bytes of a known other format.
void refuse_foreign(std::string_view bytes) {
  const std::optional<ForeignFile> known = foreign_file(bytes);
  if (!known) return;
  Error e(ErrorCode::kInvalidModel, "this is not an ONNX model, but " + known->what);
  throw e.set_remedy(known->remedy);
}

}  // namespace

std::shared_ptr<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                                   const std::string& name, const ImportOptions& options) {
  return with_context([&] { return file_place(name); },
                      [&] {
                        require(!bytes.empty(), ErrorCode::kInvalidModel, "the file is empty");
                        onnx::ModelMessage message;
                        try {
                          message = onnx::read_model(bytes);
                          require(message.has_graph, ErrorCode::kInvalidModel,
                                  "this is not an ONNX model: it has no graph");
                        } catch (const Error&) {
                          refuse_foreign(bytes);
                          throw;
                        }
                        return import_message(message, std::move(owner), options);
                      });
}

namespace {

std::shared_ptr<Model> parse_form(onnx::ModelForm form, std::string_view text, const std::string& name,
                                  const ImportOptions& options) {
  const auto message = std::make_shared<const std::string>(
      with_context([&] { return file_place(name); }, [&] { return onnx::read_form(form, text); }));
  return parse_model(*message, message, name, options);
}

}  // namespace

std::shared_ptr<Model> parse_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options) {
  return parse_form(onnx::ModelForm::kText, text, name, options);
}

bool is_text_model(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    return onnx::form_of_name(path) != onnx::ModelForm::kBinary;
  return onnx::form_of(path, MappedFile::open(path)->bytes()) != onnx::ModelForm::kBinary;
}

namespace {

/// Number of retries for a model that is being replaced.
constexpr int kAttempts = 8;

}  // namespace

std::shared_ptr<Model> load_model(const std::string& path, const ImportOptions& options) {
  const trace::Span span(trace::Kind::kModel, [&] { return "read " + path; });
  ImportOptions effective = options;
  if (effective.external_data_dir.empty())
    effective.external_data_dir = std::filesystem::path(path).parent_path().string();
  for (int attempt = 1;; ++attempt) {
    const auto file = MappedFile::open(path);
    // A model that was replaced during reading may have got the new data, or none.
    const auto is_replaced = [&] {
      if (file->is_still_there()) return false;
      require(attempt < kAttempts, ErrorCode::kIo, "{} is replaced faster than it can be read", path);
      return true;
    };
    try {
      const onnx::ModelForm form = onnx::form_of(path, file->bytes());
      auto model = form != onnx::ModelForm::kBinary ? parse_form(form, file->bytes(), path, effective)
                                                    : parse_model(file->bytes(), file, path, effective);
      if (!model->external_data_folder.empty() && is_replaced()) continue;
      model->path = path;
      return model;
    } catch (const Error&) {
      if (!is_replaced()) throw;
    }
  }
}

}  // namespace assay
