#include "extension/host.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "assay/edit.h"
#include "assay/io.h"
#include "assay/version.h"
#include "base/diagnostics.h"
#include "graph/clone.h"
#include "graph/export.h"
#include "graph/import.h"
#include "graph/read.h"
#include "ops/infer.h"
#include "ops/tensor/random_source.h"

namespace assay::extension {
namespace {

/// State of a thread.
struct Kept {
  int depth = 0;
  std::deque<Tensor> tensors;
  std::deque<std::string> texts;
  std::deque<std::vector<AssayText>> lists;
  std::deque<std::vector<int64_t>> extents;
  std::string error;
  const OpContext* defaults = nullptr;
};
thread_local Kept kept;

Node& node(const AssayNode* n) { return *reinterpret_cast<Node*>(const_cast<AssayNode*>(n)); }
Value& value(const AssayValue* v) { return *reinterpret_cast<Value*>(const_cast<AssayValue*>(v)); }
Graph& graph(const AssayGraph* g) { return *reinterpret_cast<Graph*>(const_cast<AssayGraph*>(g)); }

/// Runs the body of a host function; an exception becomes the thread's error, and `failed` the result.
template <typename Answer, typename Body>
Answer guarded(Answer failed, Body&& body) noexcept {
  try {
    kept.error.clear();
    return body();
  } catch (const std::exception& e) {
    set_error(e.what());
  } catch (...) {
    set_error("an unknown failure");
  }
  return failed;
}
/// For functions that return 0.
template <typename Body>
int32_t done(Body&& body) noexcept {
  return guarded<int32_t>(-1, [&] {
    body();
    return 0;
  });
}

std::string text_of(const char* text, const char* what) {
  require(text != nullptr, ErrorCode::kInvalidArgument, "{} is null", what);
  return text;
}
std::string_view domain_of(const char* domain) { return domain == nullptr ? "" : canonical_domain(domain); }

std::vector<Value*> values_of(AssayValue* const* list, uint64_t count) {
  std::vector<Value*> values;
  for (uint64_t i = 0; i < count; ++i) values.push_back(reinterpret_cast<Value*>(list[i]));
  return values;
}

Shape shape_of(int32_t rank, const int64_t* dims) {
  const Type type = make_type(static_cast<int32_t>(DType::kFloat32), rank, dims);
  std::optional<Shape> shape = type.dims ? known_shape(*type.dims) : std::nullopt;
  require(shape.has_value(), ErrorCode::kInvalidArgument, "the extents of a tensor must be known");
  return *std::move(shape);
}

Tensor make_output(int32_t dtype, int32_t rank, const int64_t* dims) {
  require(is_known_dtype(dtype) && !is_container(static_cast<DType>(dtype)), ErrorCode::kInvalidArgument,
          "{} is no element type", dtype);
  require(static_cast<DType>(dtype) != DType::kString, ErrorCode::kInvalidArgument,
          "strings are given by give_strings");
  return Tensor::allocate(static_cast<DType>(dtype), shape_of(rank, dims));
}

Tensor make_strings(int32_t rank, const int64_t* dims, const AssayText* elements) {
  Tensor t = Tensor::allocate(DType::kString, shape_of(rank, dims));
  auto* out = t.mutable_data<std::string>();
  for (int64_t i = 0; i < t.numel(); ++i) out[i] = std::string(elements[i].data, elements[i].length);
  return t;
}

void put(AssayOutputs* outputs, uint64_t index, const char* name, Tensor t) {
  if (name != nullptr) {
    outputs->named.push_back({name, std::move(t)});
    return;
  }
  require(index < outputs->numbered.size(), ErrorCode::kInvalidArgument,
          "there is no output {}: there are {}", index, outputs->numbered.size());
  outputs->numbered[index] = std::move(t);
}

void* give(AssayOutputs* outputs, uint64_t index, const char* name, int32_t dtype, int32_t rank,
           const int64_t* dims) {
  static std::max_align_t nothing;  // the address of an empty tensor
  return guarded<void*>(nullptr, [&] {
    Tensor t = make_output(dtype, rank, dims);
    void* memory = t.numel() != 0 ? t.mutable_data() : &nothing;
    put(outputs, index, name, std::move(t));
    return memory;
  });
}

const Args& args_of(const AssayArgs* args) {
  require(args != nullptr && args->args != nullptr, ErrorCode::kInvalidArgument,
          "no command line is being carried out");
  return *args->args;
}
/// 1 and the last word, or 0.
int32_t last_word(const AssayArgs* args, const char* name,
                  const std::function<void(const std::string&)>& take) {
  return guarded<int32_t>(-1, [&] {
    const std::vector<std::string> words = args_of(args).words(text_of(name, "the option"));
    if (words.empty()) return 0;
    take(words.back());
    return 1;
  });
}

/// The attribute, or the schema's default where the node is being inferred or evaluated; null when there is
/// none.
const Attribute::Data* attribute(const AssayNode* n, const char* name) {
  const std::string wanted = text_of(name, "the attribute's name");
  if (const Attribute* a = node(n).find_attribute(wanted)) return &a->data;
  if (kept.defaults == nullptr || &kept.defaults->node() != &node(n)) return nullptr;
  const AttributeDef* def = schema_of(kept.defaults->version()).attribute(wanted);
  return def != nullptr && def->fallback ? &*def->fallback : nullptr;
}
template <typename T, typename Take>
int32_t read_attribute(const AssayNode* n, const char* name, const char* kind, Take take) {
  return guarded<int32_t>(-1, [&] {
    const Attribute::Data* data = attribute(n, name);
    if (data == nullptr) return 0;
    const T* found = std::get_if<T>(data);
    require(found != nullptr, ErrorCode::kInvalidModel, "the attribute '{}' of {} is no {}", name,
            node(n).label(), kind);
    take(*found);
    return 1;
  });
}
template <typename To, typename From>
void copy_list(const std::vector<From>& list, To* values, uint64_t* count) {
  if (values != nullptr) std::copy_n(list.begin(), std::min<size_t>(list.size(), *count), values);
  *count = list.size();
}
int32_t set_attribute(AssayNode* n, const char* name, Attribute::Data data) {
  return done([&] { node(n).set_attribute(text_of(name, "the attribute's name"), std::move(data)); });
}

AssayModel* own(std::shared_ptr<Model> model) { return new AssayModel{std::move(model)}; }

void log_text(int32_t severity, const char* text) {
  const std::string line = text == nullptr ? "" : text;
  if (severity >= ASSAY_ERROR)
    diag::error("{}", line);
  else if (severity >= ASSAY_WARNING)
    diag::warning("{}", line);
  else if (severity >= ASSAY_INFO)
    diag::info("{}", line);
  else if (severity >= ASSAY_VERBOSE)
    diag::verbose("{}", line);
  else
    diag::extra_verbose("{}", line);
}

void fill_general(AssayHost& h) {
  h.set_error = [](const char* text) { set_error(text == nullptr ? "" : text); };
  h.error = []() -> const char* { return kept.error.c_str(); };
  h.log = [](int32_t severity, const char* text) { guarded(0, [&] { return log_text(severity, text), 0; }); };
  h.give = [](AssayOutputs* o, uint64_t i, int32_t t, int32_t r, const int64_t* d) {
    return give(o, i, nullptr, t, r, d);
  };
  h.give_named = [](AssayOutputs* o, const char* name, int32_t t, int32_t r, const int64_t* d) {
    return give(o, 0, name == nullptr ? "" : name, t, r, d);
  };
  h.give_strings = [](AssayOutputs* o, uint64_t i, const char* name, int32_t rank, const int64_t* dims,
                      const AssayText* e) {
    return done([&] { put(o, i, name, make_strings(rank, dims, e)); });
  };
  h.add_tensor_info = [](AssayTensorInfos* infos, int32_t is_input, const char* name, int32_t dtype,
                         int32_t rank, const int64_t* dims) {
    return done([&] {
      (is_input != 0 ? infos->inputs : infos->outputs)
          .push_back({text_of(name, "a tensor's name"), make_type(dtype, rank, dims)});
    });
  };
  h.new_bytes = [] { return guarded<AssayBytes*>(nullptr, [] { return new AssayBytes; }); };
  h.bytes_data = [](const AssayBytes* bytes, uint64_t* size) -> const void* {
    *size = bytes->data.size();
    return bytes->data.data();
  };
  h.release_bytes = [](AssayBytes* bytes) { delete bytes; };
  h.append = [](AssayBytes* bytes, const void* data, uint64_t size) {
    return done([&] { bytes->data.append(static_cast<const char*>(data), size); });
  };
}

void fill_options(AssayHost& h) {
  h.has_option = [](const AssayArgs* args, const char* name) {
    return guarded<int32_t>(-1, [&] { return args_of(args).has(text_of(name, "the option")) ? 1 : 0; });
  };
  h.option_text = [](const AssayArgs* args, const char* name, AssayText* out) {
    return last_word(args, name, [&](const std::string& word) { *out = CallScope::keep(word); });
  };
  h.option_integer = [](const AssayArgs* args, const char* name, int64_t* out) {
    return last_word(args, name, [&](const std::string& word) { *out = std::stoll(word); });
  };
  h.option_number = [](const AssayArgs* args, const char* name, double* out) {
    return last_word(args, name, [&](const std::string& word) { *out = std::stod(word); });
  };
  h.option_word = [](const AssayArgs* args, const char* name, uint64_t index, AssayText* out) {
    return guarded<int32_t>(-1, [&] {
      const std::vector<std::string> words = args_of(args).words(text_of(name, "the option"));
      if (index >= words.size()) return 0;
      *out = CallScope::keep(words[index]);
      return 1;
    });
  };
}

void fill_models(AssayHost& h) {
  h.load_model = [](const char* path) {
    return guarded<AssayModel*>(nullptr, [&] { return own(load_model(text_of(path, "the path"))); });
  };
  h.parse_model = [](const void* data, uint64_t size) {
    return guarded<AssayModel*>(nullptr, [&] {
      const auto bytes = std::make_shared<const std::string>(static_cast<const char*>(data), size);
      return own(parse_model(*bytes, bytes, "a model in memory"));
    });
  };
  h.copy_model = [](const AssayModel* m) {
    return guarded<AssayModel*>(nullptr, [&] { return own(clone_model(*m->model)); });
  };
  h.release_model = [](AssayModel* m) { delete m; };
  h.save_model = [](const AssayModel* m, const char* path) {
    return done([&] { save_model(*m->model, text_of(path, "the path")); });
  };
  h.serialize_model = [](const AssayModel* m, AssayBytes* out) {
    return done([&] {
      std::string bytes = serialize_model(*m->model);
      out->data = out->data.empty() ? std::move(bytes) : out->data + bytes;
    });
  };
  h.opset = [](const AssayModel* m, const char* domain) { return m->model->opset(domain_of(domain)); };
  h.set_opset = [](AssayModel* m, const char* domain, int64_t version) {
    return done([&] {
      require(version > 0, ErrorCode::kInvalidArgument, "{} is no opset", version);
      for (OpsetImport& o : m->model->opsets)
        if (canonical_domain(o.domain) == domain_of(domain)) {
          o.version = version;
          return;
        }
      m->model->opsets.push_back({.domain = std::string(domain_of(domain)), .version = version});
    });
  };
  h.main_graph = [](const AssayModel* m) { return handle(m->model->graph.get()); };
  h.infer_shapes = [](AssayModel* m) { return done([&] { infer_shapes(*m->model); }); };
  h.clean_up = [](AssayModel* m) {
    return done([&] {
      cleanup(*m->model);
      toposort(*m->model);
      m->model->graph->remove_unused_values();
    });
  };
}

void fill_graphs(AssayHost& h) {
  h.graph_name = [](const AssayGraph* g) { return graph(g).name.c_str(); };
  h.set_graph_name = [](AssayGraph* g, const char* name) {
    return done([&] { graph(g).name = text_of(name, "the name"); });
  };
  h.node_count = [](const AssayGraph* g) -> uint64_t { return graph(g).nodes().size(); };
  h.node_at = [](const AssayGraph* g, uint64_t i) {
    return guarded<AssayNode*>(nullptr, [&] {
      require(i < graph(g).nodes().size(), ErrorCode::kInvalidArgument, "there is no node {}", i);
      return handle(graph(g).nodes()[i].get());
    });
  };
  h.graph_input_count = [](const AssayGraph* g) -> uint64_t { return graph(g).inputs.size(); };
  h.graph_input = [](const AssayGraph* g, uint64_t i) {
    return guarded<AssayValue*>(nullptr, [&] { return handle(graph(g).inputs.at(i)); });
  };
  h.graph_output_count = [](const AssayGraph* g) -> uint64_t { return graph(g).outputs.size(); };
  h.graph_output = [](const AssayGraph* g, uint64_t i) {
    return guarded<AssayValue*>(nullptr, [&] { return handle(graph(g).outputs.at(i)); });
  };
  h.set_graph_outputs = [](AssayGraph* g, AssayValue* const* list, uint64_t count) {
    return done([&] { graph(g).outputs = values_of(list, count); });
  };
  h.find_value = [](const AssayGraph* g, const char* name) {
    return guarded<AssayValue*>(nullptr,
                                [&] { return handle(graph(g).find_value(text_of(name, "the name"))); });
  };
  h.add_value = [](AssayGraph* g, const char* name) {
    return guarded<AssayValue*>(
        nullptr, [&] { return handle(graph(g).add_value(graph(g).unique_name(text_of(name, "the name")))); });
  };
  h.add_graph_input = [](AssayGraph* g, const char* name, int32_t dtype, int32_t rank, const int64_t* dims) {
    return guarded<AssayValue*>(nullptr, [&] {
      return handle(graph(g).add_input(text_of(name, "the name"), make_type(dtype, rank, dims)));
    });
  };
  h.add_constant = [](AssayGraph* g, const char* name, const AssayTensor* t) {
    return guarded<AssayValue*>(nullptr, [&] {
      return handle(graph(g).add_constant(graph(g).unique_name(text_of(name, "the name")), copy_tensor(*t)));
    });
  };
  h.add_node = [](AssayGraph* g, const char* op_type, const char* domain, const char* name,
                  AssayValue* const* inputs, uint64_t input_count, AssayValue* const* outputs,
                  uint64_t output_count) {
    return guarded<AssayNode*>(nullptr, [&] {
      return handle(graph(g).add_node(text_of(op_type, "the operator"), values_of(inputs, input_count),
                                      values_of(outputs, output_count), {}, name == nullptr ? "" : name,
                                      std::string(domain_of(domain))));
    });
  };
  h.remove_node = [](AssayNode* n) { return done([&] { node(n).graph().remove_node(&node(n)); }); };
  h.replace_uses = [](AssayValue* from, AssayValue* to) {
    return done([&] { value(from).graph().replace_uses(&value(from), &value(to)); });
  };
}

void fill_nodes(AssayHost& h) {
  h.node_name = [](const AssayNode* n) { return node(n).name.c_str(); };
  h.node_op_type = [](const AssayNode* n) { return node(n).op_type.c_str(); };
  h.node_domain = [](const AssayNode* n) { return node(n).domain.c_str(); };
  h.set_node_name = [](AssayNode* n, const char* name) {
    return done([&] { node(n).name = text_of(name, "the name"); });
  };
  h.set_node_op_type = [](AssayNode* n, const char* op_type, const char* domain) {
    return done([&] {
      node(n).op_type = text_of(op_type, "the operator");
      node(n).domain = domain_of(domain);
    });
  };
  h.node_input_count = [](const AssayNode* n) -> uint64_t { return node(n).inputs().size(); };
  h.node_input = [](const AssayNode* n, uint64_t i) { return handle(node(n).input(i)); };
  h.set_node_inputs = [](AssayNode* n, AssayValue* const* list, uint64_t count) {
    return done([&] { node(n).set_inputs(values_of(list, count)); });
  };
  h.node_output_count = [](const AssayNode* n) -> uint64_t { return node(n).outputs().size(); };
  h.node_output = [](const AssayNode* n, uint64_t i) { return handle(node(n).output(i)); };
  h.set_node_outputs = [](AssayNode* n, AssayValue* const* list, uint64_t count) {
    return done([&] { node(n).set_outputs(values_of(list, count)); });
  };
}

void fill_attributes(AssayHost& h) {
  h.attribute_count = [](const AssayNode* n) -> uint64_t { return node(n).attributes.size(); };
  h.attribute_name = [](const AssayNode* n, uint64_t i) {
    return guarded<const char*>(nullptr, [&] { return node(n).attributes.at(i).name.c_str(); });
  };
  h.attribute_integer = [](const AssayNode* n, const char* name, int64_t* out) {
    return read_attribute<int64_t>(n, name, "integer", [&](int64_t v) { *out = v; });
  };
  h.attribute_float = [](const AssayNode* n, const char* name, double* out) {
    return read_attribute<float>(n, name, "number", [&](float v) { *out = v; });
  };
  h.attribute_text = [](const AssayNode* n, const char* name, AssayText* out) {
    return read_attribute<std::string>(n, name, "string",
                                       [&](const std::string& v) { *out = CallScope::keep(v); });
  };
  h.attribute_integers = [](const AssayNode* n, const char* name, int64_t* values, uint64_t* count) {
    return read_attribute<std::vector<int64_t>>(n, name, "list of integers",
                                                [&](const auto& v) { copy_list(v, values, count); });
  };
  h.attribute_floats = [](const AssayNode* n, const char* name, double* values, uint64_t* count) {
    return read_attribute<std::vector<float>>(n, name, "list of numbers",
                                              [&](const auto& v) { copy_list(v, values, count); });
  };
  h.attribute_tensor = [](const AssayNode* n, const char* name, AssayTensor* out) {
    return read_attribute<UnalignedTensor>(
        n, name, "tensor", [&](const UnalignedTensor& v) { *out = CallScope::view(v.aligned()); });
  };
  h.attribute_graph = [](const AssayNode* n, const char* name) {
    AssayGraph* found = nullptr;
    read_attribute<std::shared_ptr<Graph>>(n, name, "graph",
                                           [&](const std::shared_ptr<Graph>& v) { found = handle(v.get()); });
    return found;
  };
  h.set_attribute_integer = [](AssayNode* n, const char* name, int64_t v) {
    return set_attribute(n, name, v);
  };
  h.set_attribute_float = [](AssayNode* n, const char* name, double v) {
    return set_attribute(n, name, static_cast<float>(v));
  };
  h.set_attribute_text = [](AssayNode* n, const char* name, AssayText v) {
    return set_attribute(n, name, std::string(v.data, v.length));
  };
  h.set_attribute_integers = [](AssayNode* n, const char* name, const int64_t* v, uint64_t count) {
    return set_attribute(n, name, std::vector<int64_t>(v, v + count));
  };
  h.set_attribute_floats = [](AssayNode* n, const char* name, const double* v, uint64_t count) {
    return set_attribute(n, name, std::vector<float>(v, v + count));
  };
  h.set_attribute_tensor = [](AssayNode* n, const char* name, const AssayTensor* t) {
    return done([&] {
      node(n).set_attribute(text_of(name, "the attribute's name"), UnalignedTensor(copy_tensor(*t)));
    });
  };
  h.remove_attribute = [](AssayNode* n, const char* name) {
    return done([&] { node(n).remove_attribute(text_of(name, "the attribute's name")); });
  };
}

void fill_values(AssayHost& h) {
  h.value_name = [](const AssayValue* v) { return value(v).name().c_str(); };
  h.set_value_name = [](AssayValue* v, const char* name) {
    return done([&] { value(v).rename(text_of(name, "the name")); });
  };
  h.value_dtype = [](const AssayValue* v) {
    return value(v).type.is_tensor() ? static_cast<int32_t>(value(v).type.dtype) : 0;
  };
  h.value_rank = [](const AssayValue* v) {
    return value(v).type.has_shape() ? static_cast<int32_t>(value(v).type.dims->size()) : ASSAY_UNKNOWN;
  };
  h.value_dim = [](const AssayValue* v, uint64_t axis) -> int64_t {
    const Type& type = value(v).type;
    return type.has_shape() && axis < type.dims->size() ? (*type.dims)[axis].value() : ASSAY_UNKNOWN;
  };
  h.set_value_type = [](AssayValue* v, int32_t dtype, int32_t rank, const int64_t* dims) {
    return done([&] { value(v).type = make_type(dtype, rank, dims); });
  };
  h.value_is_constant = [](const AssayValue* v) { return value(v).is_constant() ? 1 : 0; };
  h.value_tensor = [](const AssayValue* v, AssayTensor* out) {
    return guarded<int32_t>(-1, [&] {
      const UnalignedTensor* t = constant_of(&value(v));
      if (t == nullptr) return 0;
      *out = CallScope::view(t->aligned());
      return 1;
    });
  };
  h.value_producer = [](const AssayValue* v) { return handle(value(v).producer()); };
  h.value_consumer_count = [](const AssayValue* v) -> uint64_t { return value(v).consumers().size(); };
  h.value_consumer = [](const AssayValue* v, uint64_t i) {
    return guarded<AssayNode*>(nullptr, [&] { return handle(value(v).consumers().at(i)); });
  };
}

void fill_operators(AssayHost& h) {
  h.infer_node = [](const AssayInfer* c) -> const AssayNode* { return handle(&c->context.node()); };
  h.infer_input = [](const AssayInfer* c, uint64_t i, int32_t* dtype, int32_t* rank, const int64_t** dims) {
    return guarded<int32_t>(-1, [&] {
      if (!c->context.has_input(i) || !c->context.input_type(i).is_tensor()) return 0;
      *dtype = static_cast<int32_t>(c->context.input_dtype(i));
      *rank = c->context.input_rank(i);
      *dims = nullptr;
      if (const Dims* known = c->context.input_dims(i)) {
        std::vector<int64_t>& extents = kept.extents.emplace_back();
        for (const Dim& d : *known) extents.push_back(d.value());
        *dims = extents.data();
      }
      return 1;
    });
  };
  h.infer_input_value = [](const AssayInfer* c, uint64_t i, AssayTensor* out) {
    return guarded<int32_t>(-1, [&] {
      const Tensor* t = c->context.has_input(i) ? c->context.input_value(i) : nullptr;
      if (t == nullptr) return 0;
      *out = CallScope::view(*t);
      return 1;
    });
  };
  h.infer_set_output = [](AssayInfer* c, uint64_t i, int32_t dtype, int32_t rank, const int64_t* dims) {
    return done([&] {
      require(i < c->context.output_count(), ErrorCode::kInvalidArgument,
              "there is no output {}: there are {}", i, c->context.output_count());
      c->context.set_output_type(i, make_type(dtype, rank, dims));
    });
  };
  h.eval_node = [](const AssayEval* c) -> const AssayNode* { return handle(&c->context.node()); };
  h.eval_input_count = [](const AssayEval* c) -> uint64_t { return c->context.inputs().size(); };
  h.eval_input = [](const AssayEval* c, uint64_t i, AssayTensor* out) {
    return guarded<int32_t>(-1, [&] {
      *out = {};
      if (i >= c->context.inputs().size() || !c->context.inputs()[i].defined()) return 0;
      *out = CallScope::view(c->context.inputs()[i]);
      return 1;
    });
  };
  h.eval_output_count = [](const AssayEval* c) -> uint64_t { return c->context.output_count(); };
  h.eval_output_dtype = [](const AssayEval* c, uint64_t i) {
    return i < c->context.output_count() ? static_cast<int32_t>(c->context.declared_dtype(i)) : 0;
  };
  h.eval_outputs = [](AssayEval* c) { return &c->outputs; };
  h.eval_seed = [](const AssayEval* c) { return uint64_t{seed_by_name(c->context)}; };
  h.add_way = [](AssayWays* ways, const char* name, const int32_t* blocks, uint64_t count, double seconds) {
    return done([&] {
      for (uint64_t i = 0; i < count; ++i)
        require(blocks[i] == 0 || blocks[i] == 8 || blocks[i] == 16, ErrorCode::kInvalidArgument,
                "{} is no number of channels that lie together: 0 (row-major), 8 or 16", blocks[i]);
      ways->ways.push_back(
          {name == nullptr ? "" : name, std::vector<int32_t>(blocks, blocks + count), seconds});
    });
  };
}

}  // namespace

// The size known to modules of version 1, on 64-bit machines.
static_assert(sizeof(void*) != 8 || offsetof(AssayHost, new_bytes) == 744);

const AssayHost& host() {
  static const AssayHost table = [] {
    AssayHost h{};
    h.size = sizeof h;
    h.abi = ASSAY_EXTENSION_ABI;
    h.version = kVersion;
    fill_general(h);
    fill_options(h);
    fill_models(h);
    fill_graphs(h);
    fill_nodes(h);
    fill_attributes(h);
    fill_values(h);
    fill_operators(h);
    return h;
  }();
  return table;
}

CallScope::CallScope() { ++kept.depth; }

CallScope::~CallScope() {
  if (--kept.depth > 0) return;
  kept.tensors.clear();
  kept.texts.clear();
  kept.lists.clear();
  kept.extents.clear();
}

AssayText CallScope::keep(std::string text) {
  const std::string& own = kept.texts.emplace_back(std::move(text));
  return {own.data(), own.size()};
}

AssayTensor describe(DType dtype, const Shape& shape) {
  const std::vector<int64_t>& own = kept.extents.emplace_back(shape.dims());
  return {.dtype = static_cast<int32_t>(dtype),
          .rank = shape.rank(),
          .dims = own.data(),
          .data = nullptr,
          .bytes = 0};
}

AssayTensor CallScope::view(const Tensor& t) {
  require(!t.is_container(), ErrorCode::kUnsupported, "this version of the interface has no {}",
          dtype_name(t.dtype()));
  AssayTensor out = describe(t.dtype(), t.shape());
  if (t.dtype() == DType::kString) {
    const Tensor& own = kept.tensors.emplace_back(t);
    std::vector<AssayText>& list = kept.lists.emplace_back();
    for (const std::string& s : own.span<std::string>()) list.push_back({s.data(), s.size()});
    out.data = list.data();
    out.bytes = list.size() * sizeof(AssayText);
  } else {
    out.data = kept.tensors.emplace_back(t).data();
    out.bytes = t.nbytes();
  }
  static constexpr int64_t kEmpty = 0;
  if (out.data == nullptr) out.data = &kEmpty;  // null would mean an omitted tensor
  return out;
}

Tensor copy_tensor(const AssayTensor& t) {
  if (t.dtype == static_cast<int32_t>(DType::kString)) {
    require(t.data != nullptr, ErrorCode::kInvalidArgument, "a tensor has no data");
    return make_strings(t.rank, t.dims, static_cast<const AssayText*>(t.data));
  }
  Tensor copy = make_output(t.dtype, t.rank, t.dims);
  require(t.bytes == copy.nbytes(), ErrorCode::kInvalidArgument, "a tensor {}{} has {} bytes, not {}",
          dtype_name(copy.dtype()), copy.shape().str(), copy.nbytes(), t.bytes);
  if (copy.nbytes() != 0) std::memcpy(copy.mutable_data(), t.data, copy.nbytes());
  return copy;
}

Type make_type(int32_t dtype, int32_t rank, const int64_t* dims) {
  constexpr int32_t kMaxAxes = 64;
  require(dtype == 0 || (is_known_dtype(dtype) && !is_container(static_cast<DType>(dtype))),
          ErrorCode::kInvalidArgument, "{} is no element type", dtype);
  Type type = Type::tensor(static_cast<DType>(dtype));
  if (rank == ASSAY_UNKNOWN) return type;
  require(rank >= 0 && rank <= kMaxAxes && (rank == 0 || dims != nullptr), ErrorCode::kInvalidArgument,
          "{} is no rank", rank);
  type.dims.emplace();
  for (int32_t i = 0; i < rank; ++i) {
    require(dims[i] >= ASSAY_UNKNOWN, ErrorCode::kInvalidArgument, "{} is no extent", dims[i]);
    type.dims->push_back(dims[i] == ASSAY_UNKNOWN ? Dim() : Dim(dims[i]));
  }
  return type;
}

Defaults::Defaults(const OpContext& context) : outer_(std::exchange(kept.defaults, &context)) {}
Defaults::~Defaults() { kept.defaults = outer_; }

std::string take_error() { return std::exchange(kept.error, {}); }
void set_error(std::string text) {
  try {
    kept.error = std::move(text);
  } catch (...) {
    kept.error.clear();
  }
}

}  // namespace assay::extension
