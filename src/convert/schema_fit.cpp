#include "convert/schema_fit.h"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "ops/schema.h"

namespace assay {
namespace {

std::string value_text(const Attribute::Data& data) {
  if (const auto* i = std::get_if<int64_t>(&data)) return fmt::format(" = {}", *i);
  if (const auto* f = std::get_if<float>(&data)) return fmt::format(" = {}", *f);
  if (const auto* s = std::get_if<std::string>(&data)) return fmt::format(" = '{}'", *s);
  return {};
}

/// Equal numbers, texts or lists; other kinds have no defaults.
bool is_same(const Attribute::Data& a, const Attribute::Data& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                      std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<int64_t>> ||
                      std::is_same_v<T, std::vector<float>> || std::is_same_v<T, std::vector<std::string>>)
          return x == std::get<T>(b);
        else
          return false;
      },
      a);
}

void fit_attributes(Node& n, const Schema& from, const Schema& to, std::vector<std::string>& problems) {
  std::vector<std::string> dropped;
  for (const Attribute& a : n.attributes) {
    if (to.attribute(a.name) != nullptr) continue;
    const AttributeDef* old = from.attribute(a.name);
    if (old == nullptr) continue;  // not an attribute of this operator: left to the checker
    if (a.ref_attr_name.empty() && old->fallback && is_same(*old->fallback, a.data))
      dropped.push_back(a.name);
    else
      problems.push_back(fmt::format("the attribute '{}'{}", a.name, value_text(a.data)));
  }
  for (const std::string& name : dropped) n.remove_attribute(name);
  for (const AttributeDef& now : to.attributes) {
    if (n.find_attribute(now.name) != nullptr) continue;
    const AttributeDef* old = from.attribute(now.name);
    if (old != nullptr && old->fallback && old->kind == now.kind &&
        (now.required || (now.fallback && !is_same(*now.fallback, *old->fallback))))
      n.set_attribute(now.name, *old->fallback);
    else if (now.required)
      problems.push_back(fmt::format("the attribute '{}', which is required, is missing", now.name));
  }
}

bool is_unused(const Value* v, OutputIndex& outputs) {
  return v == nullptr || (v->consumers().empty() && !outputs.contains(*v));
}

std::string formal_name(const Parameter* p, const char* what, size_t i) {
  return p != nullptr ? fmt::format("the {} '{}'", what, p->name) : fmt::format("the {} {}", what, i);
}

void fit_arity(Node& n, const Schema& from, const Schema& to, OutputIndex& leaving,
               std::vector<std::string>& problems) {
  std::vector<Value*> inputs = n.inputs(), outputs = n.outputs();
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  if (inputs.size() != n.inputs().size()) n.set_inputs(inputs);
  for (size_t i = static_cast<size_t>(std::max(0, to.max_inputs())); i < inputs.size(); ++i)
    if (inputs[i] != nullptr) problems.push_back(formal_name(from.input(i), "input", i));
  for (size_t i = 0; i < to.inputs.size(); ++i)
    if (to.inputs[i].option == Parameter::Option::kSingle && n.input(i) == nullptr)
      problems.push_back(fmt::format("the input '{}', which is required, is missing", to.inputs[i].name));
  while (outputs.size() > static_cast<size_t>(to.max_outputs()) && is_unused(outputs.back(), leaving))
    outputs.pop_back();
  if (outputs.size() != n.outputs().size()) n.set_outputs(outputs);
  for (size_t i = static_cast<size_t>(to.max_outputs()); i < outputs.size(); ++i)
    if (outputs[i] != nullptr) problems.push_back(formal_name(from.output(i), "output", i));
}

/// The bit of a value's type; 0 when it is not known.
uint64_t kind_of(const Value* v) {
  if (v == nullptr) return 0;
  switch (v->type.kind) {
    case Type::Kind::kTensor:
      return v->type.dtype == DType::kUndefined ? 0 : value_kind(v->type.dtype);
    case Type::Kind::kSequence:
      return value_kind(DType::kSequence);
    case Type::Kind::kOptional:
      return value_kind(DType::kOptional);
    case Type::Kind::kMap:
      return value_kind(DType::kMap);
    default:
      return 0;
  }
}

/// The description of a value's type in a sentence.
std::string type_text(const Value* v) {
  return v->type.is_tensor() ? std::string(dtype_name(v->type.dtype)) : v->type.str();
}

bool is_constraint(const Schema& s, const Parameter& p) {
  return std::any_of(s.constraints.begin(), s.constraints.end(),
                     [&](const TypeConstraint& c) { return c.name == p.type; });
}

class TypeCheck {
 public:
  explicit TypeCheck(const Schema& schema) : schema_(schema) {}

  void value(const Parameter* p, const Value* v, const char* what) {
    const uint64_t kind = kind_of(v);
    if (p == nullptr || kind == 0) return;
    if ((p->kinds & kind) == 0) {
      // One sentence for each constraint.
      if (is_constraint(schema_, *p) && !refused_.insert(p->type).second) return;
      problems.push_back(fmt::format("{} '{}' of type {}", what, p->name, type_text(v)));
      return;
    }
    if (!is_constraint(schema_, *p) || !p->homogeneous) return;
    const auto [it, is_new] = seen_.emplace(p->type, v);
    if (!is_new && kind_of(it->second) != kind)
      problems.push_back(fmt::format("{} '{}' of type {} together with one of type {}", what, p->name,
                                     type_text(v), type_text(it->second)));
  }

  std::vector<std::string> problems;

 private:
  const Schema& schema_;
  std::map<std::string_view, const Value*> seen_;
  std::set<std::string_view> refused_;
};

}  // namespace

std::vector<std::string> fit_schema(Node& node, const OpVersion& from, const OpVersion& to,
                                    OutputIndex& outputs) {
  std::vector<std::string> problems;
  fit_attributes(node, schema_of(from), schema_of(to), problems);
  fit_arity(node, schema_of(from), schema_of(to), outputs, problems);
  return problems;
}

std::vector<std::string> type_problems(const Node& node, const OpVersion& version) {
  const Schema& schema = schema_of(version);
  TypeCheck check(schema);
  for (size_t i = 0; i < node.inputs().size(); ++i) check.value(schema.input(i), node.input(i), "the input");
  for (size_t i = 0; i < node.outputs().size(); ++i)
    check.value(schema.output(i), node.output(i), "the output");
  return check.problems;
}

bool has_unchecked_type(const Node& node, const OpVersion& from, const OpVersion& to) {
  const Schema &a = schema_of(from), &b = schema_of(to);
  const auto unchecked = [](const Parameter* before, const Parameter* after, const Value* v) {
    return v != nullptr && kind_of(v) == 0 && before != nullptr && after != nullptr &&
           (before->kinds & ~after->kinds) != 0;
  };
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (unchecked(a.input(i), b.input(i), node.input(i))) return true;
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (unchecked(a.output(i), b.output(i), node.output(i))) return true;
  return false;
}

}  // namespace assay
