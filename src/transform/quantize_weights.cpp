#include "transform/quantize_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "graph/distinct_names.h"
#include "graph/node_order.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "passes/raise_opset.h"
#include "tensor/half.h"
#include "transform/quantizable.h"

namespace assay {
namespace {

/// The first opset whose DequantizeLinear has blocks, and int4.
constexpr int64_t kBlockedOpset = 21;
constexpr const char* kContrib = "com.microsoft";
constexpr int kLeastLevel = -8, kMostLevel = 7, kZeroPoint = 8;

/// A matrix of weights: `depth` numbers are added up for each of `columns` results.
struct Matrix {
  int64_t depth = 0, columns = 0;
  bool is_transposed = false;  ///< stored as [columns, depth]

  int64_t at(int64_t k, int64_t column) const {
    return is_transposed ? column * depth + k : k * columns + column;
  }
};

/// Weights of 4 bits in the order of the weights, and a scale for each block of each column.
struct Levels {
  std::vector<int8_t> levels;
  std::vector<float> scales;  ///< [columns, blocks]
  int64_t block = 0, blocks = 0;
};

/// The extent of a matrix's blocks: smaller than `wanted` where that does not divide the depth and a smaller
/// one does, since not every runtime has blocks that end early.
int64_t block_of(const Matrix& m, int64_t wanted) {
  int64_t block = wanted;
  while (block > WeightQuantizeOptions::kLeastBlock && m.depth % block != 0) block /= 2;
  return m.depth % block == 0 ? block : wanted;
}

int level_of(float x, float scale) {
  return static_cast<int>(
      std::clamp<float>(std::nearbyint(x / scale), static_cast<float>(kLeastLevel), kMostLevel));
}

/// The scale for numbers up to `largest` with the least sum of squared errors: clipping the few largest may
/// cost less than coarser steps for all.
template <typename At>
float best_scale(float largest, int64_t count, At at) {
  if (largest < 8 * std::numeric_limits<float>::min()) return 1;  // zeros have any scale
  constexpr float kDivisors[] = {7, 7.5F, 8, 8.5F, 9};
  float best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const float divisor : kDivisors) {
    const float scale = largest / divisor;
    double error = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float x = at(i);
      const double e = static_cast<double>(x) - static_cast<double>(scale) * level_of(x, scale);
      error += e * e;
    }
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

/// Nothing for infinities and NaNs.
std::optional<Levels> to_levels(std::span<const float> weights, const Matrix& m, int64_t wanted) {
  if (!std::all_of(weights.begin(), weights.end(), [](float x) { return std::isfinite(x); }))
    return std::nullopt;
  Levels made;
  const int64_t block = made.block = block_of(m, wanted);
  made.blocks = (m.depth + block - 1) / block;
  made.levels.resize(weights.size());
  made.scales.resize(static_cast<size_t>(m.columns * made.blocks));
  for (int64_t column = 0; column < m.columns; ++column)
    for (int64_t b = 0; b < made.blocks; ++b) {
      const int64_t first = b * block, count = std::min(block, m.depth - first);
      const auto at = [&](int64_t i) { return weights[static_cast<size_t>(m.at(first + i, column))]; };
      float largest = 0;
      for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(at(i)));
      const float scale = best_scale(largest, count, at);
      made.scales[static_cast<size_t>(column * made.blocks + b)] = scale;
      for (int64_t i = 0; i < count; ++i)
        made.levels[static_cast<size_t>(m.at(first + i, column))] =
            static_cast<int8_t>(level_of(at(i), scale));
    }
  return made;
}

Tensor floats(const Shape& shape, const std::vector<float>& numbers) {
  return Tensor::from<float>(shape, numbers);
}

/// The scales as DequantizeLinear has them: the extent of the summed axis is the number of blocks.
Tensor blocked_scales(const Levels& l, const Matrix& m) {
  if (m.is_transposed) return floats({m.columns, l.blocks}, l.scales);
  std::vector<float> turned(l.scales.size());
  for (int64_t column = 0; column < m.columns; ++column)
    for (int64_t b = 0; b < l.blocks; ++b)
      turned[static_cast<size_t>(b * m.columns + column)] =
          l.scales[static_cast<size_t>(column * l.blocks + b)];
  return floats({l.blocks, m.columns}, turned);
}

Tensor int4_tensor(const Levels& l, const Shape& shape) {
  return pack(Tensor::from<int8_t>(shape, l.levels), DType::kInt4);
}

/// [columns, blocks, bytes of a block], the lower half of a byte first; what fills the last block up is zero.
Tensor nbits_tensor(const Levels& l, const Matrix& m) {
  Tensor packed = Tensor::allocate(DType::kUInt8, {m.columns, l.blocks, l.block / 2});
  auto* out = packed.mutable_data<uint8_t>();
  for (int64_t column = 0; column < m.columns; ++column)
    for (int64_t k = 0; k < l.blocks * l.block; k += 2) {
      const auto stored = [&](int64_t i) {
        return i < m.depth ? l.levels[static_cast<size_t>(m.at(i, column))] + kZeroPoint : kZeroPoint;
      };
      *out++ = static_cast<uint8_t>(stored(k) | (stored(k + 1) << 4));
    }
  return packed;
}

class WeightQuantizer {
 public:
  WeightQuantizer(Model& model, const WeightQuantizeOptions& options)
      : model_(model), graph_(*model.graph), options_(options), order_(graph_) {}

  QuantizeReport run() {
    std::vector<Node*> nodes;
    for (const auto& n : graph_.nodes())
      if (is_quantizable(*n)) nodes.push_back(n.get());
    for (Node* n : nodes) visit(*n);
    order_.commit();
    if (uses_contrib_ && model_.opset(kContrib) == 0) model_.opsets.push_back({kContrib, 1});
    return std::move(report_);
  }

 private:
  /// Weights of a product, and the transposition that they are read through, if any.
  struct Source {
    Value* weights = nullptr;
    Node* transpose = nullptr;
  };

  static Source source_of(Value* v) {
    Node* t = v == nullptr ? nullptr : v->producer();
    if (t == nullptr || !is_op(*t, "Transpose") || rank_of(t->input(0)) != 2) return {v, nullptr};
    const std::vector<int64_t> perm = ints_attribute(*t, "perm");
    if (!perm.empty() && perm != std::vector<int64_t>{1, 0}) return {v, nullptr};
    return {t->input(0), t};
  }

  void visit(Node& n) {
    const Source source = source_of(n.input(1));
    Value* w = source.weights;
    const UnalignedTensor* data = w == nullptr ? nullptr : constant_of(w);
    if (data == nullptr || dtype_of(w) != DType::kFloat32 || !is_fixed(w, model_.ir_version)) return;
    std::string reason = reason_to_keep(n, *data);
    if (reason.empty()) {
      const Matrix m = matrix_of(n, data->shape(), source.transpose != nullptr);
      const Levels* levels = levels_of(*w, *data, m);
      if (levels == nullptr)
        reason = "its weights hold infinity or NaN";
      else
        options_.format == WeightFormat::kMatMulNBits ? replace(n, source, *levels, m)
                                                      : dequantize(n, source, data->shape(), *levels, m);
    }
    if (reason.empty())
      ++report_.quantized;
    else
      report_.kept.push_back({n.label(), std::move(reason)});
  }

  bool is_named_float(const Node& n) const {
    const std::vector<std::string> origins = origins_of(n);
    return std::any_of(origins.begin(), origins.end(),
                       [&](const std::string& name) { return options_.float_nodes.contains(name); });
  }

  /// Empty: its weights can be stored in 4 bits.
  std::string reason_to_keep(const Node& n, const UnalignedTensor& data) const {
    if (is_named_float(n)) return "it was to stay in float32";
    if (is_held_in_floats(n)) return fmt::format("it is held in {}", held_type(n));
    if (is_op(n, "Conv")) return "4 bits are for the weights of MatMul and Gemm";
    if (data.rank() != 2) return "its weights are no matrix";
    if (data.numel() == 0) return "its weights are empty";
    if (options_.format != WeightFormat::kMatMulNBits) return {};
    if (is_op(n, "MatMul")) return rank_of(n.input(0)) == 1 ? "its input is a vector" : std::string();
    if (int_attribute(n, "transA", 0) != 0) return "its input is transposed";
    if (float_attribute(n, "alpha", 1) != 1 || (n.input(2) != nullptr && float_attribute(n, "beta", 1) != 1))
      return "it has a factor (alpha or beta)";
    return {};
  }

  static Matrix matrix_of(const Node& n, const Shape& shape, bool is_behind_transpose) {
    const bool is_transposed =
        (is_op(n, "Gemm") && int_attribute(n, "transB", 0) != 0) != is_behind_transpose;
    return {.depth = shape[is_transposed ? 1 : 0],
            .columns = shape[is_transposed ? 0 : 1],
            .is_transposed = is_transposed};
  }

  /// Of weights that several products share, once; null for infinities and NaNs.
  const Levels* levels_of(const Value& w, const UnalignedTensor& data, const Matrix& m) {
    const auto [it, is_new] = levels_.try_emplace({&w, m.is_transposed});
    if (is_new) {
      const Tensor numbers = data.aligned();
      it->second = to_levels(numbers.span<float>(), m, options_.block);
    }
    return it->second ? &*it->second : nullptr;
  }

  Value* constant(const std::string& name, Tensor data) {
    return graph_.add_constant(graph_.unique_name(name), std::move(data));
  }

  void dequantize(Node& n, const Source& source, const Shape& shape, const Levels& levels, const Matrix& m) {
    Value& w = *source.weights;
    Value*& known = dequantized_[{&w, m.is_transposed}];
    if (known == nullptr) {
      const std::vector<Node*> gathers = gathers_of(w, levels, m);
      Value* stored = constant(w.name() + "/quantized", int4_tensor(levels, shape));
      Value* scales = constant(w.name() + "/scale", blocked_scales(levels, m));
      known = graph_.add_value(graph_.unique_name(w.name() + "/dequantized"), w.type);
      set_beside(*add(first_of(n, gathers), "DequantizeLinear", {stored, scales}, known,
                      {{"axis", int64_t{m.is_transposed ? 1 : 0}}, {"block_size", levels.block}}));
      for (Node* gather : gathers) gather->set_input(0, known);
    }
    n.set_input(1, source.transpose == nullptr ? known : transposed(n, source, known));
    drop_unused(source.transpose);
  }

  /// Those of rows of the matrix, which its blocks divide: an embedding that a head shares.
  std::vector<Node*> gathers_of(const Value& w, const Levels& levels, const Matrix& m) const {
    std::vector<Node*> found;
    if (!m.is_transposed || m.depth % levels.block != 0) return found;
    for (const auto& n : graph_.nodes())
      if (is_op(*n, "Gather") && n->input(0) == &w && int_attribute(*n, "axis", 0) == 0 &&
          !is_held_in_floats(*n) && !is_named_float(*n))
        found.push_back(n.get());
    return found;
  }

  const Node& first_of(const Node& n, const std::vector<Node*>& others) const {
    for (const auto& each : graph_.nodes())
      if (each.get() == &n || std::find(others.begin(), others.end(), each.get()) != others.end())
        return *each;
    return n;
  }

  void drop_unused(Node* transpose) {
    if (transpose == nullptr || !transpose->output(0)->consumers().empty()) return;
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), transpose->output(0)) == graph_.outputs.end())
      order_.remove(*transpose);
  }

  /// The result of a Transpose like the source's, of what the weights have become.
  Value* transposed(Node& n, const Source& source, Value* weights) {
    Value*& known = transposed_[weights];
    if (known == nullptr) {
      const Value* before = source.transpose->output(0);
      known = graph_.add_value(graph_.unique_name(before->name() + "/dequantized"), before->type);
      set_beside(*add(n, "Transpose", {weights}, known, {{"perm", std::vector<int64_t>{1, 0}}}));
    }
    return known;
  }

  void replace(Node& n, const Source& source, const Levels& levels, const Matrix& m) {
    const Value& w = *source.weights;
    auto& [stored, scales] = packed_[{&w, m.is_transposed}];
    if (stored == nullptr) {
      Tensor packed = nbits_tensor(levels, m);
      const std::vector<Node*> gathers =
          options_.shares_embeddings ? gathers_of(w, levels, m) : std::vector<Node*>();
      if (!gathers.empty()) packed = packed.reshaped({m.columns, m.depth / 2});
      stored = constant(w.name() + "/quantized", std::move(packed));
      const Shape shape =
          gathers.empty() ? Shape{m.columns * levels.blocks} : Shape{m.columns, levels.blocks};
      scales = constant(w.name() + "/scale", floats(shape, levels.scales));
      for (Node* gather : gathers) gather_packed(*gather, stored, scales, levels.block);
    }
    Value *result = n.output(0), *bias = is_op(n, "Gemm") ? n.input(2) : nullptr;
    n.set_output(0, nullptr);
    Value* product = bias == nullptr
                         ? result
                         : graph_.add_value(graph_.unique_name(result->name() + "/product"), result->type);
    Node* made = add(n, "MatMulNBits", {n.input(0), stored, scales}, product,
                     {{"K", m.depth}, {"N", m.columns}, {"bits", int64_t{4}}, {"block_size", levels.block}});
    made->domain = kContrib;
    made->name = n.name;
    if (options_.rounds_rows) made->set_attribute("accuracy_level", int64_t{4});
    if (bias != nullptr) add(n, "Add", {product, bias}, result, {});
    n.set_input(1, nullptr);
    drop_unused(source.transpose);
    order_.remove(n);
    uses_contrib_ = true;
  }

  void gather_packed(Node& n, Value* stored, Value* scales, int64_t block) {
    n.op_type = "GatherBlockQuantized";
    n.domain = kContrib;
    n.set_inputs({stored, n.input(1), scales});
    n.attributes.clear();
    for (const auto& [name, number] : {std::pair{"bits", int64_t{4}},
                                       {"block_size", block},
                                       {"gather_axis", int64_t{0}},
                                       {"quantize_axis", int64_t{1}}})
      n.set_attribute(name, number);
  }

  /// Before `user`.
  Node* add(const Node& user, std::string op, std::vector<Value*> inputs, Value* output,
            AttributeList attributes) {
    Node* n =
        graph_.add_node(std::move(op), std::move(inputs), {output}, std::move(attributes), output->name());
    set_origins(*n, origins_of(user));
    order_.insert(&user, *n);
    return n;
  }

  using Key = std::pair<const Value*, bool>;
  Model& model_;
  Graph& graph_;
  const WeightQuantizeOptions& options_;
  NodeOrder order_;
  QuantizeReport report_;
  bool uses_contrib_ = false;
  std::map<Key, std::optional<Levels>> levels_;
  std::map<Key, Value*> dequantized_;
  std::map<const Value*, Value*> transposed_;  ///< by what is transposed
  std::map<Key, std::pair<Value*, Value*>> packed_;
};

}  // namespace

QuantizeReport quantize_weights(Model& model, const WeightQuantizeOptions& options) {
  require(options.block >= WeightQuantizeOptions::kLeastBlock &&
              options.block <= WeightQuantizeOptions::kMostBlock &&
              std::has_single_bit(static_cast<uint64_t>(options.block)),
          ErrorCode::kInvalidArgument, "a block of {} weights is no power of two from {} to {}",
          options.block, WeightQuantizeOptions::kLeastBlock, WeightQuantizeOptions::kMostBlock);
  DistinctNames names(model);
  if (options.format == WeightFormat::kDequantizeLinear && raise_opset(model, kBlockedOpset))
    infer_shapes(model);
  QuantizeReport report = WeightQuantizer(model, options).run();
  model.graph->remove_unused_values();
  names.settle(model);
  return report;
}

}  // namespace assay
