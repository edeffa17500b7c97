#include "ops/infer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/at_node.h"
#include "graph/clone.h"
#include "graph/function_index.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/check.h"
#include "ops/extent_form.h"
#include "ops/infer_util.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/op_set.h"
#include "ops/resolved_attributes.h"

namespace assay {
namespace {

/// Longest integer tensor whose elements are followed through the graph.
constexpr int64_t kMaxExtents = 64;
/// How deep calls of local functions may nest, and how many a model may have: functions that call each other
/// twice double them with every level.
constexpr int kMaxCallDepth = 64;
constexpr int kMaxCalls = 100000;

bool is_extent_type(DType t) { return t == DType::kInt64 || t == DType::kInt32; }

/// Facts known of values beyond their types.
struct Knowledge {
  std::unordered_map<const Value*, Dims> extents;
  std::unordered_map<const Value*, UnalignedTensor> tensors;
  /// Copies of misaligned ones that a node requested.
  std::unordered_map<const Value*, Tensor> copies;
  /// Extents of tensors that are differences, as text.
  std::unordered_set<std::string> differences;
};

class Inference {
 public:
  Inference(const Model& model, const InferOptions& options)
      : ops_(ops_of(model)), functions_(model), options_(options) {}
  void graph(Graph& g, const std::vector<OpsetImport>& opsets);
  /// With `problem`, an error is stored there instead of thrown.
  std::vector<Type> subgraph(Graph& g, const std::vector<Type>& inputs,
                             const std::vector<OpsetImport>& opsets, std::optional<Error>* problem = nullptr);
  /// The same on a copy, without reports; nothing within such a copy, so that the time does not
  /// double with each level of nesting.
  std::optional<std::vector<Type>> trial(const Graph& g, const std::vector<Type>& inputs,
                                         const std::vector<OpsetImport>& opsets);

 private:
  friend class NodeInference;
  void node(Node& n, const std::vector<OpsetImport>& opsets);
  bool call(Node& n, const std::vector<OpsetImport>& opsets);
  void fold(const Node& n, const OpDef& op, const OpVersion& v);
  std::optional<std::vector<Tensor>> inputs_to_fold(const Node& n);
  void problem(const Node& n, const Error& e);
  void note_extents(const Value& v);
  const UnalignedTensor* value_of(const Value* v);
  /// The same for callers that read the elements.
  const Tensor* elements_of(const Value* v);
  const Dims* extents_of(const Value* v);

  const OpSet& ops_;
  const FunctionIndex functions_;
  /// The calls whose function bodies are being looked at, and their functions, from the outside in.
  using Callers = std::vector<FunctionCall>;
  struct Caller {
    Callers& callers;
    Caller(Callers& list, const Node& call, const Function& f) : callers(list) {
      callers.push_back({&call, &f});
    }
    ~Caller() { callers.pop_back(); }
  };
  Callers callers_;
  const InferOptions& options_;
  Knowledge known_;
  int call_depth_ = 0, calls_ = 0;
  /// Copies that were tried. They stay, because facts on values are stored by their addresses.
  std::vector<std::shared_ptr<Graph>> trials_;
  bool is_trial_ = false;
};

/// True when an extent has two values: the rest of a declaration then describes another shape, too.
bool contradicts(const Dims& a, const Dims& b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Dim& x, const Dim& y) {
    return !x.is_known() || !y.is_known() || x.value() == y.value();
  });
}

/// Declared types fill in what inference left unknown.
Type merge(Type inferred, const Type& declared) {
  if (inferred.kind == Type::Kind::kUnknown) return declared;
  if (inferred.kind != declared.kind) return inferred;
  if (declared.element)
    inferred.element = std::make_shared<const Type>(
        inferred.element ? merge(*inferred.element, *declared.element) : *declared.element);
  if (!inferred.is_tensor()) return inferred;
  if (inferred.dtype == DType::kUndefined) inferred.dtype = declared.dtype;
  if (!inferred.dims) {
    inferred.dims = declared.dims;
  } else if (declared.dims && !contradicts(*inferred.dims, *declared.dims)) {
    for (size_t i = 0; i < inferred.dims->size(); ++i) {
      Dim& d = (*inferred.dims)[i];
      const Dim& other = (*declared.dims)[i];
      if (!d.is_known() && (other.is_known() || !d.is_symbol())) d = other;
    }
  }
  return inferred;
}

class NodeInference final : public InferContext {
 public:
  NodeInference(const Node& n, const OpDef& op, const OpVersion& v, Inference& all,
                const std::vector<OpsetImport>& opsets)
      : InferContext(n, op, v),
        all_(all),
        opsets_(opsets),
        types_(n.outputs().size()),
        extents_(n.outputs().size()) {}

  const Type& input_type(size_t i) const override {
    static const Type kUnknown;
    return node().input(i) ? node().input(i)->type : kUnknown;
  }
  const Tensor* input_value(size_t i) const override {
    if (node().input(i) == nullptr) return nullptr;
    const Tensor* value = all_.elements_of(node().input(i));
    if (value == nullptr && all_.options_.on_unknown_value && !all_.is_trial_)
      all_.options_.on_unknown_value(node(), *node().input(i));
    return value;
  }
  const Dims* input_extents(size_t i) const override {
    if (node().input(i) == nullptr) return nullptr;
    const Dims* extents = all_.extents_of(node().input(i));
    const bool is_known = extents != nullptr && std::all_of(extents->begin(), extents->end(),
                                                            [](const Dim& d) { return d.is_known(); });
    if (!is_known && all_.options_.on_unknown_value && !all_.is_trial_)
      all_.options_.on_unknown_value(node(), *node().input(i));
    return extents;
  }
  bool is_extent(const Dim& d) const override {
    return d.is_known() || (d.is_symbol() && all_.known_.differences.contains(d.symbol()));
  }
  void set_output_type(size_t i, Type type) override {
    if (i < types_.size()) types_[i] = std::move(type);
  }
  void set_output_extents(size_t i, Dims extents) override {
    if (i < extents_.size() && static_cast<int64_t>(extents.size()) <= kMaxExtents)
      extents_[i] = std::move(extents);
  }
  std::vector<Type> infer_subgraph(std::string_view attribute, const std::vector<Type>& inputs,
                                   std::optional<Error>* problem) override {
    return all_.subgraph(attr_graph(attribute), inputs, opsets_, problem);
  }
  std::optional<std::vector<Type>> try_subgraph(std::string_view attribute,
                                                const std::vector<Type>& inputs) override {
    return all_.trial(attr_graph(attribute), inputs, opsets_);
  }

  /// Attributes can ask for a type that the schema does not allow.
  void check_output(size_t i) const {
    const Parameter* p = schema_of(version()).output(i);
    if (p == nullptr || !types_[i].is_tensor() || types_[i].dtype == DType::kUndefined) return;
    check((p->kinds & value_kind(types_[i].dtype)) != 0,
          "the output '{}' of {}-{} would be of type {}, which it cannot be", p->name, op().name, since(),
          dtype_name(types_[i].dtype));
  }

  void store(Node& n) {
    for (size_t i = 0; i < types_.size(); ++i) {
      Value* v = n.output(i);
      if (v == nullptr) continue;
      check_output(i);
      v->type = all_.options_.keep_declared ? merge(std::move(types_[i]), v->type) : std::move(types_[i]);
      all_.note_extents(*v);
      if (extents_[i].empty()) continue;
      if (all_.options_.on_extents && all_.call_depth_ == 0 && !all_.is_trial_)
        all_.options_.on_extents(*v, extents_[i]);
      all_.known_.extents[v] = std::move(extents_[i]);
    }
  }

 private:
  Inference& all_;
  const std::vector<OpsetImport>& opsets_;
  std::vector<Type> types_;
  std::vector<Dims> extents_;
};

const UnalignedTensor* Inference::value_of(const Value* v) {
  // An initializer that the file also lists as an input has its value: no session takes another one.
  if (v->tensor().defined()) return &v->tensor();
  if (const auto it = known_.tensors.find(v); it != known_.tensors.end()) return &it->second;
  const auto it = known_.extents.find(v);
  if (it == known_.extents.end() || !v->type.is_tensor() || !v->type.dims) return nullptr;
  const std::optional<Shape> elements = known_shape(it->second);
  if (!elements || !is_extent_type(v->type.dtype)) return nullptr;
  Shape shape;
  if (!v->type.dims->empty()) shape.push_back(elements->rank());
  Tensor t = v->type.dtype == DType::kInt64
                 ? Tensor::from<int64_t>(shape, elements->dims())
                 : Tensor::from<int32_t>(shape, std::vector<int32_t>(elements->begin(), elements->end()));
  return &(known_.tensors[v] = std::move(t));
}

const Tensor* Inference::elements_of(const Value* v) {
  const UnalignedTensor* t = value_of(v);
  if (t == nullptr || t->if_aligned() != nullptr) return t != nullptr ? t->if_aligned() : nullptr;
  const auto [it, is_new] = known_.copies.try_emplace(v);
  if (is_new) it->second = t->aligned();
  return &it->second;
}

const Dims* Inference::extents_of(const Value* v) {
  if (const auto it = known_.extents.find(v); it != known_.extents.end()) return &it->second;
  const UnalignedTensor* t = value_of(v);
  if (t == nullptr || !is_extent_type(t->dtype()) || t->rank() > 1 || t->numel() > kMaxExtents)
    return nullptr;
  Dims dims;
  for (const int64_t e : t->to_int64()) dims.push_back(Dim(e));
  return &(known_.extents[v] = std::move(dims));
}

void Inference::note_extents(const Value& v) {
  if (!v.type.has_shape()) return;
  for (const Dim& d : *v.type.dims)
    if (d.is_symbol() && d.symbol().find('-') != std::string::npos) known_.differences.insert(d.symbol());
}

void Inference::problem(const Node& n, const Error& e) {
  if (!options_.on_problem || is_trial_) throw e;
  options_.on_problem(n, e.what());
}

/// Whether a tensor takes part in the arithmetic of shapes.
bool is_small_integer(int64_t elements, DType dtype) { return elements <= kMaxExtents && !is_float(dtype); }

/// The tensor that a Constant holds as it is; null for its other forms.
const UnalignedTensor* whole_tensor(const Node& constant) {
  const Attribute* value = constant.find_attribute("value");
  return value != nullptr ? value->get_if<UnalignedTensor>() : nullptr;
}

/// Nothing unless all are known.
std::optional<std::vector<Tensor>> Inference::inputs_to_fold(const Node& n) {
  std::vector<Tensor> inputs;
  for (const Value* in : n.inputs()) {
    const UnalignedTensor* t = in != nullptr ? value_of(in) : nullptr;
    if (in != nullptr && (t == nullptr || !is_small_integer(t->numel(), t->dtype()))) return std::nullopt;
    inputs.push_back(t != nullptr ? t->aligned() : Tensor());
  }
  return inputs;
}

/// Evaluates a small integer node whose inputs are all known, so that the arithmetic of shapes is exact. A
/// Constant counts like an initializer: any type and size, for nothing is computed.
void Inference::fold(const Node& n, const OpDef& op, const OpVersion& v) {
  const bool is_constant = &op == &op_onnx_Constant::def;
  if (v.eval == nullptr || op.random || n.outputs().size() != 1 || (n.inputs().empty() && !is_constant))
    return;
  std::optional<std::vector<Tensor>> inputs = inputs_to_fold(n);
  if (!inputs || !subgraphs_of(n).empty()) return;
  const Value* out = n.output(0);
  // Nothing where the elements cannot be counted.
  const std::optional<Shape> shape = shape_of(out);
  const bool holds_tensor = is_constant && n.find_attribute("sparse_value") == nullptr;
  if (!shape || (!holds_tensor && !is_small_integer(shape->numel(), out->type.dtype))) return;
  if (const UnalignedTensor* whole = is_constant ? whole_tensor(n) : nullptr) {
    known_.tensors[out] = *whole;
    return;
  }
  check_values(op, v, *inputs, false);
  EvalContext c(n, op, v, *std::move(inputs));
  v.eval(c);
  if (c.outputs()[0].defined()) known_.tensors[out] = std::move(c.outputs()[0]);
}

bool Inference::call(Node& n, const std::vector<OpsetImport>& opsets) {
  (void)opsets;
  const Function* f = functions_.called(n);
  if (f == nullptr) return false;
  require(call_depth_ < kMaxCallDepth, ErrorCode::kInvalidModel,
          "local functions call each other deeper than {}", kMaxCallDepth);
  require(++calls_ <= kMaxCalls, ErrorCode::kInvalidModel, "more than {} calls of local functions",
          kMaxCalls);
  check_call(n, *f);
  std::vector<Type> inputs;
  for (const Value* v : n.inputs()) inputs.push_back(v != nullptr ? v->type : Type());
  inputs.resize(f->body->inputs.size());
  const struct Call {
    int& depth;
    explicit Call(int& d) : depth(d) { ++depth; }
    ~Call() { --depth; }
  } counted(call_depth_);
  // The body is shared by all calls: what an earlier call said of its values does not hold for this one.
  for (const auto& v : f->body->values())
    if (!v->is_constant()) {
      v->type = {};
      known_.extents.erase(v.get());
      known_.tensors.erase(v.get());
      known_.copies.erase(v.get());
    }
  const Caller caller(callers_, n, *f);
  const std::vector<Type> outputs = subgraph(*f->body, inputs, f->opsets);
  for (size_t i = 0; i < n.outputs().size() && i < outputs.size(); ++i)
    if (Value* v = n.output(i)) v->type = merge(outputs[i], v->type);
  return true;
}

void Inference::node(Node& n, const std::vector<OpsetImport>& opsets) {
  const ResolvedAttributes given(n, callers_.empty() ? nullptr : &callers_.back());
  if (call(n, opsets)) return;
  const OpDef* op = ops_.find(n.domain, n.op_type);
  if (op == nullptr) return;
  int64_t opset = 0;
  for (const OpsetImport& o : opsets)
    if (canonical_domain(o.domain) == n.domain) opset = o.version;
  const OpVersion* version = version_for(*op, opset);
  if (version == nullptr || version->infer == nullptr) return;
  check_node(n, *op, *version);
  NodeInference c(n, *op, *version, *this, opsets);
  version->infer(c);
  c.store(n);
  fold(n, *op, *version);
}

void Inference::graph(Graph& g, const std::vector<OpsetImport>& opsets) {
  for (const Value* v : g.inputs) note_extents(*v);
  for (const auto& n : g.nodes()) {
    try {
      at_node(*n, [&] { node(*n, opsets); });
    } catch (const Error& e) {
      problem(*n, e);
    }
  }
}

std::vector<Type> Inference::subgraph(Graph& g, const std::vector<Type>& inputs,
                                      const std::vector<OpsetImport>& opsets, std::optional<Error>* problem) {
  for (size_t i = 0; i < g.inputs.size() && i < inputs.size(); ++i)
    if (inputs[i].kind != Type::Kind::kUnknown) g.inputs[i]->type = merge(inputs[i], g.inputs[i]->type);
  try {
    graph(g, opsets);
  } catch (const Error& e) {
    if (problem == nullptr || e.code() == ErrorCode::kInternal) throw;
    *problem = e;
  }
  std::vector<Type> outputs;
  for (const Value* v : g.outputs) outputs.push_back(v->type);
  return outputs;
}

std::optional<std::vector<Type>> Inference::trial(const Graph& g, const std::vector<Type>& inputs,
                                                  const std::vector<OpsetImport>& opsets) {
  if (is_trial_) return std::nullopt;
  ValueMap map;
  for (Value* v : captured_values(g)) map[v] = v;
  trials_.push_back(clone_graph(g, g.parent(), map));
  const struct Trial {
    bool& flag;
    explicit Trial(bool& f) : flag(f) { flag = true; }
    ~Trial() { flag = false; }
  } marked(is_trial_);
  std::optional<Error> error;
  std::vector<Type> outputs = subgraph(*trials_.back(), inputs, opsets, &error);
  if (error) return std::nullopt;
  return outputs;
}

}  // namespace

void infer_shapes(Model& model, const InferOptions& options) {
  check_depth(model);
  const ExtentNames names(model);
  Inference(model, options).graph(*model.graph, model.opsets);
}

}  // namespace assay
