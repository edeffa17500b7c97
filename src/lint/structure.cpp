#include "lint/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/dtype.h"
#include "base/wording.h"

namespace assay::lint {
namespace {

using onnx::AttributeMessage;
using onnx::FunctionMessage;
using onnx::GraphMessage;
using onnx::NodeMessage;
using onnx::TensorMessage;
using onnx::TypeMessage;
using onnx::ValueInfoMessage;

constexpr std::string_view kGraphInput = "a graph input", kInitializerValue = "an initializer",
                           kNodeOutput = "a node output", kFunctionInput = "a function input";

/// TypeProto's field of a tensor.
constexpr int kTensorKind = 1;

/// Up to this IR version every initializer is a graph input, too.
constexpr int64_t kListingIrVersion = 3;

/// The first element type in it that is unknown; 0 when all are known.
int64_t unknown_type(const TypeMessage& t) {
  if (t.elem_type != 0 && !is_known_dtype(t.elem_type)) return t.elem_type;
  return t.element.empty() ? 0 : unknown_type(t.element[0]);
}

/// float32(2, 3); unknown extents are -1.
std::string type_text(int64_t elem_type, const std::vector<int64_t>& dims) {
  return fmt::format("{}({})", dtype_name(static_cast<DType>(elem_type)), fmt::join(dims, ", "));
}

/// The difference between an input's declared type and
/// the initializer that is its default; empty: none.
std::string contradiction(const TypeMessage& declared, const TensorMessage& t) {
  if (declared.kind != kTensorKind || declared.elem_type == 0) return {};
  std::vector<int64_t> dims;
  for (const onnx::DimMessage& d : declared.dims) dims.push_back(d.has_value ? d.value : -1);
  bool fits = declared.elem_type == t.data_type && (!declared.has_shape || dims.size() == t.dims.size());
  for (size_t i = 0; fits && declared.has_shape && i < dims.size(); ++i)
    fits = dims[i] < 0 || dims[i] == t.dims[i];
  return fits ? std::string() : type_text(declared.elem_type, dims);
}

/// For places within the node's subgraphs.
std::string node_label(const NodeMessage& n) {
  if (!n.name.empty()) return fmt::format("'{}' ({})", n.name, n.op_type);
  for (const std::string_view output : n.outputs)
    if (!output.empty()) return fmt::format("({}) producing '{}'", n.op_type, output);
  return fmt::format("({})", n.op_type);
}

}  // namespace

bool StructureCheck::Scope::sees(std::string_view name) const {
  return defined.contains(name) || (outer != nullptr && outer->sees(name));
}

bool StructureCheck::Scope::sees_later(std::string_view name) const {
  return later.contains(name) || (outer != nullptr && outer->sees_later(name));
}

StructureCheck::StructureCheck(onnx::ModelMessage& model, onnx::ExternalData external, Report& report)
    : model_(model), external_(std::move(external)), report_(report) {}

std::string_view StructureCheck::keep(std::string text) { return texts_->emplace_back(std::move(text)); }

void StructureCheck::name_nodes() {
  std::unordered_set<std::string_view> taken;
  for (const NodeMessage& n : model_.graph.nodes) taken.insert(n.name);
  int uid = 0;
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    NodeMessage& n = model_.graph.nodes[i];
    if (!n.name.empty()) continue;
    std::string name = fmt::format("polygraphy_unnamed_node_{}", i);
    while (taken.contains(name)) name = fmt::format("polygraphy_unnamed_node_{}_{}", i, uid++);
    n.name = keep(std::move(name));
    taken.insert(n.name);
  }
}

void StructureCheck::run() {
  node_names(model_.graph.nodes);
  model();
  opsets();
  for (FunctionMessage& f : model_.functions) function(f);
  graph(model_.graph, nullptr, {});
  for (const std::string_view name : undefined_) model_.graph.inputs.emplace_back().name = name;
}

void StructureCheck::add_undefined(std::string_view name) {
  if (known_undefined_.insert(name).second) undefined_.push_back(name);
}

/// Names that several nodes have, with the places of these in the list.
void StructureCheck::node_names(const std::vector<NodeMessage>& nodes) {
  std::unordered_map<std::string_view, std::vector<size_t>> places;
  std::vector<std::string_view> order;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<size_t>& list = places[nodes[i].name];
    if (list.empty()) order.push_back(nodes[i].name);
    list.push_back(i);
  }
  for (const std::string_view name : order)
    if (const auto& ids = places[name]; ids.size() > 1 && !name.empty())
      report_.add(kDuplicateNodeName, {.node = std::string(name)}, name,
                  fmt::format("[{}]", fmt::join(ids, ", ")));
}

void StructureCheck::model() {
  if (model_.ir_version <= 0) report_.add(kNoIrVersion, {});
  std::unordered_set<std::string_view> keys;
  for (const auto& [key, value] : model_.metadata)
    if (!keys.insert(key).second) report_.add(kDuplicateMetadata, {}, key);
  std::unordered_set<std::string> names;
  std::erase_if(model_.functions, [&](const FunctionMessage& f) {
    if (names.insert(fmt::format("{}\n{}\n{}", f.domain, f.name, f.overload)).second) return false;
    report_.add(kDuplicateFunction, {}, f.name, domain_name(f.domain));
    return true;
  });
}

void StructureCheck::opsets() {
  if (model_.opsets.empty()) report_.add(kNoOpset, {});
  std::unordered_map<std::string_view, int64_t> versions;
  for (const onnx::OpsetMessage& o : model_.opsets) {
    const auto [it, is_new] = versions.emplace(domain_name(o.domain), o.version);
    if (!is_new) report_.add(kDuplicateOpset, {}, domain_name(o.domain), it->second, o.version);
  }
  for (const FunctionMessage& f : model_.functions)
    for (const onnx::OpsetMessage& o : f.opsets)
      if (const auto it = versions.find(domain_name(o.domain));
          it != versions.end() && it->second != o.version)
        report_.add(kFunctionOpset, {}, f.name, o.version, domain_name(o.domain), it->second);
}

/// True when the name is new in its scope; otherwise it has been reported.
bool StructureCheck::define(Scope& scope, std::string_view name, std::string_view what, const Place& place) {
  const auto [it, is_new] = scope.defined.emplace(name, what);
  if (!is_new) {
    report_.add(kDuplicateName, place, name, it->second, what);
    return false;
  }
  // Node outputs are in single static assignment form over all scopes that see them. Inputs and initializers
  // of bodies must differ from outer names, too, but no runtime enforces that.
  if (scope.outer != nullptr && scope.outer->sees(name))
    report_.add(what == kNodeOutput ? kShadowedOutput : kShadowedName, place, name, what);
  return true;
}

void StructureCheck::type(ValueInfoMessage& v, const Place& place) {
  if (!v.has_type) return;
  const int64_t unknown = unknown_type(v.type);
  if (unknown == 0) return;
  report_.add(kUnknownType, place, v.name, unknown);
  v.has_type = false;
}

void StructureCheck::inputs(GraphMessage& g, Scope& scope, const Place& place) {
  std::erase_if(g.inputs, [&](ValueInfoMessage& v) {
    type(v, place);
    if (v.name.empty()) {
      report_.add(kNoName, place, kGraphInput);
      return true;
    }
    return !define(scope, v.name, kGraphInput, place);
  });
  std::unordered_set<std::string_view> constants;
  for (const TensorMessage& t : g.initializers) constants.insert(t.name);
  if (scope.outer != nullptr) return;  // an enclosing node gives a subgraph's inputs their types
  for (const ValueInfoMessage& v : g.inputs) {
    if ((!v.has_type || v.type.kind == 0) && !constants.contains(v.name)) report_.add(kNoType, place, v.name);
    if (v.has_type && v.type.kind == kTensorKind && !v.type.has_shape) report_.add(kNoShape, place, v.name);
  }
}

std::string StructureCheck::problem_of(const TensorMessage& t) {
  if (onnx::is_weightless(t)) return "its data were stripped; " + say(Say::kWeightsStripped);
  try {
    if (!onnx::is_external(t) || !external_.ignored()) (void)onnx::decode_tensor(t, nullptr, external_);
    return {};
  } catch (const Error& e) {
    return e.message();
  }
}

void StructureCheck::initializers(GraphMessage& g, Scope& scope, const Place& place) {
  std::unordered_set<std::string_view> inputs, seen;
  std::unordered_map<std::string_view, const TypeMessage*> declared;
  for (const ValueInfoMessage& v : g.inputs) {
    inputs.insert(v.name);
    if (v.has_type) declared.emplace(v.name, &v.type);
  }
  const auto is_bad = [&](std::string_view name) {
    if (name.empty()) {
      report_.add(kNoName, place, kInitializerValue);
      return true;
    }
    // An initializer that is listed as an input, too, is its default; bodies get all their inputs.
    if (seen.insert(name).second && inputs.contains(name)) {
      if (scope.outer != nullptr) report_.add(kBodyDefault, place, name);
      return false;
    }
    return !define(scope, name, kInitializerValue, place);
  };
  std::vector<std::string_view> lost;
  std::erase_if(g.initializers, [&](const TensorMessage& t) {
    if (is_bad(t.name)) return true;
    if (model_.ir_version > 0 && model_.ir_version <= kListingIrVersion && !inputs.contains(t.name))
      report_.add(kUnlistedInitializer, place, t.name, model_.ir_version);
    const std::string problem = problem_of(t);
    if (const auto it = declared.find(t.name); problem.empty() && it != declared.end())
      if (const std::string type = contradiction(*it->second, t); !type.empty())
        report_.add(kInitializerType, place, t.name, type, type_text(t.data_type, t.dims));
    if (problem.empty()) return false;
    report_.add(kInitializer, place, t.name, problem);
    if (!inputs.contains(t.name)) lost.push_back(t.name);
    return true;
  });
  std::erase_if(g.sparse_initializers,
                [&](const onnx::SparseTensorMessage& s) { return is_bad(s.values.name); });
  for (const std::string_view name : lost) {
    add_undefined(name);
    lost_.insert(name);
  }
}

void StructureCheck::outputs(GraphMessage& g, const Scope& scope, const Place& place) {
  std::unordered_set<std::string_view> seen;
  std::erase_if(g.outputs, [&](ValueInfoMessage& v) {
    type(v, place);
    if (!seen.insert(v.name).second) report_.add(kDuplicateOutput, place, v.name);
    if (scope.sees(v.name)) return false;
    report_.add(kUndefinedOutput, place, v.name);
    return true;
  });
}

void StructureCheck::value_infos(GraphMessage& g, const Scope& scope, const Place& place) {
  for (ValueInfoMessage& v : g.value_infos) {
    type(v, place);
    if (!scope.defined.contains(v.name)) report_.add(kUnknownValueInfo, place, v.name);
  }
}

void StructureCheck::graph(GraphMessage& g, const Scope* outer, const Place& place) {
  if (g.name.empty()) report_.add(outer == nullptr ? kGraphName : kSubgraphName, place);
  Scope scope{.outer = outer};
  inputs(g, scope, place);
  initializers(g, scope, place);
  body(g.nodes, scope, place, outer == nullptr);
  outputs(g, scope, place);
  value_infos(g, scope, place);
}

void StructureCheck::function(FunctionMessage& f) {
  const Place place{.inside = fmt::format("in function '{}': ", f.name)};
  Scope scope;
  for (const std::string_view name : f.inputs) define(scope, name, kFunctionInput, place);
  function_lists(f, place);
  body(f.nodes, scope, place, false);
  f.inputs.insert(f.inputs.end(), undefined_.begin(), undefined_.end());
  undefined_.clear();
  known_undefined_.clear();
  std::erase_if(f.outputs, [&](std::string_view name) {
    if (scope.sees(name)) return false;
    report_.add(kUndefinedOutput, place, name);
    return true;
  });
}

/// Entries of a function's lists are unique.
void StructureCheck::function_lists(const FunctionMessage& f, const Place& place) {
  std::unordered_set<std::string_view> outputs, attributes;
  for (const std::string_view name : f.outputs)
    if (!outputs.insert(name).second) report_.add(kDuplicateOutput, place, name);
  for (const std::string_view name : f.attribute_names)
    if (!attributes.insert(name).second) report_.add(kDuplicateAttribute, place, name);
  for (const AttributeMessage& a : f.attribute_defaults)
    if (!attributes.insert(a.name).second) report_.add(kDuplicateAttribute, place, a.name);
}

void StructureCheck::body(std::vector<NodeMessage>& nodes, Scope& scope, const Place& place, bool is_main) {
  for (const NodeMessage& n : nodes)
    for (const std::string_view name : n.outputs)
      if (!name.empty()) scope.later.emplace(name, kNodeOutput);
  std::erase_if(nodes, [&](NodeMessage& n) {
    Place around = place;
    if (is_main) around = {std::string(n.name), std::string(n.op_type), {}};
    node(n, scope, around, is_main);
    if (!n.op_type.empty()) return false;
    for (const std::string_view name : n.outputs)
      if (!name.empty()) add_undefined(name);
    return true;
  });
}

void StructureCheck::node(NodeMessage& n, Scope& scope, const Place& around, bool is_main) {
  Place place = around;
  if (!is_main) place.inside += fmt::format("at node {}: ", node_label(n));
  if (n.op_type.empty()) report_.add(kNoOperator, place);
  for (const std::string_view name : n.inputs) {
    if (lost_.contains(name)) report_.add(kLostInitializer, place, name);
    if (name.empty() || scope.sees(name)) continue;
    if (scope.sees_later(name)) {
      report_.add(kUnsortedNodes, place, name);
      continue;
    }
    report_.add(kUndefinedInput, place, name);
    scope.defined.emplace(name, kGraphInput);
    add_undefined(name);
  }
  attributes(n, scope, place, around);
  node_outputs(n, scope, place);
}

void StructureCheck::node_outputs(NodeMessage& n, Scope& scope, const Place& place) {
  for (std::string_view& name : n.outputs)
    if (!name.empty() && !define(scope, name, kNodeOutput, place))
      name = keep(fmt::format("{} (defined again {})", name, ++renamed_));
}

void StructureCheck::attributes(NodeMessage& n, const Scope& scope, const Place& place, const Place& around) {
  std::unordered_set<std::string_view> names;
  std::erase_if(n.attributes, [&](const AttributeMessage& a) {
    if (a.name.empty()) report_.add(kNoName, place, "an attribute");
    if (names.insert(a.name).second) return false;
    report_.add(kDuplicateAttribute, place, a.name);
    return true;
  });
  for (AttributeMessage& a : n.attributes) {
    attribute_tensors(a, place);
    Place inside = around;
    inside.inside += fmt::format("in '{}' of node {}: ", a.name, node_label(n));
    for (GraphMessage& g : a.graphs) graph(g, &scope, inside);
  }
}

/// Removes an unreadable attribute, so that import does not stop at it.
void StructureCheck::attribute_tensors(AttributeMessage& a, const Place& place) {
  constexpr int64_t kNewestType = 14;  // TYPE_PROTOS
  std::string problem;
  if (a.type < 0 || a.type > kNewestType) problem = fmt::format("its type {} is unknown", a.type);
  for (const TensorMessage& t : a.tensors)
    if (problem.empty()) problem = problem_of(t);
  for (const TypeMessage& t : a.types)
    if (problem.empty() && unknown_type(t) != 0)
      problem = fmt::format("the element type {} is unknown", unknown_type(t));
  if (problem.empty()) return;
  report_.add(kBadAttribute, place, a.name, problem);
  AttributeMessage left_out;
  left_out.name = a.name;
  a = std::move(left_out);
}

}  // namespace assay::lint
