#include "fuzz/mutate.h"

#include <algorithm>
#include <cmath>

#include "graph/import.h"
#include "ops/value_type.h"
#include "run/conformance_data.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

Tensor mutated_tensor(const Tensor& t, Random& r) {
  if (t.is_container())
    return random_value(r.one_of({"float", "seq(tensor(float))", "optional(tensor(int64))"}), {2}, r);
  Shape shape = t.shape();
  switch (r.below(6)) {
    case 0:  // another rank
      if (r.chance(50) || shape.empty())
        shape.insert_at(r.below(shape.size() + 1), r.one_of({1, 2, 0}));
      else
        shape.erase_at(r.below(shape.size()));
      return random_value(std::string(onnx_name(t.dtype())), shape, r);
    case 1:  // another extent
      if (shape.empty()) return t;
      shape[r.below(shape.size())] = r.one_of({0, 1, 2, 3, 7});
      return random_value(std::string(onnx_name(t.dtype())), shape, r);
    case 2:  // another type
      return random_value(r.one_of({"float", "double", "float16", "bfloat16", "int64", "int32", "uint8",
                                    "int4", "bool", "string", "seq(tensor(float))"}),
                          shape, r);
    case 3:  // no elements
      return Tensor::zeros(t.dtype(), Shape{0});
    default: {  // some other values
      if (t.numel() == 0 || t.dtype() == DType::kString || is_complex(t.dtype()) || is_packed(t.dtype()))
        return t;
      if (t.dtype() == DType::kInt64) {
        Tensor out = Tensor::from<int64_t>(shape, t.span<int64_t>());
        for (size_t n = 1 + r.below(2); n > 0; --n)
          out.mutable_data<int64_t>()[r.below(static_cast<size_t>(t.numel()))] = random_integer(r);
        return out;
      }
      return random_value(std::string(onnx_name(t.dtype())), shape, r);
    }
  }
}

void mutate_list(std::vector<int64_t>& list, Random& r) {
  if (list.empty() || r.chance(20)) {
    list.push_back(random_integer(r));
  } else if (r.chance(15)) {
    list.pop_back();
  } else {
    list[r.below(list.size())] = random_integer(r);
  }
}

void mutate_attribute(Attribute& a, Random& r) {
  if (auto* list = std::get_if<std::vector<int64_t>>(&a.data); list != nullptr && r.chance(90)) {
    mutate_list(*list, r);
  } else if (auto* t = std::get_if<UnalignedTensor>(&a.data); t != nullptr && r.chance(90)) {
    *t = mutated_tensor(t->aligned(), r);
  } else if (std::holds_alternative<int64_t>(a.data)) {
    a.data = random_integer(r);
  } else if (std::holds_alternative<float>(a.data)) {
    a.data = random_attribute("float", r);
  } else if (std::holds_alternative<std::string>(a.data)) {
    a.data = random_attribute("string", r);
  } else if (std::holds_alternative<std::vector<float>>(a.data)) {
    a.data = random_attribute("floats", r);
  } else if (std::holds_alternative<std::vector<std::string>>(a.data)) {
    a.data = random_attribute("strings", r);
  }
}

void mutate_arity(Node& n, Random& r) {
  if (!n.inputs().empty() && r.chance(50)) {
    n.set_input(r.below(n.inputs().size()), nullptr);
  } else if (!n.inputs().empty() && r.chance(50)) {
    n.set_input(r.below(n.inputs().size() + 1), n.input(r.below(n.inputs().size())));
  } else if (!n.attributes.empty()) {
    n.attributes.erase(n.attributes.begin() + static_cast<std::ptrdiff_t>(r.below(n.attributes.size())));
  }
}

void mutate_node(Node& n, Random& r) {
  if (!n.attributes.empty() && r.chance(60)) {
    Attribute& a = n.attributes[r.below(n.attributes.size())];
    if (auto* sub = std::get_if<std::shared_ptr<Graph>>(&a.data); sub != nullptr && !(*sub)->nodes().empty())
      return mutate_node(*(*sub)->nodes()[r.below((*sub)->nodes().size())], r);
    mutate_attribute(a, r);
    return;
  }
  Value* v = n.inputs().empty() ? nullptr : n.input(r.below(n.inputs().size()));
  if (v != nullptr && v->tensor().defined() && !v->tensor().is_container() && r.chance(70)) {
    Tensor t = mutated_tensor(v->tensor().aligned(), r);
    if (!t.is_container()) v->set_tensor(std::move(t));
    return;
  }
  mutate_arity(n, r);
}

void forget(Graph& g) {
  for (const auto& v : g.values())
    if (v->producer() != nullptr) v->type = {};
  for (const auto& n : g.nodes())
    for (Attribute& a : n->attributes)
      if (auto* sub = std::get_if<std::shared_ptr<Graph>>(&a.data)) {
        for (Value* v : (*sub)->inputs) v->type = {};  // values that flow into a body may be mutated
        forget(**sub);
      }
}

}  // namespace

Case load_case(const std::string& folder) {
  Case c{.model = load_model(folder + "/model.onnx"), .feed = {}};
  std::vector<Type> types;
  for (const Value* v : c.model->graph->inputs) types.push_back(v->type);
  c.feed = load_conformance_values(conformance_data_sets(folder)[0], "input", types);
  return c;
}

void mutate(Case& c, Random& r) {
  Graph& g = *c.model->graph;
  if (!c.feed.empty() && r.chance(45)) {
    const size_t i = r.below(c.feed.size());
    c.feed[i] = mutated_tensor(c.feed[i], r);
    g.inputs[i]->type = type_of(c.feed[i]);
  } else if (!g.nodes().empty()) {
    mutate_node(*g.nodes()[r.below(g.nodes().size())], r);
  }
}

namespace {

/// Of a sequence of tensors that are alike: what they are, without shapes. Unknown otherwise.
Type type_of_elements(const Tensor& t) {
  if (t.dtype() != DType::kSequence || t.elements().empty()) return {};
  const DType dtype = t.elements().front().dtype();
  for (const Tensor& e : t.elements())
    if (e.is_container() || e.dtype() != dtype) return {};
  return sequence_of(Type::tensor(dtype));
}

bool has_loop(const Graph& g) {
  for (const auto& n : g.nodes()) {
    if (n->op_type == "Loop") return true;
    for (const Attribute& a : n->attributes)
      if (const auto* sub = std::get_if<std::shared_ptr<Graph>>(&a.data); sub != nullptr && has_loop(**sub))
        return true;
  }
  return false;
}

}  // namespace

bool has_loop(const Case& c) { return has_loop(*c.model->graph); }

void tame_loops(Case& c) {
  for (Tensor& t : c.feed) {
    if (!t.defined() || t.is_container() || t.numel() != 1 || is_packed(t.dtype()) ||
        !(is_float(t.dtype()) || is_integer(t.dtype())))
      continue;
    const double value = to_float64(t).data<double>()[0];
    const bool is_tame = value == 0 || (std::fabs(value) >= 0.25 && std::fabs(value) <= 1000);
    if (!is_tame) t = convert(Tensor::from<double>(t.shape(), std::vector<double>{3}), t.dtype());
  }
}

void forget_types(Case& c, bool inputs_too) {
  forget(*c.model->graph);
  const std::vector<Value*>& inputs = c.model->graph->inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]->type.is_tensor() && i < c.feed.size())
      inputs[i]->type = type_of_elements(c.feed[i]);  // which may have changed in any way
    else if (inputs_too)
      inputs[i]->type = {};
}

}  // namespace assay::fuzz
