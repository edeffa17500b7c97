#include "ops/check.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>

#include "assay/edit.h"
#include "base/article.h"
#include "base/memory_limit.h"
#include "base/wording.h"
#include "graph/at_node.h"
#include "graph/clone.h"
#include "graph/function_index.h"
#include "ops/op_set.h"
#include "ops/schema.h"
#include "tensor/room.h"

namespace assay {
namespace {

std::string range_text(int least, int most) {
  if (most == INT_MAX) return fmt::format("at least {}", least);
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

/// Collects what is wrong with a node, or throws the first.
class Problems {
 public:
  explicit Problems(std::vector<NodeProblem>* list) : list_(list) {}
  template <typename... Args>
  void require(bool holds, NodeRule rule, fmt::format_string<Args...> format, Args&&... args) {
    if (holds) [[likely]]
      return;
    std::string message = fmt::format(format, std::forward<Args>(args)...);
    if (list_ == nullptr) throw Error(ErrorCode::kInvalidModel, std::move(message));
    list_->push_back({rule, std::move(message)});
  }

 private:
  std::vector<NodeProblem>* list_;  // null: throw
};

/// False when the number is wrong.
bool check_arity(Problems& problems, const OpDef& op, const OpVersion& v, const char* what,
                 const std::vector<Value*>& given, int least, int most,
                 const std::vector<Parameter>& formal) {
  const int count = static_cast<int>(given.size());
  const bool fits = count >= least && count <= most;
  problems.require(fits, NodeRule::kArity, "{}-{} takes {} {}, but {} are given", op.name, v.since,
                   range_text(least, most), what, count);
  for (size_t i = 0; i < given.size() && i < formal.size(); ++i)
    problems.require(given[i] != nullptr || formal[i].option != Parameter::Option::kSingle,
                     NodeRule::kLeftOut, "{}-{} needs its {} '{}', which is left out", op.name, v.since, what,
                     formal[i].name);
  return fits;
}

/// A list of inputs has no holes. (Outputs may be left out.)
void check_holes(Problems& problems, const OpDef& op, const OpVersion& v, const Node& node, const Schema& s) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Parameter* p = s.input(i);
    problems.require(node.input(i) != nullptr || p->option != Parameter::Option::kVariadic,
                     NodeRule::kLeftOut, "{}-{} takes a list of inputs '{}', of which number {} is left out",
                     op.name, v.since, p->name, i);
  }
}

/// The AttributeProto type name for a kind in schema text.
std::string_view type_of_kind(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNames = {{
      {"int", "INT"},
      {"float", "FLOAT"},
      {"string", "STRING"},
      {"tensor", "TENSOR"},
      {"graph", "GRAPH"},
      {"type", "TYPE_PROTO"},
      {"ints", "INTS"},
      {"floats", "FLOATS"},
      {"strings", "STRINGS"},
      {"tensors", "TENSORS"},
      {"graphs", "GRAPHS"},
      {"types", "TYPE_PROTOS"},
      {"sparse", "SPARSE_TENSOR"},
      {"sparses", "SPARSE_TENSORS"},
  }};
  for (const auto& [k, name] : kNames)
    if (k == kind) return name;
  return "";
}

void check_attributes(Problems& problems, const Node& node, const OpDef& op, const OpVersion& v,
                      const Schema& s) {
  for (const Attribute& a : node.attributes) {
    const AttributeDef* def = s.attribute(a.name);
    problems.require(def != nullptr, NodeRule::kUnknownAttribute, "{}-{} has no attribute '{}'", op.name,
                     v.since, a.name);
    if (def == nullptr) continue;
    problems.require(!a.ref_attr_name.empty() || a.type_name() == type_of_kind(def->kind),
                     NodeRule::kAttributeType, "the attribute '{}' of {}-{} must be of type {}, not {}",
                     a.name, op.name, v.since, type_of_kind(def->kind), a.type_name());
  }
  for (const AttributeDef& def : s.attributes)
    problems.require(!def.required || node.find_attribute(def.name) != nullptr, NodeRule::kMissingAttribute,
                     "{}-{} needs its attribute '{}'", op.name, v.since, def.name);
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

/// The type as schemas write it: float, seq(tensor(float)), map(int64, float), ...; empty when a part of it
/// is not known.
std::string schema_name(const Type& t) {
  if (t.kind == Type::Kind::kTensor)
    return t.dtype == DType::kUndefined ? "" : std::string(onnx_name(t.dtype));
  std::string inner = t.element ? schema_name(*t.element) : "";
  if (inner.empty()) return "";
  if (t.kind == Type::Kind::kMap) return fmt::format("map({}, {})", onnx_name(t.dtype), inner);
  if (t.element->is_tensor()) inner = "tensor(" + inner + ")";
  if (t.kind == Type::Kind::kSequence) return "seq(" + inner + ")";
  if (t.kind == Type::Kind::kOptional) return "optional(" + inner + ")";
  return "";
}

/// Whether no known tensor breaks a rule; check_types() without texts, for the many nodes that are
/// right.
bool fit_schema(const Node& node, const Schema& s) {
  std::vector<std::pair<std::string_view, DType>> bound;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* value = node.input(i);
    if (value == nullptr || value->type.kind == Type::Kind::kUnknown) continue;
    if (!value->type.is_tensor()) return false;
    const DType given = value->type.dtype;
    if (given == DType::kUndefined) continue;
    const Parameter& p = *s.input(i);
    if ((p.kinds & value_kind(given)) == 0) return false;
    if (p.option == Parameter::Option::kVariadic && !p.homogeneous) continue;
    const auto it =
        std::find_if(bound.begin(), bound.end(), [&](const auto& b) { return b.first == p.type; });
    if (it == bound.end())
      bound.emplace_back(p.type, given);
    else if (it->second != given)
      return false;
  }
  return true;
}

void check_types(Problems& problems, const Node& node, const OpDef& op, const OpVersion& v, const Schema& s) {
  if (fit_schema(node, s)) return;
  std::map<std::string, std::string> bound;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* value = node.input(i);
    if (value == nullptr) continue;
    const std::string given = schema_name(value->type);
    if (given.empty()) continue;
    const Parameter& p = *s.input(i);
    const std::vector<std::string> allowed = s.allowed_types(p);
    problems.require(std::find(allowed.begin(), allowed.end(), given) != allowed.end(), NodeRule::kInputType,
                     "the input '{}' of {}-{} ('{}') is of type {}, which is not one of {}", p.name, op.name,
                     v.since, value->name(), given, join(allowed));
    if (p.option == Parameter::Option::kVariadic && !p.homogeneous) continue;
    const auto [it, first] = bound.emplace(p.type, given);
    problems.require(first || it->second == given, NodeRule::kInputType,
                     "the inputs of {}-{} that share type {} differ: '{}' is {}, another is {}", op.name,
                     v.since, p.type, value->name(), given, it->second);
  }
}

/// False when the number of inputs is wrong.
bool check_form(Problems& problems, const Node& node, const OpDef& op, const OpVersion& version,
                const Schema& s) {
  const bool inputs_fit =
      check_arity(problems, op, version, "inputs", node.inputs(), s.min_inputs(), s.max_inputs(), s.inputs);
  if (inputs_fit) check_holes(problems, op, version, node, s);
  check_arity(problems, op, version, "outputs", node.outputs(), s.min_outputs(), s.max_outputs(), s.outputs);
  check_attributes(problems, node, op, version, s);
  return inputs_fit;
}

void check_all(Problems problems, const Node& node, const OpDef& op, const OpVersion& version) {
  const Schema& s = schema_of(version);
  if (check_form(problems, node, op, version, s)) check_types(problems, node, op, version, s);
}

/// As many values as the operator takes, none missing where it needs one.
void check_presence(const OpDef& op, const OpVersion& version, std::span<const Tensor> inputs,
                    const Schema& s) {
  const int count = static_cast<int>(inputs.size()), least = s.min_inputs(), most = s.max_inputs();
  if (count < least || count > most)
    fail(ErrorCode::kInvalidModel, "{}-{} takes {} inputs, but {} are given", op.name, version.since,
         range_text(least, most), count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Parameter& p = *s.input(i);
    if (!inputs[i].defined() && p.option != Parameter::Option::kOptional)
      fail(ErrorCode::kInvalidModel, "{}-{} needs its input '{}' (number {}), which is left out", op.name,
           version.since, p.name, i);
  }
}

std::vector<NodeProblem> find_form_problems(const Node& node, const OpDef& op, const OpVersion& version) {
  std::vector<NodeProblem> list;
  Problems problems(&list);
  check_form(problems, node, op, version, schema_of(version));
  return list;
}

uint64_t float_kinds() {
  static const uint64_t kKinds = [] {
    uint64_t kinds = 0;
    for (int t = 1; t < kDTypeCount; ++t)
      if (is_float(static_cast<DType>(t))) kinds |= value_kind(static_cast<DType>(t));
    return kinds;
  }();
  return kKinds;
}

std::string kind_name(DType t) {
  return is_container(t) ? std::string(dtype_name(t)) : std::string(dtype_name(t)) + " tensor";
}

/// The schema of a node when it holds for certain: operators of ONNX's own domains, which get a new version
/// with every change, in opsets that this build knows.
const OpVersion* certain_version(const Node& node, const Model& scope) {
  const OpSet& ops = ops_of(scope);
  const OpDef* op = ops.find(node.domain, node.op_type);
  if (op == nullptr || !(op->domain.empty() || op->domain.starts_with("ai.onnx"))) return nullptr;
  const int64_t opset = scope.opset(node.domain);
  return opset <= ops.newest_opset(node.domain) ? version_for(*op, opset) : nullptr;
}

void check_forms(const Graph& graph, const Model& scope, const FunctionIndex& functions) {
  for (const auto& n : graph.nodes()) {
    if (const Function* called = functions.called(*n)) {
      at_node(*n, [&] { check_call(*n, *called); });
      continue;
    }
    const OpVersion* version = certain_version(*n, scope);
    if (version == nullptr) continue;
    at_node(*n, [&] {
      for (const NodeProblem& p :
           find_form_problems(*n, *ops_of(scope).find(n->domain, n->op_type), *version))
        require(p.rule == NodeRule::kUnknownAttribute, ErrorCode::kInvalidModel, "{}", p.message);
    });
  }
}

/// Only what is without elements can have extents of more than there is memory for.
void check_room(const OpDef& op, const OpVersion& version, const Parameter& p, const Tensor& t) {
  if (t.is_container() || t.numel() != 0 || room_of(t.dtype(), t.shape()) <= memory_limit()) return;
  fail(ErrorCode::kInvalidModel, "the input '{}' of {}-{} has shape {}; its extents are out of range", p.name,
       op.name, version.since, t.shape().str());
}

}  // namespace

void check_values(const OpDef& op, const OpVersion& version, std::span<const Tensor> inputs, bool ideal) {
  const Schema& s = schema_of(version);
  check_presence(op, version, inputs, s);
  const uint64_t floats = float_kinds();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Parameter* p = s.input(i);
    if (!inputs[i].defined() || p == nullptr) continue;
    const DType given = inputs[i].dtype();
    check_room(op, version, *p, inputs[i]);
    const bool any_float = ideal && given == DType::kFloat64 && (p->kinds & floats) != 0;
    if (!any_float && (p->kinds & value_kind(given)) == 0) [[unlikely]]
      fail(ErrorCode::kInvalidModel, "the input '{}' of {}-{} is {}, which it does not take", p->name,
           op.name, version.since, with_article(kind_name(given)));
    const auto shares_type = [&](size_t k) {
      const Parameter* q = s.input(k);
      return inputs[k].defined() && !inputs[k].is_container() && q->type == p->type &&
             (q->option != Parameter::Option::kVariadic || q->homogeneous);
    };
    if (!shares_type(i)) continue;
    size_t k = 0;
    while (!shares_type(k)) ++k;
    require(inputs[k].dtype() == given, ErrorCode::kInvalidModel,
            "the inputs of {}-{} that share type {} differ: '{}' is {}, '{}' is {}", op.name, version.since,
            p->type, s.input(k)->name, dtype_name(inputs[k].dtype()), p->name, dtype_name(given));
  }
}

std::vector<NodeProblem> find_node_problems(const Node& node, const OpDef& op, const OpVersion& version) {
  std::vector<NodeProblem> list;
  check_all(Problems(&list), node, op, version);
  return list;
}

void check_node(const Node& node, const OpDef& op, const OpVersion& version) {
  check_all(Problems(nullptr), node, op, version);
}

void check_call(const Node& call, const Function& function) {
  const auto check = [&](const char* what, size_t given, size_t most) {
    require(given <= most, ErrorCode::kInvalidModel, "the function '{}' has {} {}, but the call has {}",
            function.name, most, what, given);
  };
  check("inputs", call.inputs().size(), function.body->inputs.size());
  check("outputs", call.outputs().size(), function.body->outputs.size());
}

void check_forms(const Model& model) {
  const FunctionIndex functions(model);
  const auto check_all = [&](const Graph& graph, const Model& scope) {
    check_forms(graph, scope, functions);
    for (const Graph* sub : subgraphs(graph, /*recursive=*/true)) check_forms(*sub, scope, functions);
  };
  try {
    check_all(*model.graph, model);
    for (const Function& f : model.functions)
      with_context([&] { return fmt::format("in function '{}'", f.name); },
                   [&] { check_all(*f.body, scope_of(model, f.opsets)); });
  } catch (Error& e) {
    set_remedy(e, Say::kLintModel);
    throw;
  }
}

void check_form(const Node& node, const OpDef& op, const OpVersion& version) {
  Problems problems(nullptr);
  check_form(problems, node, op, version, schema_of(version));
}

std::string find_unknown_opset(const Model& model) {
  const auto find = [&](const std::vector<OpsetImport>& imports) -> std::string {
    for (const OpsetImport& o : imports) {
      const int64_t newest = ops_of(model).newest_opset(o.domain);
      if (newest != 0 && o.version > newest)
        return fmt::format(
            "the model imports version {} of '{}', but {} is the newest that this build knows; where later "
            "versions changed an operator, its results would be those of version {}",
            o.version, o.domain.empty() ? "ai.onnx" : o.domain, newest, newest);
    }
    return {};
  };
  std::string found = find(model.opsets);
  for (size_t i = 0; found.empty() && i < model.functions.size(); ++i)
    found = find(model.functions[i].opsets);
  return found;
}

void check_opsets(const Model& model) {
  const std::string found = find_unknown_opset(model);
  require(found.empty(), ErrorCode::kUnsupported, "{}", found);
}

}  // namespace assay
