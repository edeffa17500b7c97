#include "planted_faults.h"

#include <algorithm>
#include <cmath>

#include "graph/read.h"
#include "ops/op_set.h"
#include "tensor/convert.h"
#include "transform/quantize.h"

namespace assay::planted {
namespace {

bool is_product(const Node& n) { return is_op(n, "Conv") || is_op(n, "MatMul") || is_op(n, "Gemm"); }

/// The node of this operator that quantize() puts before a product; null: there is none.
Node* producer_of(const Node& n, size_t input, const char* op) {
  Node* p = n.input(input) == nullptr ? nullptr : n.input(input)->producer();
  return p != nullptr && is_op(*p, op) ? p : nullptr;
}

Node* node_of(Model& model, const std::string& output) {
  const Value* v = model.graph->find_value(output);
  return v == nullptr ? nullptr : v->producer();
}

/// The DequantizeLinear of a product's input in the network in 8 bits.
Node* dequantizer(Model& model, const std::string& product, size_t input) {
  const Node* n = node_of(model, product);
  return n == nullptr ? nullptr : producer_of(*n, input, "DequantizeLinear");
}

void set_scale(Value& scale, const std::function<void(std::span<float>)>& change) {
  Tensor changed = convert(scale.tensor().aligned(), DType::kFloat64);
  changed = convert(changed, DType::kFloat32);
  change(changed.mutable_span<float>());
  scale.set_tensor(changed);
}

/// Rounding before the node and rounding after it are not the same.
bool does_not_commute(const Node* n) {
  static const std::set<std::string> kOthers = {"Softmax",
                                                "Gelu",
                                                "Sigmoid",
                                                "Tanh",
                                                "Erf",
                                                "HardSwish",
                                                "HardSigmoid",
                                                "Mul",
                                                "Add",
                                                "Div",
                                                "Exp",
                                                "Elu",
                                                "Sqrt",
                                                "Sub",
                                                "Swish",
                                                "LayerNormalization",
                                                "BatchNormalization",
                                                "GlobalAveragePool",
                                                "AveragePool",
                                                "InstanceNormalization",
                                                "ReduceMean"};
  return n != nullptr && n->domain.empty() && kOthers.contains(n->op_type) && n->outputs().size() == 1;
}

/// Rounds input 0 of a node to 8 bits or fewer.
void quantize_input(Model& model, Node& n, float step) {
  Graph& g = *model.graph;
  Value* x = n.input(0);
  Value* s = g.add_constant(g.unique_name("planted/scale"), Tensor::scalar<float>(step));
  Value* z = g.add_constant(g.unique_name("planted/zero"), Tensor::zeros(DType::kInt8, Shape{}));
  Value* q = g.add_value(g.unique_name("planted/levels"), Type{x->type});
  q->type.dtype = DType::kInt8;
  Value* d = g.add_value(g.unique_name("planted/rounded"), Type{x->type});
  g.insert_node(&n, "QuantizeLinear", {x, s, z}, {q});
  g.insert_node(&n, "DequantizeLinear", {q, s, z}, {d});
  for (size_t i = 0; i < n.inputs().size(); ++i)
    if (n.input(i) == x) n.set_input(i, d);
}

void round_input(Model& model, Node& n, DType dtype) {
  Graph& g = *model.graph;
  Value* x = n.input(0);
  Value* narrow = g.add_value(g.unique_name("planted/narrow"), Type{x->type});
  narrow->type.dtype = dtype;
  Value* wide = g.add_value(g.unique_name("planted/wide"), Type{x->type});
  g.insert_node(&n, "Cast", {x}, {narrow}, {{"to", static_cast<int64_t>(dtype)}});
  g.insert_node(&n, "Cast", {narrow}, {wide}, {{"to", static_cast<int64_t>(DType::kFloat32)}});
  for (size_t i = 0; i < n.inputs().size(); ++i)
    if (n.input(i) == x) n.set_input(i, wide);
}

void clip_input(Model& model, Node& n, float most) {
  Graph& g = *model.graph;
  Value* x = n.input(0);
  Value* low = g.add_constant(g.unique_name("planted/low"), Tensor::scalar<float>(-most));
  Value* high = g.add_constant(g.unique_name("planted/high"), Tensor::scalar<float>(most));
  Value* cut = g.add_value(g.unique_name("planted/cut"), Type{x->type});
  g.insert_node(&n, "Clip", {x, low, high}, {cut});
  n.set_input(0, cut);
}

/// Other weights of a product, its own: others may read the same constant.
bool change_weights(Model& model, Node& n,
                    const std::function<void(std::span<float>, const Shape&)>& change) {
  const Value* w = n.input(1);
  if (w == nullptr || !w->is_constant() || !w->tensor().defined() || w->tensor().dtype() != DType::kFloat32)
    return false;
  Tensor other = convert(convert(w->tensor().aligned(), DType::kFloat64), DType::kFloat32);
  change(other.mutable_span<float>(), w->tensor().shape());
  n.set_input(1, model.graph->add_constant(model.graph->unique_name("planted/weights"), other));
  return true;
}

size_t axis_of(const Node& n, const Shape& w) {
  if (is_op(n, "Conv") || (is_op(n, "Gemm") && int_attribute(n, "transB", 0) != 0)) return 0;
  return w.size() - 1;
}

/// The channel of the largest weight: one that is seen.
void scale_channel(const Node& n, std::span<float> w, const Shape& shape, float factor) {
  const size_t axis = axis_of(n, shape);
  const int64_t inner = shape.numel(axis + 1, shape.size()), count = shape[axis];
  const auto channel = [&](size_t i) { return static_cast<int64_t>(i) / inner % count; };
  const auto most =
      static_cast<size_t>(std::ranges::max_element(w, {}, [](float x) { return std::abs(x); }) - w.begin());
  for (size_t i = 0; i < w.size(); ++i)
    if (channel(i) == channel(most)) w[i] *= factor;
}

/// A product in 8 bits: its result, its input, and all results that are computed from that input.
struct Product {
  std::string output, input, node;
  std::set<std::string> readers;
  size_t channels = 0;
};

std::vector<Product> products_of(const Network& net, const Model& in_8_bits) {
  std::vector<Product> found;
  for (const auto& n : in_8_bits.graph->nodes()) {
    const Node* d = is_product(*n) ? producer_of(*n, 0, "DequantizeLinear") : nullptr;
    const Node* w = is_product(*n) ? producer_of(*n, 1, "DequantizeLinear") : nullptr;
    const Node* q = d == nullptr ? nullptr : producer_of(*d, 0, "QuantizeLinear");
    if (q == nullptr || w == nullptr || !net.values.contains(n->output(0)->name())) continue;
    Product p{.output = n->output(0)->name(), .input = q->input(0)->name(), .node = n->label()};
    // An input that is all zeros, or a product of nothing but zeros, shows no fault.
    if (net.scales.find(p.input) == net.scales.end() || net.step_of(p.output) <= 1e-6F / 127) continue;
    for (const Node* reader : d->output(0)->consumers()) p.readers.insert(reader->output(0)->name());
    p.channels = static_cast<size_t>(w->input(1)->tensor().numel());
    found.push_back(std::move(p));
  }
  return found;
}

/// The places of a fault in the rounding of an input: in the network in 8 bits its parts are values, too.
std::set<std::string> places_of_input(const Product& p) {
  std::set<std::string> places = p.readers;
  places.insert(p.input + "/quantized");
  places.insert(p.input + "/dequantized");
  return places;
}

Fault scaled(const Product& p, std::string kind, std::function<float(float, const Scales&)> change) {
  Fault f{.kind = std::move(kind),
          .node = p.node,
          .places = places_of_input(p),
          .touched = p.input,
          .plant = {},
          .calibrate = {}};
  f.calibrate = [p, change](Scales& scales) {
    const float before = scales.at(p.input), after = change(before, scales);
    scales[p.input] = after;
    return before != after;
  };
  return f;
}

/// The same in the network in 8 bits.
void plant_scale(Fault& f, const Product& p, const Scales& scales) {
  f.plant = [p, scales, calibrate = f.calibrate](Model& m) {
    Scales changed = scales;
    Node* d = dequantizer(m, p.output, 0);
    if (d == nullptr || !calibrate(changed)) return false;
    set_scale(*d->input(1), [&](std::span<float> s) { s[0] = changed.at(p.input); });
    return true;
  };
}

Fault in_model(const Product& p, std::string kind, std::set<std::string> places, std::string touched,
               std::function<bool(Model&)> plant) {
  return {.kind = std::move(kind),
          .node = p.node,
          .places = std::move(places),
          .touched = std::move(touched),
          .plant = std::move(plant),
          .calibrate = {}};
}

bool change_weight_scale(Model& m, const Product& p, const std::function<void(std::span<float>)>& change) {
  Node* d = dequantizer(m, p.output, 1);
  if (d == nullptr) return false;
  Graph& g = *m.graph;
  Value* own = g.add_constant(g.unique_name("planted/scale"), d->input(1)->tensor());
  set_scale(*own, change);
  d->set_input(1, own);
  return true;
}

std::set<std::string> places_of_weights(const Product& p, Model& in_8_bits) {
  std::set<std::string> places{p.output};
  if (const Node* d = dequantizer(in_8_bits, p.output, 1)) {
    places.insert(d->output(0)->name());
    for (const Node* reader : d->output(0)->consumers()) places.insert(reader->output(0)->name());
  }
  return places;
}

/// In turn, so that faults of each kind are at other nodes of a network.
template <typename T>
const T& in_turn(const std::vector<T>& from, size_t i) {
  return from[(i * std::max<size_t>(1, from.size() / 4) + i / 4) % from.size()];
}

}  // namespace

std::vector<Fault> faults_in_8_bits(const Network& net, Model& in_8_bits) {
  const std::vector<Product> products = products_of(net, in_8_bits);
  std::vector<Fault> faults;
  if (products.empty()) return faults;
  size_t turn = 0;
  const auto next = [&]() -> const Product& { return in_turn(products, turn++); };
  const auto add_scaled = [&](const char* kind, const std::function<float(float, const Scales&)>& change) {
    const Product& p = next();
    faults.push_back(scaled(p, kind, change));
    plant_scale(faults.back(), p, net.scales);
  };
  const auto times = [](float factor) { return [=](float s, const Scales&) { return s * factor; }; };
  add_scaled("scale x2", times(2));
  add_scaled("scale x0.5", times(0.5F));
  add_scaled("scale x1.1", times(1.1F));
  add_scaled("saturated: scale x0.05", times(0.05F));
  add_scaled("limit: scale x1.001", times(1.001F));
  add_scaled("scale of another tensor", [products, own = turn](float s, const Scales& scales) {
    for (size_t i = 0; i < products.size(); ++i) {
      const float other = scales.at(in_turn(products, own + i).input);
      if (std::abs(other / s - 1) > 0.02F && other > 0) return other;
    }
    return s;
  });
  const auto add = [&](const char* kind, const Product& p, bool of_weights, const auto& plant) {
    faults.push_back(in_model(p, kind, of_weights ? places_of_weights(p, in_8_bits) : places_of_input(p),
                              of_weights ? p.output : p.input, [p, plant](Model& m) { return plant(m, p); }));
  };
  for (const float factor : {1.5F, 1.05F})
    add(factor > 1.1F ? "weights' scale of a channel x1.5" : "weights' scale of a channel x1.05", next(),
        true, [factor](Model& m, const Product& p) {
          return change_weight_scale(m, p,
                                     [&](std::span<float> s) { *std::ranges::max_element(s) *= factor; });
        });
  for (const int points : {1, 5})
    add(points == 1 ? "zero point off by 1" : "zero point off by 5", next(), false,
        [points](Model& m, const Product& p) {
          const Node* d = dequantizer(m, p.output, 0);
          Node* q = d == nullptr ? nullptr : producer_of(*d, 0, "QuantizeLinear");
          if (q == nullptr) return false;
          const Tensor own = convert(q->input(2)->tensor().aligned(), DType::kInt32);
          const int32_t other = *own.data<int32_t>() + points;
          const Tensor moved = convert(Tensor::scalar<int32_t>(other), q->input(2)->tensor().dtype());
          q->set_input(2, m.graph->add_constant(m.graph->unique_name("planted/zero"), moved));
          return true;
        });
  // Those of another layer with as many channels, else those of the next channels.
  const Product& p = next();
  const auto twin = std::ranges::find_if(products, [&](const Product& o) {
    return o.output != p.output && o.channels == p.channels && !p.readers.contains(o.output);
  });
  const std::string from = twin == products.end() ? p.output : twin->output;
  add("weights' scales of another layer", p, true, [from](Model& m, const Product& own) {
    const Node* other = dequantizer(m, from, 1);
    if (other == nullptr) return false;
    const Tensor scales = other->input(1)->tensor().aligned();
    return change_weight_scale(m, own,
                               [&](std::span<float> s) {
                                 std::ranges::copy(scales.span<float>(), s.begin());
                                 if (from == own.output) std::ranges::rotate(s, s.begin() + 1);
                               }) &&
           scales.numel() > 1;
  });
  // Rounded before the function instead of behind it.
  for (size_t i = 0; i < products.size(); ++i) {
    const Product& moved = in_turn(products, turn + i);
    const Value* y = in_8_bits.graph->find_value(moved.input);
    if (!does_not_commute(y->producer()) || !net.has_floats(y->producer()->input(0)) ||
        y->producer()->input(0)->is_constant())
      continue;
    std::set<std::string> places = places_of_input(moved);
    places.insert(moved.input);
    const float step = net.step_of(y->producer()->input(0)->name());
    faults.push_back(in_model(moved, "rounded before a function instead of after it", places, moved.input,
                              [moved, step](Model& m) {
                                Node* d = dequantizer(m, moved.output, 0);
                                Node* f = node_of(m, moved.input);
                                if (d == nullptr || f == nullptr) return false;
                                quantize_input(m, *f, step);
                                Value* y = m.graph->find_value(moved.input);
                                for (Node* c : std::vector<Node*>(d->output(0)->consumers()))
                                  for (size_t k = 0; k < c->inputs().size(); ++k)
                                    if (c->input(k) == d->output(0)) c->set_input(k, y);
                                return true;
                              }));
    break;
  }
  return faults;
}

std::vector<Fault> faults_in_floats(const Network& net, DType dtype) {
  std::vector<Product> products;
  std::vector<Product> functions;
  for (const auto& n : net.model->graph->nodes()) {
    if (n->outputs().size() != 1 || !net.has_floats(n->input(0)) || !net.has_floats(n->output(0))) continue;
    const Product p{.output = n->output(0)->name(),
                    .input = n->input(0)->name(),
                    .node = n->label(),
                    .readers = {n->output(0)->name()}};
    // Fewer numbers do not show how large their errors usually are.
    if (net.step_of(p.output) <= 1e-6F / 127 || net.values.at(p.output).numel() < 64) continue;
    const Value* w = n->input(1);
    if (is_product(*n) && w != nullptr && w->is_constant() && w->tensor().rank() >= 2) products.push_back(p);
    if (does_not_commute(n.get()) && !n->input(0)->is_constant() && !is_op(*n, "Mul") && !is_op(*n, "Add") &&
        !is_op(*n, "Div") && !is_op(*n, "Sub"))
      functions.push_back(p);
  }
  std::vector<Fault> faults;
  size_t turn = 0;
  const auto add = [&](const std::vector<Product>& from, const std::string& kind,
                       const std::function<bool(Model&, Node&, const Product&)>& plant) {
    if (from.empty()) return;
    const Product& p = in_turn(from, turn++);
    faults.push_back(in_model(p, kind, p.readers, p.output, [p, plant](Model& m) {
      Node* n = node_of(m, p.output);
      return n != nullptr && plant(m, *n, p);
    }));
  };
  const auto channel = [](float factor) {
    return [factor](Model& m, Node& n, const Product&) {
      return change_weights(
          m, n, [&](std::span<float> w, const Shape& shape) { scale_channel(n, w, shape, factor); });
    };
  };
  const auto whole = [](float factor) {
    return [factor](Model& m, Node& n, const Product&) {
      return change_weights(m, n, [&](std::span<float> w, const Shape&) {
        for (float& x : w) x *= factor;
      });
    };
  };
  add(products, "weights of a channel x1.25", channel(1.25F));
  add(products, "weights x2", whole(2));
  add(products, "weights x0.5", whole(0.5F));
  add(products, "weights x1.1", whole(1.1F));
  add(products, "saturated at a quarter", [&net](Model& m, Node& n, const Product& p) {
    clip_input(m, n, 127 * net.step_of(p.input) / 4);
    return true;
  });
  // A step of 8 bits is about as coarse as bfloat16: there 5 bits are another format.
  const bool half = dtype == DType::kFloat16;
  const auto in_levels = [&net](float step) {
    return [&net, step](Model& m, Node& n, const Product& p) {
      quantize_input(m, n, step * net.step_of(p.input));
      return true;
    };
  };
  add(products, half ? "computed in int8" : "computed in 5 bits", in_levels(half ? 1 : 127.0F / 15));
  if (half)
    add(products, "computed in bfloat16", [](Model& m, Node& n, const Product&) {
      round_input(m, n, DType::kBFloat16);
      return true;
    });
  add(products, "channels' weights one further", [](Model& m, Node& n, const Product&) {
    return change_weights(m, n, [&](std::span<float> w, const Shape& shape) {
      const auto by = static_cast<std::ptrdiff_t>(shape.numel(axis_of(n, shape) + 1, shape.size()));
      std::ranges::rotate(w, w.begin() + by);
    });
  });
  add(functions, half ? "rounded to int8 before it" : "rounded to 5 bits before it",
      in_levels(half ? 1 : 127.0F / 15));
  if (!half) add(products, "limit: computed in int8", in_levels(1));
  if (!half) add(functions, "limit: rounded to int8 before it", in_levels(1));
  add(products, half ? "limit: weights x1.0005" : "limit: weights x1.004", whole(half ? 1.0005F : 1.004F));
  return faults;
}

}  // namespace assay::planted
