#include "ops/check.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>

#include "ops/schema.h"

namespace assay {
namespace {

std::string range_text(int least, int most) {
  if (most == INT_MAX) return fmt::format("at least {}", least);
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

void check_arity(const OpDef& op, const OpVersion& v, const char* what, const std::vector<Value*>& given,
                 int least, int most, const std::vector<Parameter>& formal) {
  const int count = static_cast<int>(given.size());
  require(count >= least && count <= most, ErrorCode::kInvalidModel, "{}-{} takes {} {}, but {} are given",
          op.name, v.since, range_text(least, most), what, count);
  for (size_t i = 0; i < given.size() && i < formal.size(); ++i)
    require(given[i] != nullptr || formal[i].option != Parameter::Option::kSingle, ErrorCode::kInvalidModel,
            "{}-{} needs its {} '{}', which is left out", op.name, v.since, what, formal[i].name);
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

void check_attributes(const Node& node, const OpDef& op, const OpVersion& v, const Schema& s) {
  for (const Attribute& a : node.attributes) {
    const AttributeDef* def = s.attribute(a.name);
    require(def != nullptr, ErrorCode::kInvalidModel, "{}-{} has no attribute '{}'", op.name, v.since,
            a.name);
    require(!a.ref_attr_name.empty() || a.type_name() == type_of_kind(def->kind), ErrorCode::kInvalidModel,
            "the attribute '{}' of {}-{} must be of type {}, not {}", a.name, op.name, v.since,
            type_of_kind(def->kind), a.type_name());
  }
  for (const AttributeDef& def : s.attributes)
    require(!def.required || node.find_attribute(def.name) != nullptr, ErrorCode::kInvalidModel,
            "{}-{} needs its attribute '{}'", op.name, v.since, def.name);
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

/// The type as schemas write it: float, seq(tensor(float)), optional(...).
std::string schema_name(const Type& t) {
  if (t.kind == Type::Kind::kTensor) return std::string(onnx_name(t.dtype));
  if (!t.element) return "";
  const std::string inner = t.element->kind == Type::Kind::kTensor ? "tensor(" + schema_name(*t.element) + ")"
                                                                   : schema_name(*t.element);
  if (t.kind == Type::Kind::kSequence) return "seq(" + inner + ")";
  if (t.kind == Type::Kind::kOptional) return "optional(" + inner + ")";
  return "";
}

void check_types(const Node& node, const OpDef& op, const OpVersion& v, const Schema& s) {
  std::map<std::string, std::string> bound;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* value = node.input(i);
    if (value == nullptr) continue;
    const bool known = value->type.kind != Type::Kind::kUnknown &&
                       (!value->type.is_tensor() || value->type.dtype != DType::kUndefined);
    const std::string given = known ? schema_name(value->type) : "";
    if (given.empty()) continue;
    const Parameter& p = *s.input(i);
    const std::vector<std::string> allowed = s.allowed_types(p);
    require(std::find(allowed.begin(), allowed.end(), given) != allowed.end(), ErrorCode::kInvalidModel,
            "the input '{}' of {}-{} ('{}') is of type {}, which is not one of {}", p.name, op.name, v.since,
            value->name(), given, join(allowed));
    if (p.option == Parameter::Option::kVariadic && !p.homogeneous) continue;
    const auto [it, first] = bound.emplace(p.type, given);
    require(first || it->second == given, ErrorCode::kInvalidModel,
            "the inputs of {}-{} that share type {} differ: '{}' is {}, another is {}", op.name, v.since,
            p.type, value->name(), given, it->second);
  }
}

}  // namespace

void check_node(const Node& node, const OpDef& op, const OpVersion& version) {
  const Schema& s = schema_of(version);
  check_arity(op, version, "inputs", node.inputs(), s.min_inputs(), s.max_inputs(), s.inputs);
  check_arity(op, version, "outputs", node.outputs(), s.min_outputs(), s.max_outputs(), s.outputs);
  check_attributes(node, op, version, s);
  check_types(node, op, version, s);
}

}  // namespace assay
