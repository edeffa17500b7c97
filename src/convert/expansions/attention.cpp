// Attention by products, a mask as bias, and Softmax.
#include <algorithm>
#include <cmath>
#include <limits>

#include "convert/expansions/parts.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kKeyLengths };
constexpr const char* kNames[] = {"Q", "K", "V"};

/// The type in which scores and the mask are added, so that no value of either overflows: a mask may be of a
/// wider type than the queries.
DType type_of_scores(DType query, DType mask) {
  if (mask == DType::kBool || mask == query) return query;
  if (mask == DType::kFloat64) return mask;
  return query == DType::kFloat64 ? query : DType::kFloat32;
}

class AttentionFormula {
 public:
  explicit AttentionFormula(Rewrite& r) : r_(r), type_(r.dtype(kQuery)), by_sequence_(r.rank(kQuery) == 3) {
    if (r.rank(kQuery) != r.rank(kKey) || r.rank(kQuery) != r.rank(kValue))
      no_equivalent("Q, K and V of different ranks");
    causal_ = r.get_int("is_causal", 0) != 0;
    left_ = r.get_int("left_window_size", -1);
    right_ = r.get_int("right_window_size", -1);
    score_type_ = r.input(kMask) != nullptr ? type_of_scores(type_, r.dtype(kMask)) : type_;
  }

  void expand() {
    Value* q = split_heads(kQuery, "q_num_heads");
    Value* key = behind_past(split_heads(kKey, "kv_num_heads"), kPastKey);
    Value* value = behind_past(split_heads(kValue, "kv_num_heads"), kPastValue);
    q_ = q;
    key_ = key;
    const int64_t stage = r_.get_int("qk_matmul_output_mode", 0);
    Value* shown = nullptr;
    const auto reveal = [&](int64_t s, Value* v) {
      if (stage == s && r_.is_used(3)) shown = cast(r_, v, type_);
    };
    Value* scaled = r_.add("Mul", {q, r_.number(scale(), type_, "scale")});
    Value* scores = r_.add("MatMul", {scaled, transpose(r_, for_queries(key), {0, 1, 3, 2})});
    reveal(0, scores);
    if (const double cap = r_.get_float("softcap", 0); cap > 0) {
      Value* limit = r_.number(cap, type_, "softcap");
      scores = r_.add("Mul", {r_.add("Tanh", {r_.add("Div", {scores, limit})}), limit});
    }
    reveal(1, scores);
    scores = cast(r_, scores, score_type_);
    Value* places = bias();
    if (places != nullptr) scores = r_.add("Add", {scores, places});
    reveal(2, scores);
    Value* probabilities = softmax(scores, places);
    reveal(3, probabilities);
    Value* y = join_heads(r_.add("MatMul", {probabilities, for_queries(value)}));
    r_.replace({y, key, value, shown});
  }

 private:
  int64_t attribute(const char* name) const {
    const int64_t n = r_.get_int(name, 0);
    if (n < 1) no_equivalent("inputs of 3 dimensions without the attribute '{}'", name);
    return n;
  }

  /// [batch, heads, sequence, size]. The sizes are numbers, so that empty sequences have a Reshape, too.
  Value* split_heads(size_t i, const char* heads_name) {
    if (!by_sequence_) return r_.input(i);
    const int64_t heads = attribute(heads_name), hidden = needed_extent(r_, i, 2, kNames[i]);
    if (hidden < 1 || hidden % heads != 0)
      no_equivalent("{} of {} elements for {} heads", kNames[i], hidden, heads);
    return transpose(r_, reshape(r_, r_.input(i), {0, 0, heads, hidden / heads}), {0, 2, 1, 3});
  }

  Value* behind_past(Value* added, size_t past) {
    if (r_.input(past) == nullptr) return added;
    return r_.add("Concat", {r_.input(past), added}, {{"axis", int64_t{2}}});
  }

  int64_t heads_of(size_t i, const char* name) const {
    return by_sequence_ ? attribute(name) : needed_extent(r_, i, 1, kNames[i]);
  }

  /// Heads of keys or values, each as often as queries share it.
  Value* for_queries(Value* heads) {
    const bool same =
        !by_sequence_ && (*r_.input(kQuery)->type.dims)[1].same_as((*r_.input(kKey)->type.dims)[1]);
    if (same) return heads;
    const int64_t queries = heads_of(kQuery, "q_num_heads"), keys = heads_of(kKey, "kv_num_heads");
    if (queries == keys) return heads;
    if (keys < 1 || queries % keys != 0) no_equivalent("{} heads of queries for {} of keys", queries, keys);
    listable(queries, "heads of queries");
    Ints which;
    for (int64_t h = 0; h < queries; ++h) which.push_back(h / (queries / keys));
    return r_.add("Gather", {heads, r_.ints(which, "heads")}, {{"axis", int64_t{1}}});
  }

  double scale() const {
    if (r_.has("scale")) return r_.get_float("scale", 1);
    const int64_t size = by_sequence_ ? needed_extent(r_, kQuery, 2, "Q") / attribute("q_num_heads")
                                      : needed_extent(r_, kQuery, 3, "Q");
    return 1 / std::sqrt(static_cast<double>(size));
  }

  /// The positions that a query may attend to when all extents are known.
  std::optional<Tensor> known_places() const {
    const auto queries = known_extent(q_, 2), keys = known_extent(key_, 2),
               added = known_extent(r_.input(kKey), by_sequence_ ? 1 : 2);
    if (!queries || !keys || !added || r_.input(kKeyLengths) != nullptr) return std::nullopt;
    if (*keys > 0 && *queries > kMaxListed / *keys) return std::nullopt;
    Tensor t = Tensor::allocate(DType::kBool, {*queries, *keys});
    bool* to = t.mutable_data<bool>();
    for (int64_t i = 0; i < *queries; ++i)
      for (int64_t j = 0; j < *keys; ++j) {
        const int64_t ahead = j - (*keys - *added + i);
        *to++ = (!causal_ || ahead <= 0) && (right_ < 0 || ahead <= right_) && (left_ < 0 || -ahead <= left_);
      }
    return t;
  }

  Value* both(Value* a, Value* b) { return a == nullptr ? b : r_.add("And", {a, b}); }

  /// The same computed at run time: true where a position may be attended to, broadcasting to
  /// [batch, heads, queries, keys]. Null: everywhere.
  Value* computed_places() {
    Value* columns = count_up(r_, extent(r_, key_, 2));
    Value* places = nullptr;
    Value* lengths = r_.input(kKeyLengths);
    if (lengths != nullptr) {
      lengths = unsqueeze(r_, lengths, {1, 2, 3});
      places = r_.add("Less", {columns, lengths});
    }
    if (!causal_ && left_ < 0 && right_ < 0) return places;
    Value* position = unsqueeze(r_, count_up(r_, extent(r_, q_, 2)), {1});
    if (lengths != nullptr)
      position = r_.add("Add", {position, r_.add("Sub", {lengths, extent(r_, q_, 2)})});
    else if (r_.input(kPastKey) != nullptr)
      position = r_.add("Add", {position, extent(r_, r_.input(kPastKey), 2)});
    // No sequence is that long, and no sum overflows.
    constexpr int64_t kFar = int64_t{1} << 40;
    if (causal_ || right_ >= 0) {
      const int64_t ahead = causal_ ? 0 : std::min(right_, kFar);
      Value* last = r_.add("Add", {position, whole(r_, ahead, "ahead")});
      places = both(places, r_.add("Not", {r_.add("Greater", {columns, last})}));
    }
    if (left_ >= 0) {
      Value* first = r_.add("Sub", {position, whole(r_, std::min(left_, kFar), "behind")});
      places = both(places, r_.add("Not", {r_.add("Less", {columns, first})}));
    }
    return places;
  }

  /// The mask in the type of scores; -inf beyond its last key.
  Value* mask() {
    Value* m = r_.input(kMask);
    if (m == nullptr) return nullptr;
    const int rank = r_.rank(kMask);
    if (r_.dtype(kMask) == DType::kBool)
      m = r_.add("Where", {m, r_.number(0, score_type_, "zero"), minus_infinity(r_, score_type_)});
    else
      m = cast(r_, m, score_type_);
    const auto same = [&] {
      const Dims &mask = *r_.input(kMask)->type.dims,
                 *key = key_->type.has_shape() ? &*key_->type.dims : nullptr;
      return key != nullptr && key->size() == 4 && mask.back().same_as((*key)[2]);
    };
    if (rank < 1) no_equivalent("an attn_mask without dimensions");
    if (same()) return m;
    const auto given = known_extent(m, rank - 1), keys = known_extent(key_, 2);
    Value* pads = nullptr;
    Ints ends(static_cast<size_t>(2 * rank), 0);
    if (given && keys) {
      ends.back() = *keys - *given;
      pads = r_.ints(ends, "pads");
    } else {
      ends.pop_back();
      Value* more = r_.add("Sub", {extent(r_, key_, 2), extent(r_, m, rank - 1)});
      pads = r_.add("Concat", {r_.ints(ends, "pads"), unsqueeze(r_, more, {0})}, {{"axis", int64_t{0}}});
    }
    return r_.add("Pad", {m, pads, minus_infinity(r_, score_type_)});
  }

  /// The bias of the scores; null when there is none.
  Value* bias() {
    Value* m = mask();
    empty_rows_ = m != nullptr;
    if (!causal_ && left_ < 0 && right_ < 0 && r_.input(kKeyLengths) == nullptr) return m;
    Value* places = nullptr;
    if (const std::optional<Tensor> known = known_places()) {
      empty_rows_ = empty_rows_ || has_empty_row(*known);
      if (m == nullptr) return r_.constant(as_bias(*known), "bias");
      places = r_.constant(*known, "places");
    } else {
      empty_rows_ = empty_rows_ || left_ >= 0 || r_.input(kKeyLengths) != nullptr;
      places = computed_places();
    }
    Value* seen = m != nullptr ? m : r_.number(0, score_type_, "zero");
    return r_.add("Where", {places, seen, minus_infinity(r_, score_type_)});
  }

  static bool has_empty_row(const Tensor& places) {
    const bool* p = places.data<bool>();
    for (int64_t i = 0; i < places.dim(0); ++i, p += places.dim(1))
      if (std::find(p, p + places.dim(1), true) == p + places.dim(1)) return true;
    return false;
  }

  Tensor as_bias(const Tensor& places) const {
    Tensor t = Tensor::allocate(DType::kFloat64, places.shape());
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<double>()[i] = places.data<bool>()[i] ? 0 : -std::numeric_limits<double>::infinity();
    return convert(t, score_type_);
  }

  /// Zeros for a query that attends to nothing.
  Value* softmax(Value* scores, Value* places) {
    const auto precision =
        static_cast<DType>(r_.get_int("softmax_precision", static_cast<int64_t>(score_type_)));
    Value* p = r_.add("Softmax", {cast(r_, scores, precision)}, {{"axis", int64_t{-1}}});
    p = cast(r_, p, type_);
    if (places == nullptr || !empty_rows_) return p;
    // Not below the lowest number: also where a NaN is.
    Value* lowest = r_.number(-largest_number(score_type_), score_type_, "lowest");
    Value* seen = cast(r_, r_.add("Not", {r_.add("Less", {places, lowest})}), DType::kFloat32);
    const AttributeList last = {{"axes", Ints{-1}}, {"keepdims", int64_t{1}}};
    Value* any = cast(r_, r_.add("ReduceMax", {seen}, last), DType::kBool);
    return r_.add("Where", {any, p, r_.number(0, type_, "nothing")});
  }

  Value* join_heads(Value* y) {
    if (!by_sequence_) return y;
    const int64_t queries = attribute("q_num_heads"), keys = attribute("kv_num_heads");
    const int64_t hidden = needed_extent(r_, kValue, 2, "V") / keys * queries;
    return reshape(r_, transpose(r_, y, {0, 2, 1, 3}), {0, 0, hidden});
  }

  Rewrite& r_;
  DType type_, score_type_;
  bool by_sequence_, causal_, empty_rows_ = false;
  int64_t left_, right_;
  Value *q_ = nullptr, *key_ = nullptr;  ///< with heads; the keys after the past
};

void expand_attention(Rewrite& r) {
  r.set_opset(13);
  AttentionFormula(r).expand();
}

/// Version 23 has no lengths of caches, 24 no windows.
void expand_cache_lengths(Rewrite& r) {
  if (r.input(kKeyLengths) != nullptr) expand_attention(r);
}
void expand_windows(Rewrite& r) {
  if (r.get_int("left_window_size", -1) >= 0 || r.get_int("right_window_size", -1) >= 0) expand_attention(r);
}

}  // namespace

constinit const Expansion expansion_onnx_Attention = {"", "Attention", 13, "MatMul, a bias and Softmax",
                                                      expand_attention};
constinit const Adapter adapter_attention_lengths = {
    .name = "attention_lengths", .summary = "caches may be filled in part", .down = expand_cache_lengths};
constinit const Adapter adapter_attention_windows = {
    .name = "attention_windows", .summary = "queries may see a window only", .down = expand_windows};

}  // namespace assay
