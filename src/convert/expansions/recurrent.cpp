// Operators with a state along a sequence, and rotary position embeddings.
#include <cmath>
#include <limits>

#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// Pairs (a, b) of a head become (cos a - sin b, sin a + cos b).
void expand_rotary_embedding(Rewrite& r) {
  const int rank = r.rank(0);
  if (rank != 3 && rank != 4) no_equivalent("an input of {} dimensions", rank);
  Value* x = r.input(0);
  int64_t size = needed_extent(r, 0, rank - 1, "X");
  const int64_t hidden = size;
  if (rank == 3) {
    const int64_t heads = r.get_int("num_heads", 0);
    if (heads < 1) no_equivalent("an input of 3 dimensions without the attribute 'num_heads'");
    size /= heads;
    x = reshape(r, x, {0, 0, heads, size});
  }
  const auto angles = [&](size_t i) {
    Value* cache = r.input(i);
    if (r.input(3) != nullptr) cache = r.add("Gather", {cache, r.input(3)});
    // One angle for all heads.
    return unsqueeze(r, cache, {rank == 3 ? 2 : 1});
  };
  Value *cosine = angles(1), *sine = angles(2);
  int64_t turned = r.get_int("rotary_embedding_dim", 0);
  if (turned == 0) turned = size;
  const bool interleaved = r.get_int("interleaved", 0) != 0;
  Value *a = nullptr, *b = nullptr;
  if (interleaved) {
    const auto every_second = [&](int64_t first) {
      return r.add("Slice", {x, r.ints({first}, "starts"), r.ints({turned}, "ends"), r.ints({3}, "axes"),
                             r.ints({2}, "steps")});
    };
    a = every_second(0);
    b = every_second(1);
  } else {
    a = slice(r, x, 3, 0, turned / 2);
    b = slice(r, x, 3, turned / 2, turned);
  }
  Value* first = r.add("Sub", {r.add("Mul", {cosine, a}), r.add("Mul", {sine, b})});
  Value* second = r.add("Add", {r.add("Mul", {sine, a}), r.add("Mul", {cosine, b})});
  Value* y = nullptr;
  if (interleaved) {
    Value* pairs =
        r.add("Concat", {unsqueeze(r, first, {4}), unsqueeze(r, second, {4})}, {{"axis", int64_t{4}}});
    y = reshape(r, pairs, {0, 0, 0, turned});
  } else {
    y = r.add("Concat", {first, second}, {{"axis", int64_t{3}}});
  }
  if (turned < size) y = r.add("Concat", {y, slice(r, x, 3, turned, kEnd)}, {{"axis", int64_t{3}}});
  r.replace({rank == 3 ? reshape(r, y, {0, 0, hidden}) : y});
}

/// A convolution over the state, or zeros, followed by the input.
void expand_causal_conv(Rewrite& r) {
  const int64_t channels = needed_extent(r, 1, 0, "weight"), taps = needed_extent(r, 1, 2, "weight");
  Value* x = r.input(0);
  if (r.input(3) != nullptr)
    x = r.add("Concat", {r.input(3), x}, {{"axis", int64_t{2}}});
  else if (taps > 1)
    x = r.add("Pad", {x, r.ints({0, 0, taps - 1, 0, 0, 0}, "pads")});
  std::vector<Value*> in = {x, r.input(1)};
  if (r.input(2) != nullptr) in.push_back(r.input(2));
  Value* y = r.add("Conv", in, {{"group", channels}, {"kernel_shape", Ints{taps}}});
  if (r.get_string("activation", "none") != "none") y = r.add("Mul", {y, r.add("Sigmoid", {y})});
  // Without state the slice begins behind the last element.
  Value* state = nullptr;
  if (r.is_used(1)) state = slice(r, x, 2, taps > 1 ? 1 - taps : kEnd, kEnd);
  r.replace({y, state});
}

/// New entries of a cache, each at its position on the sequence axis.
void expand_tensor_scatter(Rewrite& r) {
  const int rank = r.rank(0);
  const int64_t axis = r.front_axis(r.get_int("axis", -2), 0);
  Ints behind, around;
  for (int64_t d = 1; d < rank; ++d) around.push_back(d);
  for (int64_t d = axis + 1; d < rank; ++d) behind.push_back(d - axis);
  Value* places = count_up(r, extent(r, r.input(1), axis));
  if (!behind.empty()) places = unsqueeze(r, places, behind);
  if (r.input(2) != nullptr)
    places = r.add("Add", {places, unsqueeze(r, cast(r, r.input(2), DType::kInt64), around)});
  if (r.get_string("mode", "linear") == "circular") {
    Value* room = extent(r, r.input(0), axis);
    places = r.add("Sub", {places, r.add("Mul", {r.add("Div", {places, room}), room})});
  }
  places = r.add("Expand", {places, extents(r, r.input(1), 0, rank)});
  r.replace({r.add("ScatterElements", {r.input(0), places, r.input(1)}, {{"axis", axis}})});
}

/// A scan over the sequence whose state is that of every head: [batch, heads, key size, value size].
class LinearAttentionFormula {
 public:
  explicit LinearAttentionFormula(Rewrite& r)
      : r_(r), type_(r.dtype(0)), heads_(r.get_int("kv_num_heads", 1)), body_(std::make_shared<Graph>()) {
    const int64_t queries = r.get_int("q_num_heads", heads_);
    if (heads_ < 1 || queries % heads_ != 0)
      no_equivalent("{} heads of queries for {} of keys", queries, heads_);
    group_ = queries / heads_;
    key_size_ = needed_extent(r, 1, 2, "key") / heads_;
    value_size_ = needed_extent(r, 2, 2, "value") / heads_;
    body_->name = "linear_attention";
    body_->set_parent(&r.node().graph());
    const std::string rule = r.get_string("update_rule", "gated_delta");
    gated_ = rule == "gated" || rule == "gated_delta";
    delta_ = rule == "delta" || rule == "gated_delta";
    if (gated_ != (r.input(4) != nullptr) || delta_ != (r.input(5) != nullptr))
      no_equivalent("the update rule '{}' with these inputs", rule);
  }

  void expand() {
    Value* state = first_state();
    std::vector<Value*> in = {state};
    Value* s = add_input("state", Type::tensor(kSum, Dims{{}, heads_, key_size_, value_size_}));
    const auto scanned = [&](size_t i, const Ints& parts) {
      Ints shape = {0, 0};
      shape.insert(shape.end(), parts.begin(), parts.end());
      in.push_back(reshape(r_, cast(r_, r_.input(i), kSum), shape));
      Dims dims = {Dim()};
      dims.insert(dims.end(), parts.begin(), parts.end());
      return add_input("step", Type::tensor(kSum, dims));
    };
    Value* q = scanned(0, {heads_, group_, key_size_});
    Value* row = scanned(1, {heads_, 1, key_size_});
    Value* w = scanned(2, {heads_, 1, value_size_});
    if (gated_) {
      const int64_t decays = needed_extent(r_, 4, 2, "decay") / heads_;
      s = inside("Mul", {s, inside("Exp", {scanned(4, {heads_, decays, 1})})});
    }
    if (delta_) {
      const int64_t betas = needed_extent(r_, 5, 2, "beta");
      Value* beta = scanned(5, {betas, 1, 1});
      w = inside("Mul", {beta, inside("Sub", {w, inside("MatMul", {row, s})})});
    }
    Value* column = inside("Transpose", {row}, {{"perm", Ints{0, 1, 3, 2}}});
    s = inside("Add", {s, inside("Mul", {column, w})});
    Value* read = inside("Mul", {inside("MatMul", {q, s}), r_.number(scale(), kSum, "scale")});
    body_->outputs = {s, read};
    AttributeList attributes = {{"body", body_},
                                {"num_scan_inputs", static_cast<int64_t>(in.size()) - 1},
                                {"scan_input_axes", Ints(in.size() - 1, 1)},
                                {"scan_output_axes", Ints{1}}};
    const std::vector<Value*> out = r_.add_multi("Scan", in, std::move(attributes), 2);
    Value* y = reshape(r_, out[1], {0, 0, heads_ * group_ * value_size_});
    const DType kept = r_.input(3) != nullptr ? r_.dtype(3) : type_;
    r_.replace({cast(r_, y, type_), cast(r_, out[0], kept)});
  }

 private:
  /// Sums of half precision are made in float.
  static constexpr DType kSum = DType::kFloat32;

  Value* add_input(const char* name, Type type) {
    Value* v = body_->add_value(body_->unique_name(name), std::move(type));
    body_->inputs.push_back(v);
    return v;
  }
  Value* inside(const char* op, std::vector<Value*> in, AttributeList attributes = {}) {
    return r_.add_inside(*body_, op, std::move(in), std::move(attributes));
  }

  Value* first_state() {
    if (r_.input(3) != nullptr) return cast(r_, r_.input(3), kSum);
    Value* zero = r_.number(0, kSum, "zero");
    Value* batch = unsqueeze(r_, extent(r_, r_.input(0), 0), {0});
    Value* rest = r_.ints({heads_, key_size_, value_size_}, "head");
    return r_.add("Expand", {zero, r_.add("Concat", {batch, rest}, {{"axis", int64_t{0}}})});
  }

  double scale() const {
    const double given = r_.get_float("scale", 0);
    return given != 0 ? given : 1 / std::sqrt(static_cast<double>(key_size_));
  }

  Rewrite& r_;
  DType type_;
  int64_t heads_, group_ = 1, key_size_ = 0, value_size_ = 0;
  bool gated_ = false, delta_ = false;
  std::shared_ptr<Graph> body_;
};

void expand_linear_attention(Rewrite& r) { LinearAttentionFormula(r).expand(); }

}  // namespace

constinit const Expansion expansion_onnx_CausalConvWithState = {"", "CausalConvWithState", 13, "Conv",
                                                                expand_causal_conv};
constinit const Expansion expansion_onnx_LinearAttention = {"", "LinearAttention", 13, "Scan",
                                                            expand_linear_attention};
constinit const Expansion expansion_onnx_RotaryEmbedding = {"", "RotaryEmbedding", 13,
                                                            "Slice, Mul and Concat", expand_rotary_embedding};

constinit const Expansion expansion_onnx_TensorScatter = {"", "TensorScatter", 13, "ScatterElements",
                                                          expand_tensor_scatter};

}  // namespace assay
