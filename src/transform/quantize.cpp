#include "transform/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "graph/distinct_names.h"
#include "graph/node_order.h"
#include "kernels/int8/int8_product.h"
#include "naming/origins.h"
#include "transform/kept_values.h"
#include "transform/quantizable.h"
#include "transform/value_range.h"

namespace assay {
namespace {

constexpr float kLargest = 127;
/// The zero of symmetric unsigned values.
constexpr int kMiddle = 128;
/// The output-channel axis of constant weights, and the number of summed products.
struct Weights {
  size_t axis = 0;
  int64_t depth = 0;
};

std::string read_conv(const Node& n, const Shape& w, Weights& weights) {
  if (w.rank() < 3 || w.rank() > 5) return "its weights have no one to three spatial axes";
  const int64_t groups = int_attribute(n, "group", 1);
  const bool is_depthwise = groups == w[0] && w[1] == 1;
  if (groups > 1 && !is_depthwise && std::min(w[0] / groups, w[1]) < kernels::kInt8Columns)
    return fmt::format("its groups have fewer than {} channels", kernels::kInt8Columns);
  weights = {.axis = 0, .depth = w.numel(1, w.size())};
  return {};
}

std::string read_matrix(const Node& n, const Shape& w, Weights& weights) {
  if (w.rank() != 2) return "its weights are no matrix";
  weights = {.axis = 1, .depth = w[0]};
  if (is_op(n, "MatMul")) return rank_of(n.input(0)) == 1 ? "its input is a vector" : std::string();
  if (int_attribute(n, "transA", 0) != 0) return "its input is transposed";
  if (float_attribute(n, "alpha", 1) != 1) return "it has a factor (alpha)";
  if (int_attribute(n, "transB", 0) != 0) weights = {.axis = 0, .depth = w[1]};
  const int64_t columns = w[weights.axis];
  const Value* c = n.input(2);
  if (c == nullptr) return {};
  const UnalignedTensor* bias = data_of(c);
  if (bias == nullptr || bias->numel() != columns || bias->rank() == 0 || bias->shape().back() != columns)
    return "what it adds is not one constant for each column";
  return {};
}

/// Weights as integers, with their scales.
struct Integers {
  Tensor stored, scale;
};

/// Nothing for infinities and NaNs.
std::optional<Integers> to_integers(const Tensor& w, size_t axis) {
  const Shape& shape = w.shape();
  const int64_t count = shape[axis], inner = shape.numel(axis + 1, shape.size());
  const std::span<const float> numbers = w.span<float>();
  Integers result{.stored = Tensor::allocate(DType::kInt8, shape),
                  .scale = Tensor::zeros(DType::kFloat32, Shape{count})};
  float* scale = result.scale.mutable_data<float>();
  const auto channel = [&](size_t i) { return static_cast<int64_t>(i) / inner % count; };
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return std::nullopt;
    scale[channel(i)] = std::max(scale[channel(i)], std::fabs(numbers[i]));
  }
  // Channels of zeros, or of numbers too small for a normal scale, may have any scale.
  for (int64_t c = 0; c < count; ++c)
    scale[c] = std::max(scale[c] / kLargest, std::numeric_limits<float>::min());
  auto* stored = result.stored.mutable_data<int8_t>();
  for (size_t i = 0; i < numbers.size(); ++i)
    stored[i] =
        static_cast<int8_t>(std::clamp(std::nearbyint(numbers[i] / scale[channel(i)]), -kLargest, kLargest));
  return result;
}

class Quantizer {
 public:
  Quantizer(Model& model, const QuantizeOptions& options)
      : model_(model), graph_(*model.graph), options_(options), order_(graph_) {}

  QuantizeReport run() {
    std::vector<Node*> nodes;
    std::vector<const Node*> all;
    for (const auto& n : graph_.nodes()) {
      position_[n.get()] = all.size();
      all.push_back(n.get());
      if (is_quantizable(*n)) nodes.push_back(n.get());
    }
    const FunctionSources sources(model_, all);
    ValueRanges ranges(model_, sources);
    for (const Node* n : all)
      for (const Value* v : n->outputs())
        if (v != nullptr && dtype_of(v) == DType::kFloat32)
          least_[v] =
              ranges.of(*KeptValues::scaled(v, options_.scales, KeptValues::Through::kSplitAndPool)).low;
    for (Node* n : nodes) visit(*n);
    keep_values(all);
    order_.commit();
    return std::move(report_);
  }

 private:
  void keep(const Node& n, std::string reason) { report_.kept.push_back({n.label(), std::move(reason)}); }

  void visit(Node& n) {
    Value *x = n.input(0), *w = n.input(1);
    if (x == nullptr || w == nullptr || dtype_of(w) != DType::kFloat32) return;
    const UnalignedTensor* data = constant_of(w);
    if (data == nullptr || !is_fixed(w, model_.ir_version) || x->is_constant()) return;
    if (is_wanted_in_float(n)) return keep(n, "it was to stay in float32");
    if (is_held_in_floats(n)) return keep(n, fmt::format("it is held in {}", held_type(n)));
    Weights weights;
    std::string reason =
        is_op(n, "Conv") ? read_conv(n, data->shape(), weights) : read_matrix(n, data->shape(), weights);
    if (reason.empty() && data->numel() == 0) reason = "its weights are empty";
    if (reason.empty() && weights.depth > kernels::kMaxInt8Sum) reason = "its sums may exceed 32 bits";
    if (!reason.empty()) return keep(n, std::move(reason));
    if (!options_.scales.contains(
            KeptValues::scaled(x, options_.scales, KeptValues::Through::kSplit)->name())) {
      if (missed_.insert(x).second) report_.without_scale.push_back(x->name());
      return;
    }
    const float scale = scale_of(x, KeptValues::Through::kSplit);
    if (scale == 0) return keep(n, "the numbers of its input gave no range");
    Value* stored = quantized_weights(n, *w, *data, weights.axis);
    if (stored == nullptr) return keep(n, "its weights hold infinity or NaN");
    n.set_input(1, stored);
    n.set_input(0, quantized(n, *x, scale));
    ++report_.quantized;
  }

  bool is_wanted_in_float(const Node& n) const {
    const std::vector<std::string> origins = origins_of(n);
    return std::any_of(origins.begin(), origins.end(),
                       [&](const std::string& name) { return options_.float_nodes.contains(name); });
  }
  bool stays_float(const Node& n) const { return is_held_in_floats(n) || is_wanted_in_float(n); }

  /// 0: it has none.
  float scale_of(const Value* v, KeptValues::Through through) const {
    const auto it = options_.scales.find(KeptValues::scaled(v, options_.scales, through)->name());
    return it == options_.scales.end() ? 0 : it->second;
  }

  /// Values between the products that are read by them alone are kept in 8 bits.
  void keep_values(const std::vector<const Node*>& nodes) {
    // A part of a value no longer comes from it once it reads 8 bits.
    std::unordered_map<const Value*, float> scales;
    for (const Node* n : nodes)
      for (const Value* v : n->outputs())
        if (v != nullptr) scales[v] = scale_of(v, KeptValues::Through::kSplitAndPool);
    const KeptValues kept(
        model_, nodes,
        {.has_scale =
             [&](const Value* v) { return scales.at(v) != 0 && held_outputs(*v->producer()).empty(); },
         .stays_float = [&](const Node& n) { return stays_float(n); },
         .reads_8_bits = [](const Node& c, const Value*) { return is_op(c, "QuantizeLinear"); }});
    for (const Node* n : nodes)
      for (Value* v : n->outputs())
        if (v != nullptr && kept.contains(v) && !is_inside(*v, kept)) read_quantized(*v, scales.at(v));
  }

  void read_quantized(Value& v, float scale) {
    const std::vector<Node*> readers = v.consumers();
    Value* levels = quantized(*v.producer(), v, scale);
    for (Node* c : readers)
      for (size_t i = 0; position_.contains(c) && i < c->inputs().size(); ++i)
        if (c->input(i) == &v) c->set_input(i, levels);
  }

  /// A product that reads 8 bits.
  static bool is_quantized_product(const Node& n) {
    return is_quantizable(n) && n.input(0)->producer() != nullptr &&
           is_op(*n.input(0)->producer(), "DequantizeLinear");
  }

  /// Whether a step makes and uses the value, so that it is never in memory: what a product's results become
  /// before they are stored (rounding those in between would cost 1 to 2 dB where every product has a SiLU
  /// behind it), and what is computed on the way through a table.
  bool is_inside(const Value& v, const KeptValues& kept) const {
    if (activations_.contains(&v)) return false;
    const Node& made = *v.producer();
    const bool is_function = std::all_of(v.consumers().begin(), v.consumers().end(), [&](const Node* c) {
      return c->outputs().size() == 1 && kept.source(c->output(0)) == kept.source(&v);
    });
    const bool is_product = is_quantized_product(made);
    if (is_function && kept.source(&v) != &v) return true;
    if (is_function && v.consumers().size() > 1) return is_product;
    const Node& next = *v.consumers()[0];
    if (v.consumers().size() > 1) return false;
    if (is_op(next, "Relu") || is_op(next, "Clip"))
      return is_product || is_op(made, "Add") || KeptValues::is_gate(made);
    if (is_function) return is_product;
    const Node* const first = kept.source(&v)->producer();
    const bool is_function_of_product = first != nullptr && is_quantized_product(*first);
    if (is_op(next, "Add")) return is_function_of_product && !waits_for_sum(v, next);
    return KeptValues::is_move(next, model_) && !is_op(next, "Split") &&
           (is_product || is_op(made, "Add") || kept.source(&v) != &v);
  }

  /// Of two products' results that are added up one has to be in memory: the one that is there first.
  bool waits_for_sum(const Value& v, const Node& sum) const {
    const Value* other = sum.input(sum.input(0) == &v ? 1 : 0);
    const Node* n = other->producer();
    return n != nullptr && is_quantized_product(*n) && other->consumers().size() == 1 &&
           position_.at(v.producer()) < position_.at(n);
  }

  /// Of the model's own nodes.
  const Node* first_reader(const Value& x) const {
    const Node* first = nullptr;
    for (const Node* c : x.consumers())
      if (position_.contains(c) && (first == nullptr || position_.at(c) < position_.at(first))) first = c;
    return first;
  }

  /// The value, quantized to 8 bits, before all that may read it.
  Value* quantized(const Node& user, Value& x, float scale) {
    Value*& known = activations_[&x];
    if (known != nullptr) return known;
    const auto least = least_.find(&x);
    const Quantization levels =
        options_.symmetric
            ? Quantization{.scale = scale, .zero_point = 0, .dtype = DType::kInt8}
            : quantization_within(
                  scale, least == least_.end() ? -std::numeric_limits<double>::infinity() : least->second);
    Value* s =
        graph_.add_constant(graph_.unique_name(x.name() + "/scale"), Tensor::scalar<float>(levels.scale));
    Value* z = graph_.add_constant(graph_.unique_name(x.name() + "/zero_point"),
                                   options_.symmetric
                                       ? Tensor::scalar<int8_t>(0)
                                       : Tensor::scalar<uint8_t>(static_cast<uint8_t>(levels.zero_point)));
    Type type = x.type;
    type.dtype = levels.dtype;
    Value* integers = graph_.add_value(graph_.unique_name(x.name() + "/quantized"), type);
    known = graph_.add_value(graph_.unique_name(x.name() + "/dequantized"), x.type);
    const Node* const place = first_reader(x);
    add(user, place, "QuantizeLinear", {&x, s, z}, integers, {});
    add(user, place, "DequantizeLinear", {integers, s, z}, known, {});
    return known;
  }

  /// Null for weights that cannot be stored as integers.
  Value* quantized_weights(const Node& user, Value& w, const UnalignedTensor& data, size_t axis) {
    const auto [it, is_new] = weights_.try_emplace({&w, axis}, nullptr);
    if (!is_new) return it->second;
    const auto integers = to_integers(data.aligned(), axis);
    if (!integers) return nullptr;
    Value* s = graph_.add_constant(graph_.unique_name(w.name() + "/scale"), integers->scale);
    Value* stored = graph_.add_constant(graph_.unique_name(w.name() + "/quantized"), integers->stored);
    it->second = graph_.add_value(graph_.unique_name(w.name() + "/dequantized"), w.type);
    add(user, &user, "DequantizeLinear", {stored, s}, it->second, {{"axis", static_cast<int64_t>(axis)}});
    return it->second;
  }

  /// At `place`, for the node `user`.
  void add(const Node& user, const Node* place, std::string op, std::vector<Value*> inputs, Value* output,
           AttributeList attributes) {
    Node* n =
        graph_.add_node(std::move(op), std::move(inputs), {output}, std::move(attributes), output->name());
    set_origins(*n, origins_of(user));
    set_beside(*n);
    order_.insert(place, *n);
  }

  Model& model_;
  Graph& graph_;
  const QuantizeOptions& options_;
  NodeOrder order_;
  QuantizeReport report_;
  std::unordered_map<const Value*, Value*> activations_;
  std::map<std::pair<const Value*, size_t>, Value*> weights_;
  std::unordered_set<const Value*> missed_;
  std::unordered_map<const Node*, size_t> position_;  ///< of the model's own
  std::unordered_map<const Value*, double>
      least_;  ///< the least number that the value with the scale of each may have
};

}  // namespace

bool is_quantizable(const Node& n) { return is_op(n, "Conv") || is_op(n, "Gemm") || is_op(n, "MatMul"); }

QuantizeReport quantize(Model& model, const QuantizeOptions& options) {
  require(model.opset() >= kQuantizedOpset, ErrorCode::kInvalidArgument,
          "a model of opset {} cannot be quantized: scales along an axis came with opset {}", model.opset(),
          kQuantizedOpset);
  DistinctNames names(model);
  QuantizeReport report = Quantizer(model, options).run();
  model.graph->remove_unused_values();
  names.settle(model);
  return report;
}

}  // namespace assay
