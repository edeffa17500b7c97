#include "transform/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "graph/distinct_names.h"
#include "graph/node_order.h"
#include "kernels/int8/int8_product.h"
#include "naming/origins.h"
#include "transform/quantizable.h"

namespace assay {
namespace {

constexpr float kLargest = 127;

/// The output-channel axis of constant weights, and the number of summed products.
struct Weights {
  size_t axis = 0;
  int64_t depth = 0;
};

std::string read_conv(const Node& n, const Shape& w, Weights& weights) {
  if (w.rank() < 3 || w.rank() > 5) return "its weights have no one to three spatial axes";
  const int64_t groups = int_attribute(n, "group", 1);
  if (groups != 1 && (groups != w[0] || w[1] != 1)) return "it has groups of several channels";
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
    for (const auto& n : graph_.nodes())
      if (is_quantizable(*n)) nodes.push_back(n.get());
    for (Node* n : nodes) visit(*n);
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
    const std::vector<std::string> origins = origins_of(n);
    if (std::any_of(origins.begin(), origins.end(),
                    [&](const std::string& name) { return options_.float_nodes.contains(name); }))
      return keep(n, "it was to stay in float32");
    if (is_held_in_floats(n)) return keep(n, fmt::format("it is held in {}", held_type(n)));
    Weights weights;
    std::string reason =
        is_op(n, "Conv") ? read_conv(n, data->shape(), weights) : read_matrix(n, data->shape(), weights);
    if (reason.empty() && data->numel() == 0) reason = "its weights are empty";
    if (reason.empty() && weights.depth > kernels::kMaxInt8Sum) reason = "its sums may exceed 32 bits";
    if (!reason.empty()) return keep(n, std::move(reason));
    const auto scale = options_.scales.find(x->name());
    if (scale == options_.scales.end()) {
      if (missed_.insert(x).second) report_.without_scale.push_back(x->name());
      return;
    }
    if (scale->second == 0) return keep(n, "the numbers of its input gave no range");
    Value* stored = quantized_weights(n, *w, *data, weights.axis);
    if (stored == nullptr) return keep(n, "its weights hold infinity or NaN");
    n.set_input(1, stored);
    n.set_input(0, quantized(n, *x, scale->second));
    ++report_.quantized;
  }

  /// The value, quantized to 8 bits.
  Value* quantized(const Node& user, Value& x, float scale) {
    Value*& known = activations_[&x];
    if (known != nullptr) return known;
    Value* s = graph_.add_constant(graph_.unique_name(x.name() + "/scale"), Tensor::scalar<float>(scale));
    Value* z = graph_.add_constant(graph_.unique_name(x.name() + "/zero_point"),
                                   Tensor::zeros(DType::kInt8, Shape{}));
    Type type = x.type;
    type.dtype = DType::kInt8;
    Value* integers = graph_.add_value(graph_.unique_name(x.name() + "/quantized"), type);
    known = graph_.add_value(graph_.unique_name(x.name() + "/dequantized"), x.type);
    add(user, "QuantizeLinear", {&x, s, z}, integers, {});
    add(user, "DequantizeLinear", {integers, s, z}, known, {});
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
    add(user, "DequantizeLinear", {stored, s}, it->second, {{"axis", static_cast<int64_t>(axis)}});
    return it->second;
  }

  void add(const Node& user, std::string op, std::vector<Value*> inputs, Value* output,
           AttributeList attributes) {
    Node* n =
        graph_.add_node(std::move(op), std::move(inputs), {output}, std::move(attributes), output->name());
    set_origins(*n, origins_of(user));
    set_beside(*n);
    order_.insert(&user, *n);
  }

  Model& model_;
  Graph& graph_;
  const QuantizeOptions& options_;
  NodeOrder order_;
  QuantizeReport report_;
  std::unordered_map<const Value*, Value*> activations_;
  std::map<std::pair<const Value*, size_t>, Value*> weights_;
  std::unordered_set<const Value*> missed_;
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
