#include "transform/io_types.h"

#include <algorithm>
#include <map>

#include "base/name_pattern.h"
#include "graph/uses.h"
#include "passes/raise_opset.h"

namespace assay {
namespace {

constexpr int64_t kBfloat16Opset = 13;

bool is_plain(DType t) { return is_float(t) || is_integer(t) || t == DType::kBool; }

std::vector<Value*> interface_of(Graph& g) {
  std::vector<Value*> all = g.inputs;
  for (Value* v : g.outputs)
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  return all;
}

void check(const Value& v, DType to) {
  require(v.type.is_tensor() && is_plain(v.type.dtype) && is_plain(to), ErrorCode::kUnsupported,
          "'{}' is of type {}, and no Cast leads from there to {}", v.name(), v.type.str(), dtype_name(to));
}

/// `v` keeps its name; the network reads or computes a value of the old type in its place.
void change_input(Graph& g, Value& v, DType to) {
  Value* inner = g.add_value(g.unique_name(v.name() + "/inner"), v.type);
  replace_inputs(v, inner);
  const auto type = static_cast<int64_t>(v.type.dtype);
  v.type.dtype = to;
  const Node* const first = g.nodes().empty() ? nullptr : g.nodes().front().get();
  g.insert_node(first, "Cast", {&v}, {inner}, {{"to", type}}, v.name() + "/cast");
}

void change_output(Graph& g, Value& v, DType to) {
  Node& producer = *v.producer();
  const auto slot = static_cast<size_t>(std::find(producer.outputs().begin(), producer.outputs().end(), &v) -
                                        producer.outputs().begin());
  Value* inner = g.add_value(g.unique_name(v.name() + "/inner"), v.type);
  producer.set_output(slot, inner);
  replace_inputs(v, inner);
  v.type.dtype = to;
  g.add_node("Cast", {inner}, {&v}, {{"to", static_cast<int64_t>(to)}}, v.name() + "/cast");
}

}  // namespace

void set_io_types(Model& model, const std::vector<IoType>& types, std::vector<std::string>* unknown) {
  Graph& g = *model.graph;
  const auto is_bfloat16 = [](const IoType& t) { return t.dtype == DType::kBFloat16; };
  if (std::any_of(types.begin(), types.end(), is_bfloat16)) raise_opset(model, kBfloat16Opset);
  std::map<const Value*, std::pair<bool, DType>> wanted;  // true: by its name
  const std::vector<Value*> all = interface_of(g);
  for (const IoType& t : types) {
    const NamePattern pattern(t.name);
    bool is_known = false;
    for (Value* v : all) {
      const bool is_name = pattern.is_name(v->name());
      if (!is_name && !(pattern.matches(v->name()) && is_float(v->type.dtype))) continue;
      is_known = true;
      auto& entry = wanted[v];
      if (is_name || !entry.first) entry = {is_name, t.dtype};
    }
    if (is_known) continue;
    std::vector<std::string> names;
    for (const Value* v : all) names.push_back(v->name());
    Error e(ErrorCode::kNotFound,
            fmt::format("the model has no input or output '{}' to give a type", t.name));
    e.set_remedy(spec_hint(t.name, names));
    if (unknown == nullptr) throw e;
    unknown->emplace_back(e.what());
  }
  for (Value* v : all) {
    const auto it = wanted.find(v);
    if (it == wanted.end() || it->second.second == v->type.dtype) continue;
    check(*v, it->second.second);
    if (std::find(g.inputs.begin(), g.inputs.end(), v) != g.inputs.end())
      change_input(g, *v, it->second.second);
    else if (v->producer() != nullptr)
      change_output(g, *v, it->second.second);
  }
}

}  // namespace assay
