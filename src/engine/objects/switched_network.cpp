#include "engine/objects/switched_network.h"

#include <algorithm>
#include <map>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "engine/objects/calibrate.h"
#include "engine/objects/quantized_network.h"
#include "engine/objects/state.h"
#include "engine/objects/type_wishes.h"
#include "graph/clone.h"
#include "graph/node_order.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "ops/multiply_accumulates.h"
#include "ops/node_facts.h"
#include "transform/quantizable.h"

namespace assay {
namespace {

/// A product and its copy, which computes in 8 bits.
struct Twins {
  Node* exact = nullptr;
  Node* lowered = nullptr;
};

std::vector<Twins> copy_products(Model& model) {
  Graph& g = *model.graph;
  std::vector<Node*> products;
  for (const auto& n : g.nodes())
    if (is_quantizable(*n) && n->input(1) != nullptr && constant_of(n->input(1)) != nullptr)
      products.push_back(n.get());
  std::vector<Twins> twins;
  NodeOrder order(g);
  for (Node* n : products) {
    const Value* y = n->output(0);
    Value* result = g.add_value(g.unique_name(y->name() + "/int8"), y->type);
    Node* copy =
        g.add_node(n->op_type, n->inputs(), {result}, {}, g.unique_name(origins_of(*n).front() + "/int8"));
    copy->attributes = n->attributes;
    if (!held_type(*n).empty()) set_held_type(*copy, held_type(*n));
    order.insert(order.next(n), *copy);
    twins.push_back({n, copy});
  }
  order.commit();
  return twins;
}

/// The scale of the input of a quantized copy; 0: it was not quantized.
float scale_of(const Node& copy) {
  const Node* source = copy.input(0)->producer();
  if (source == nullptr || !is_op(*source, "DequantizeLinear") || copy.input(1)->producer() == nullptr)
    return 0;
  return source->input(1)->tensor().aligned().span<float>()[0];
}

/// Both ways to compute each product; those that stay in float32 have one.
std::vector<Twins> quantized_twins(Model& model, QuantizeOptions options) {
  std::vector<Twins> twins = copy_products(model);
  for (const Twins& t : twins) {
    // Those of a copy are its own name.
    const std::vector<std::string> names = origins_of(*t.exact);
    const bool is_kept = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return options.float_nodes.contains(name);
    });
    if (is_kept) options.float_nodes.insert(t.lowered->name);
  }
  for (const Twins& t : twins)
    for (const std::string& name : origins_of(*t.exact)) options.float_nodes.insert(name);
  quantize(model, options);
  std::erase_if(twins, [&](const Twins& t) {
    if (scale_of(*t.lowered) > 0) return false;
    model.graph->remove_node(t.lowered);
    return true;
  });
  return twins;
}

/// The exact network with outputs where the layers' positions say.
std::shared_ptr<Model> probed_of(const Model& both, const std::vector<Twins>& twins,
                                 std::vector<SwitchedLayer>& layers) {
  std::shared_ptr<Model> probed = clone_model(both);
  Graph& g = *probed->graph;
  g.outputs.clear();
  std::map<std::string, size_t> positions;
  const auto position_of = [&](const Value* value) {
    const auto [it, is_new] = positions.try_emplace(value->name(), g.outputs.size());
    if (!is_new) return it->second;
    Value* v = g.find_value(value->name());
    if (v->producer() == nullptr) {  // an input of the network
      Value* same = g.add_value(g.unique_name(v->name() + "/probed"), v->type);
      g.add_node("Identity", {v}, {same}, {}, same->name());
      v = same;
    }
    g.outputs.push_back(v);
    return it->second;
  };
  for (size_t i = 0; i < twins.size(); ++i) {
    layers[i].input = position_of(twins[i].exact->input(0));
    layers[i].exact = position_of(twins[i].exact->output(0));
    layers[i].lowered = position_of(twins[i].lowered->output(0));
  }
  return probed;
}

/// Chooses between the results of each product.
void add_switches(Model& model, const std::vector<Twins>& twins) {
  Graph& g = *model.graph;
  NodeOrder order(g);
  for (const Twins& t : twins) {
    Value* y = t.exact->output(0);
    Value* is_lowered =
        g.add_input(g.unique_name(t.lowered->name + "/switch"), Type::tensor(DType::kBool, Shape{}));
    Value* chosen = g.add_value(g.unique_name(y->name() + "/chosen"), y->type);
    g.replace_uses(y, chosen);
    Node* choice = g.add_node("Where", {is_lowered, t.lowered->output(0), y}, {chosen}, {}, chosen->name());
    order.insert(order.next(t.lowered), *choice);
  }
  order.commit();
}

}  // namespace

SwitchedNetwork switch_layers(const Runtime& runtime, const std::shared_ptr<const Model>& network,
                              const BuilderConfig& config) {
  const auto& state = runtime.state();
  const auto build = [&runtime](const std::shared_ptr<const Model>& wanted, const BuilderConfig& plain) {
    return Builder(runtime).build_engine(wanted, plain);
  };
  require(!is_quantized(*network), ErrorCode::kInvalidArgument,
          "the network defines its own quantization: nothing of it can be held back");
  SwitchedNetwork made;
  made.quantization = quantization_for(calibration_job(build, *state, network, config), config.float_nodes);
  require(made.quantization != nullptr, ErrorCode::kInvalidArgument,
          "there is no calibrator to quantize the network with");
  const engine::TypeRules types =
      type_rules_of(*network, config, [&](const std::string& sentence) { state->warn(sentence); });
  made.switched = folded_network(*network, types, state->options.passes);
  Model& model = *made.switched;
  const std::vector<Twins> twins = quantized_twins(model, *made.quantization);
  require(!twins.empty(), ErrorCode::kInvalidArgument, "no product of the network is computed in 8 bits");
  infer_shapes(model);
  for (const Twins& t : twins)
    made.layers.push_back(
        {.name = origins_of(*t.exact).front(),
         .op_type = t.exact->op_type,
         .scale = scale_of(*t.lowered),
         .multiply_adds = multiply_accumulates(*t.exact, find_op(*t.exact, model)).number().value_or(0)});
  remove_held_types(model);
  made.probed = probed_of(model, twins, made.layers);
  add_switches(model, twins);
  return made;
}

}  // namespace assay
