#include "graph/import.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/mapped_file.h"
#include "graph/import_message.h"
#include "graph/order.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"
#include "onnx/text/reader.h"

namespace assay {
namespace {

std::string str(std::string_view v) { return std::string(v); }

Metadata to_metadata(const onnx::StringPairs& pairs) {
  Metadata m;
  for (const auto& [key, value] : pairs) m.emplace_back(key, value);
  return m;
}

DType to_dtype(int64_t number) {
  require(number == 0 || is_known_dtype(number), ErrorCode::kInvalidModel, "the element type {} is unknown",
          number);
  return static_cast<DType>(number);
}

Type to_type(const onnx::TypeMessage& m) {
  Type t;
  t.denotation = m.denotation;
  switch (m.kind) {
    case 1:
      t.kind = Type::Kind::kTensor;
      break;
    case 8:
      t.kind = Type::Kind::kSparseTensor;
      break;
    case 4:
      t.kind = Type::Kind::kSequence;
      break;
    case 9:
      t.kind = Type::Kind::kOptional;
      break;
    case 5:
      t.kind = Type::Kind::kMap;
      break;
    case 7:
      t.kind = Type::Kind::kOpaque;
      break;
    default:
      return t;
  }
  t.dtype = to_dtype(m.elem_type);
  if (m.has_shape) {
    t.dims.emplace();
    for (const onnx::DimMessage& d : m.dims) {
      if (d.has_value)
        t.dims->push_back(d.value >= 0 ? Dim(d.value) : Dim());
      else
        t.dims->push_back(d.param.empty() ? Dim() : Dim::symbol(str(d.param)));
    }
  }
  if (!m.element.empty()) t.element = std::make_shared<Type>(to_type(m.element[0]));
  return t;
}

/// Builds graphs from messages. One per model: it knows who keeps the bytes alive.
class Importer {
 public:
  Importer(std::shared_ptr<const void> owner, onnx::ExternalData external)
      : owner_(std::move(owner)), external_(std::move(external)) {}

  void graph(const onnx::GraphMessage& m, Graph& g);
  void function(const onnx::FunctionMessage& m, Function& f);

 private:
  void initializers(const onnx::GraphMessage& m, Graph& g);
  void nodes(const std::vector<onnx::NodeMessage>& list, Graph& g);
  void node_outputs(const onnx::NodeMessage& m, Graph& g, Node& n);
  void node_inputs(const onnx::NodeMessage& m, Graph& g, Node& n);
  Attribute attribute(const onnx::AttributeMessage& m, Graph* parent);
  Attribute::Data attribute_data(const onnx::AttributeMessage& m, int64_t type, Graph* parent);
  Tensor tensor(const onnx::TensorMessage& m) { return onnx::decode_tensor(m, owner_, external_); }
  std::shared_ptr<Graph> subgraph(const onnx::GraphMessage& m, Graph* parent);
  static void value_info(const onnx::ValueInfoMessage& m, Value& v);

  std::shared_ptr<const void> owner_;
  onnx::ExternalData external_;
};

void Importer::value_info(const onnx::ValueInfoMessage& m, Value& v) {
  with_context([&] { return fmt::format("in the type of '{}'", m.name); },
               [&] {
                 if (!m.has_type) return;
                 Type declared = to_type(m.type);
                 // A constant's own type is what its data say.
                 if (!v.is_constant() || !v.tensor().defined()) v.type = std::move(declared);
               });
  v.doc_string = m.doc_string;
  v.metadata = to_metadata(m.metadata);
}

void Importer::initializers(const onnx::GraphMessage& m, Graph& g) {
  const auto constant = [&](std::string_view name) -> Value* {
    require(!name.empty(), ErrorCode::kInvalidModel, "an initializer of graph '{}' has no name", g.name);
    Value* v = g.find_value(name);
    if (v == nullptr) return g.add_value(str(name));
    // Before IR version 4 every initializer is also listed as an input.
    const auto listed = std::find(g.inputs.begin(), g.inputs.end(), v);
    require(listed != g.inputs.end(), ErrorCode::kInvalidModel, "two initializers are named '{}'", name);
    g.inputs.erase(listed);
    v->is_overridable = true;
    return v;
  };
  for (const onnx::TensorMessage& t : m.initializers) {
    with_context([&] { return fmt::format("in initializer '{}'", t.name); },
                 [&] {
                   Value* v = constant(t.name);
                   if (onnx::is_external(t) && external_.ignored()) {
                     v->type = Type::tensor(to_dtype(t.data_type), Shape(t.dims));
                     v->set_missing();
                   } else {
                     v->set_tensor(tensor(t));
                   }
                   v->doc_string = t.doc_string;
                   v->metadata = to_metadata(t.metadata);
                 });
  }
  for (const onnx::SparseTensorMessage& s : m.sparse_initializers) {
    with_context(
        [&] { return fmt::format("in sparse initializer '{}'", s.values.name); },
        [&] { constant(s.values.name)->set_tensor(onnx::decode_sparse_tensor(s, owner_, external_)); });
  }
}

void Importer::graph(const onnx::GraphMessage& m, Graph& g) {
  g.name = m.name;
  g.doc_string = m.doc_string;
  g.metadata = to_metadata(m.metadata);
  for (const onnx::ValueInfoMessage& v : m.inputs) {
    require(g.find_value(v.name) == nullptr, ErrorCode::kInvalidModel, "two graph inputs are named '{}'",
            v.name);
    value_info(v, *g.add_input(str(v.name), {}));
  }
  initializers(m, g);
  nodes(m.nodes, g);
  for (const onnx::ValueInfoMessage& v : m.value_infos)
    if (Value* value = g.find_value(v.name)) value_info(v, *value);
  for (const onnx::ValueInfoMessage& v : m.outputs) {
    // A subgraph may hand out a value of an enclosing graph.
    Value* value = g.lookup(v.name);
    require(value != nullptr, ErrorCode::kInvalidModel,
            "the graph output '{}' is not defined: no input, initializer or node output has that name",
            v.name);
    if (&value->graph() == &g) value_info(v, *value);
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
  for (const auto a : m.attribute_names) f.attribute_names.push_back(str(a));
  for (const auto& a : m.attribute_defaults) f.attribute_defaults.push_back(attribute(a, nullptr));
  for (const auto& o : m.opsets) f.opsets.push_back({str(o.domain), o.version});
  f.body->name = m.name;
  for (const auto name : m.inputs) f.body->add_input(str(name), {});
  nodes(m.nodes, *f.body);
  for (const onnx::ValueInfoMessage& v : m.value_infos)
    if (Value* value = f.body->find_value(v.name)) value_info(v, *value);
  for (const auto name : m.outputs) {
    Value* value = f.body->find_value(name);
    require(value != nullptr, ErrorCode::kInvalidModel, "the function output '{}' is not defined", name);
    f.body->outputs.push_back(value);
  }
}

void Importer::nodes(const std::vector<onnx::NodeMessage>& list, Graph& g) {
  std::vector<Node*> made;
  for (const onnx::NodeMessage& m : list) {
    Node* n = g.add_node(str(m.op_type), {}, {}, {}, str(m.name),
                         m.domain == "ai.onnx" ? std::string() : str(m.domain));
    n->overload = m.overload;
    n->doc_string = m.doc_string;
    n->metadata = to_metadata(m.metadata);
    made.push_back(n);
    node_outputs(m, g, *n);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    with_context([&] { return "at node " + made[i]->label(); },
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
  sort_topologically(g);
}

void Importer::node_outputs(const onnx::NodeMessage& m, Graph& g, Node& n) {
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    const std::string_view name = m.outputs[i];
    if (name.empty()) {
      n.set_output(i, nullptr);
      continue;
    }
    Value* v = g.find_value(name);
    if (v != nullptr) {
      const char* what = v->producer() != nullptr ? "another node's output"
                         : v->is_constant()       ? "an initializer"
                                                  : "a graph input";
      fail(ErrorCode::kInvalidModel, "the output '{}' of node {} is already the name of {}", name,
           n.name.empty() ? "(" + n.op_type + ")" : n.label(), what);
    }
    n.set_output(i, g.add_value(str(name)));
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

/// AttributeProto.AttributeType of an attribute; files older than IR version 2 leave it to be seen from the
/// fields.
int64_t attribute_type(const onnx::AttributeMessage& m) {
  if (m.type != 0) return m.type;
  constexpr std::pair<int, int> kFieldTypes[] = {{2, 1},   {3, 2},   {4, 3},   {5, 4},  {6, 5},
                                                 {7, 6},   {8, 7},   {9, 8},   {10, 9}, {11, 10},
                                                 {14, 13}, {15, 14}, {22, 11}, {23, 12}};
  for (const auto& [field, type] : kFieldTypes)
    if (m.fields >> field & 1U) return type;
  return 0;
}

Attribute Importer::attribute(const onnx::AttributeMessage& m, Graph* parent) {
  Attribute a;
  a.name = m.name;
  a.doc_string = m.doc_string;
  a.ref_attr_name = m.ref_attr_name;
  with_context([&] { return fmt::format("in attribute '{}'", m.name); },
               [&] {
                 if (a.ref_attr_name.empty()) a.data = attribute_data(m, attribute_type(m), parent);
               });
  return a;
}

Attribute::Data Importer::attribute_data(const onnx::AttributeMessage& m, int64_t type, Graph* parent) {
  const auto single = [&](const auto& list) -> const auto& {
    require(list.size() == 1, ErrorCode::kInvalidModel, "it holds {} values where its type says one",
            list.size());
    return list[0];
  };
  const auto sparse = [&](const onnx::SparseTensorMessage& s) {
    return Attribute::Sparse{tensor(s.values), tensor(s.indices), s.dims};
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
      return tensor(single(m.tensors));
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
      for (const auto& t : m.tensors) list.push_back(tensor(t));
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
  for (const auto& o : m.opsets) model->opsets.push_back({str(o.domain), o.version});
  Importer importer(std::move(owner),
                    onnx::ExternalData(options.external_data_dir, options.ignore_external_data));
  importer.graph(m.graph, *model->graph);
  for (const auto& f : m.functions) {
    with_context([&] { return fmt::format("in function '{}'", f.name); },
                 [&] { importer.function(f, model->functions.emplace_back()); });
  }
  return model;
}

std::shared_ptr<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                                   const std::string& name, const ImportOptions& options) {
  return with_context([&] { return "in " + name; },
                      [&] {
                        require(!bytes.empty(), ErrorCode::kInvalidModel, "the file is empty");
                        return import_message(onnx::read_model(bytes), std::move(owner), options);
                      });
}

std::shared_ptr<Model> parse_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options) {
  const auto message = std::make_shared<const std::string>(
      with_context([&] { return "in " + name; }, [&] { return onnx::read_text(text); }));
  return parse_model(*message, message, name, options);
}

bool is_text_model(const std::string& path) {
  std::error_code ec;
  if (onnx::has_text_suffix(path) || !std::filesystem::is_regular_file(path, ec))
    return onnx::has_text_suffix(path);
  return onnx::is_text_model(path, MappedFile::open(path)->bytes());
}

std::shared_ptr<Model> load_model(const std::string& path, const ImportOptions& options) {
  const auto file = MappedFile::open(path);
  ImportOptions effective = options;
  if (effective.external_data_dir.empty())
    effective.external_data_dir = std::filesystem::path(path).parent_path().string();
  auto model = onnx::is_text_model(path, file->bytes()) ? parse_text(file->bytes(), path, effective)
                                                        : parse_model(file->bytes(), file, path, effective);
  model->path = path;
  return model;
}

}  // namespace assay
