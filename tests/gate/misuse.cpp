#include "gate/misuse.h"

#include <algorithm>
#include <climits>

#include "ops/schema.h"
#include "tensor/convert.h"

namespace assay::gate {
namespace {

Tensor ones(DType dtype) {
  const Shape shape{1, 2};
  if (dtype == DType::kString) return Tensor::from<std::string>(shape, std::vector<std::string>{"a", "b"});
  if (is_complex(dtype)) return Tensor::zeros(dtype, shape);
  return convert(Tensor::from<double>(shape, std::vector<double>{1, 1}), dtype);
}

constexpr DType kCommon[] = {DType::kFloat32, DType::kInt64, DType::kString,  DType::kBool,
                             DType::kUInt8,   DType::kInt8,  DType::kFloat16, DType::kInt32};

/// A tensor that the parameter takes, or does not; undefined when there is none.
Tensor fitting(const Parameter& p, bool fits) {
  for (const DType t : kCommon)
    if (((p.kinds & value_kind(t)) != 0) == fits) return ones(t);
  return {};
}

Tensor fitting(const Schema& s, size_t i) {
  const Parameter* p = s.input(i);
  Tensor t = p != nullptr ? fitting(*p, true) : Tensor();
  return t.defined() ? t : ones(DType::kFloat32);  // one that takes sequences only, or one too many
}

Attribute::Data value_of_kind(std::string_view kind) {
  if (kind == "int") return int64_t{1};
  if (kind == "float") return 1.0F;
  if (kind == "string") return std::string("x");
  if (kind == "tensor") return ones(DType::kFloat32);
  if (kind == "ints") return std::vector<int64_t>{1};
  if (kind == "floats") return std::vector<float>{1};
  if (kind == "strings") return std::vector<std::string>{"x"};
  if (kind == "type") return Type::tensor(DType::kFloat32);
  if (kind == "graph") {
    auto g = std::make_shared<Graph>();
    g->name = "g";
    Value* v = g->add_value("given");
    g->add_node("Constant", {}, {v}, {{"value", ones(DType::kFloat32)}});
    g->outputs = {v};
    return g;
  }
  return int64_t{1};
}

class Maker {
 public:
  explicit Maker(const OpVersion& version) : s_(schema_of(version)) {}

  std::vector<Misuse> make() {
    const int least = s_.min_inputs(), most = s_.max_inputs();
    for (int n = 0; n < least; ++n) add(fmt::format("{} inputs", n), inputs(n));
    if (most < INT_MAX) add("too many inputs", inputs(most + 1));
    for (int i = 0; i < std::min(most, std::max(least, static_cast<int>(s_.inputs.size()))); ++i) {
      const Parameter& p = *s_.input(static_cast<size_t>(i));
      const int count = std::max(least, i + 1);
      if (p.option != Parameter::Option::kOptional) {
        std::vector<Tensor> list = inputs(count);
        list[static_cast<size_t>(i)] = Tensor();
        add(fmt::format("input {} left out", i), std::move(list));
      }
      if (const Tensor wrong = fitting(p, false); wrong.defined()) {
        std::vector<Tensor> list = inputs(count);
        list[static_cast<size_t>(i)] = wrong;
        add(fmt::format("input {} of type {}", i, dtype_name(wrong.dtype())), std::move(list));
      }
    }
    if (s_.min_outputs() > 1) add("one output", inputs(least), 1);
    if (s_.max_outputs() < INT_MAX)
      add("too many outputs", inputs(least), static_cast<size_t>(s_.max_outputs()) + 1);
    for (const AttributeDef& a : s_.attributes) {
      if (a.required) change_attribute("without " + a.name, a.name, nullptr);
      const Attribute::Data other = value_of_kind(a.kind == "int" ? "string" : "int");
      change_attribute(fmt::format("{} of another kind", a.name), a.name, &other);
    }
    const Attribute::Data one = int64_t{1};
    change_attribute("an unknown attribute", "no_such_attribute", &one);
    return std::move(list_);
  }

 private:
  std::vector<Tensor> inputs(int count) const {
    std::vector<Tensor> list;
    for (int i = 0; i < count; ++i) list.push_back(fitting(s_, static_cast<size_t>(i)));
    return list;
  }
  AttributeList required() const {
    AttributeList list;
    for (const AttributeDef& a : s_.attributes)
      if (a.required) list.emplace_back(a.name, value_of_kind(a.kind));
    return list;
  }
  void add(std::string what, std::vector<Tensor> in, size_t outputs = 0) {
    const size_t least = static_cast<size_t>(std::max(1, s_.min_outputs()));
    list_.push_back({std::move(what), std::move(in), outputs != 0 ? outputs : least, required()});
  }
  /// Null: it is taken away.
  void change_attribute(std::string what, const std::string& name, const Attribute::Data* value) {
    add(std::move(what), inputs(s_.min_inputs()));
    AttributeList& attributes = list_.back().attributes;
    std::erase_if(attributes, [&](const auto& a) { return a.first == name; });
    if (value != nullptr) attributes.emplace_back(name, *value);
  }

  const Schema& s_;
  std::vector<Misuse> list_;
};

/// Adds the node with constants, which are nodes where initializers cannot be, and returns its outputs.
std::vector<Value*> add_node(Graph& g, const OpDef& op, const Misuse& m, bool as_nodes) {
  std::vector<Value*> in, out;
  for (const Tensor& t : m.inputs) {
    const std::string name = g.unique_name("in");
    if (!t.defined()) {
      in.push_back(nullptr);
    } else if (as_nodes) {
      in.push_back(g.add_value(name));
      g.add_node("Constant", {}, {in.back()}, {{"value", t}});
    } else {
      in.push_back(g.add_constant(name, t));
    }
  }
  for (size_t i = 0; i < m.outputs; ++i) out.push_back(g.add_value(g.unique_name("out")));
  AttributeList attributes = m.attributes;
  for (auto& [name, data] : attributes) {
    if (!std::holds_alternative<std::shared_ptr<Graph>>(data)) continue;
    data = value_of_kind("graph");  // no two nodes share one
    std::get<std::shared_ptr<Graph>>(data)->set_parent(&g);
  }
  g.add_node(std::string(op.name), in, out, std::move(attributes), kNode, std::string(op.domain));
  return out;
}

std::vector<OpsetImport> imports_of(const OpDef& op, const OpVersion& version) {
  std::vector<OpsetImport> list = {{std::string(op.domain), version.since}};
  if (!op.domain.empty()) list.push_back({"", 21});
  return list;
}

}  // namespace

std::vector<Misuse> misuses(const OpDef&, const OpVersion& version) { return Maker(version).make(); }

std::shared_ptr<Model> model_of(const OpDef& op, const OpVersion& version, const Misuse& m, Place place) {
  auto model = std::make_shared<Model>();
  model->opsets = imports_of(op, version);
  model->ir_version = 10;
  Graph& g = *model->graph;
  g.name = "main";
  if (place == Place::kGraph) {
    g.outputs = add_node(g, op, m, false);
  } else if (place == Place::kFunction) {
    model->opsets.push_back({"local", 1});
    Function& f = model->functions.emplace_back();
    f.domain = "local";
    f.name = "f";
    f.opsets = imports_of(op, version);
    f.body->outputs = add_node(*f.body, op, m, true);
    for (size_t i = 0; i < m.outputs; ++i) g.outputs.push_back(g.add_value("y" + std::to_string(i)));
    g.add_node("f", {}, g.outputs, {}, "call", "local");
  } else {
    Value* condition = g.add_constant("condition", Tensor::scalar(true));
    AttributeList branches;
    for (const char* name : {"then_branch", "else_branch"}) {
      auto branch = std::make_shared<Graph>();
      branch->name = name;
      branch->set_parent(&g);
      branch->outputs = add_node(*branch, op, m, false);
      branches.emplace_back(name, branch);
    }
    for (size_t i = 0; i < m.outputs; ++i) g.outputs.push_back(g.add_value("y" + std::to_string(i)));
    g.add_node("If", {condition}, g.outputs, std::move(branches), "choice");
  }
  return model;
}

}  // namespace assay::gate
