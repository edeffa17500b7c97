// Attention before opset 23, and its newer inputs before 24 and 25.
#include "convert/convert_test_util.h"

namespace assay::attention_test {
namespace {

constexpr double kClose = 1e-6;  // the constant scale is a float

struct Qkv {
  Tensor q, k, v;
};
Qkv by_head(int64_t heads, int64_t key_heads, int64_t queries, int64_t keys) {
  return {mixed({2, heads, queries, 4}), mixed({2, key_heads, keys, 4}), counted({2, key_heads, keys, 3})};
}

Tensor bools(const Shape& shape, const std::vector<int>& values) {
  Tensor t = Tensor::allocate(DType::kBool, shape);
  for (size_t i = 0; i < values.size(); ++i) t.mutable_data<bool>()[i] = values[i] != 0;
  return t;
}

Tensor shaped(const std::vector<float>& values, const Shape& shape) { return floats(values).reshaped(shape); }

TEST(AttentionExpansion, HeadsAndPackedHeads) {
  const Qkv t = by_head(4, 2, 3, 5);
  expect_same({"Attention", 23, {t.q, t.k, t.v}}, 13, {}, kClose);
  expect_same({"Attention", 23, {t.q, t.k, t.v}, {{"scale", 0.7F}, {"softcap", 0.4F}}}, 7, {}, kClose);
  const AttributeList heads = {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  expect_same({"Attention", 24, {mixed({2, 3, 16}), mixed({2, 5, 8}), counted({2, 5, 6})}, heads, 3}, 11, {},
              kClose);
  expect_same({"Attention", 24, {mixed({2, 0, 16}), mixed({2, 5, 8}), counted({2, 5, 6})}, heads}, 13, {},
              kClose);
  const AttributeList one = {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}};
  expect_same({"Attention", 23, {mixed({1, 3, 8}), mixed({1, 0, 8}), counted({1, 0, 6})}, one}, 13, {},
              kClose);
}

TEST(AttentionExpansion, Masks) {
  const Qkv t = by_head(2, 2, 3, 4);
  const float inf = INFINITY;
  const Tensor mask = bools({3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0});
  for (const int64_t mode : {0, 1, 2, 3})
    for (const int64_t causal : {0, 1}) {
      const AttributeList shown = {{"qk_matmul_output_mode", mode}, {"is_causal", causal}, {"softcap", 2.0F}};
      expect_same({"Attention", 23, {t.q, t.k, t.v, mask}, shown, 4}, 13, {}, kClose);
      expect_same({"Attention", 23, {t.q, t.k, t.v, mixed({2, 1, 3, 4})}, shown, 4}, 9, {}, kClose);
      expect_same({"Attention", 23, {t.q, t.k, t.v}, shown, 4}, 7, {}, kClose);
    }
  // A query without positions gives zeros; a NaN in the mask is not such a case.
  const Tensor odd = shaped({-inf, -inf, -inf, -inf, 0, NAN, -inf, -inf, 0, -inf, 1, -1}, {3, 4});
  expect_same({"Attention", 23, {t.q, t.k, t.v, odd}, {{"qk_matmul_output_mode", int64_t{3}}}, 4}, 11, {},
              kClose);
  // Shorter masks exclude the keys beyond them.
  expect_same({"Attention", 24, {t.q, t.k, t.v, mixed({3, 2})}}, 9, {}, kClose);
  expect_same({"Attention", 24, {t.q, t.k, t.v, bools({3, 2}, {1, 0, 1, 1, 0, 0})}}, 13, {}, kClose);
  // Integers, and numbers that the queries' type does not hold.
  expect_same({"Attention", 23, {t.q, t.k, t.v, convert(mixed({3, 4}), DType::kInt32)}}, 13, {}, kClose);
  expect_same({"Attention", 23, {t.q, t.k, t.v, Tensor::from<double>({1, 4}, {-1e300, 0, 1, 2})}}, 13, {},
              kClose);
}

TEST(AttentionExpansion, PastKeysAndValues) {
  const Qkv t = by_head(2, 1, 2, 3);
  const AttributeList causal = {{"is_causal", int64_t{1}}};
  const OneNode node("Attention", 23, {t.q, t.k, t.v, missing(), mixed({2, 1, 2, 4}), counted({2, 1, 2, 3})},
                     causal, 3);
  expect_same(node, 7, {}, kClose);
  // Lengths that depend on data: of the queries and keys, and of the past.
  expect_same(with_open_axes(with_open_axes(with_open_axes(node, 0, {0, 2}), 1, {0, 2}), 3, {2}), 11, {},
              kClose);
  expect_same(with_open_axes(node, 3, {0, 2}), 10, {}, kClose);
}

TEST(AttentionExpansion, CachesThatAreFilledInPart) {
  const Qkv t = by_head(2, 2, 2, 5);
  const std::vector<TestInput> in = {t.q, t.k, t.v, missing(), missing(), missing(), int64s({1, 4})};
  for (const int64_t causal : {0, 1})
    for (const int64_t to : {23, 13})
      expect_same({"Attention", 24, in, {{"is_causal", causal}}}, to, {}, kClose);
  EXPECT_EQ(converted(*OneNode("Attention", 24, {t.q, t.k, t.v}).model, 23)->graph->nodes().size(), 1U);
}

TEST(AttentionExpansion, Windows) {
  const Qkv t = by_head(2, 2, 5, 3);
  const AttributeList window = {{"left_window_size", int64_t{1}}, {"right_window_size", int64_t{0}}};
  const OneNode node("Attention", 25, {t.q, t.k, t.v}, window);
  expect_same(node, 24, {}, kClose);
  expect_same(node, 11, {}, kClose);
  expect_same(with_open_axes(node, 1, {2}), 11, {}, kClose);
  const AttributeList far = {{"right_window_size", std::numeric_limits<int64_t>::max()}};
  expect_same(with_open_axes({"Attention", 25, {t.q, t.k, t.v}, far}, 0, {2}), 13, {}, kClose);
}

TEST(AttentionExpansion, WhatMustBeKnown) {
  const Qkv t = by_head(4, 2, 3, 5);
  EXPECT_NE(refusal(with_open_axes({"Attention", 23, {t.q, t.k, t.v}}, 1, {1}), 13)
                .find("extent 1 of the input 'K' is not known"),
            std::string::npos);
  EXPECT_NE(refusal(with_open_axes({"Attention", 23, {t.q, t.k, t.v}}, 0, {3}), 13)
                .find("extent 3 of the input 'Q' is not known"),
            std::string::npos);
}

// Head counts that no attention has, from attributes and from shapes.
TEST(AttentionExpansion, HeadsThatDoNotDivideAreRefused) {
  const auto packed = [](int64_t queries, int64_t keys, int64_t hidden, int64_t key_hidden) {
    const Tensor x = mixed({1, 3, 8});
    const OneNode node("Attention", 23, {x, x, x},
                       {{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}});
    Graph& g = *node.model->graph;
    g.nodes()[0]->set_attribute("q_num_heads", queries);
    g.nodes()[0]->set_attribute("kv_num_heads", keys);
    for (Value* v : g.inputs)
      v->type = Type::tensor(DType::kFloat32, Dims{1, 3, v == g.inputs[0] ? hidden : key_hidden});
    for (Value* v : g.outputs) v->type = {};
    return convert_opset(*node.model, {.version = 19}).problems.empty();
  };
  for (const auto& [queries, keys] : std::vector<std::pair<int64_t, int64_t>>{
           {2, 4}, {4, 3}, {3, 3}, {0, 1}, {1, 0}, {-2, -2}, {int64_t{1} << 62, 1}, {INT64_MIN, -1}}) {
    EXPECT_THROW(packed(queries, keys, 8, 8), Error) << queries << " and " << keys;
  }
  // As many heads as a shape that costs nothing declares, and no query for any.
  EXPECT_FALSE(packed(int64_t{1} << 40, int64_t{1} << 39, int64_t{1} << 40, int64_t{1} << 39));
  const Qkv t = by_head(2, 2, 3, 4);
  const OneNode node("Attention", 23, {t.q, t.k, t.v});
  for (size_t i = 1; i < 3; ++i)
    node.model->graph->inputs[i]->type = Type::tensor(DType::kFloat32, Shape{2, 4, 3, 4});
  EXPECT_THROW(convert_opset(*node.model, {.version = 19}), Error);
}

TEST(AttentionExpansion, RotaryEmbedding) {
  const Tensor x = mixed({2, 3, 4, 8}), packed = mixed({2, 4, 24}),
               ids = int64s({0, 3, 1, 1, 2, 2, 0, 4}).reshaped({2, 4});
  for (const int64_t interleaved : {0, 1}) {
    AttributeList whole = {{"interleaved", interleaved}}, part = whole, heads = whole;
    part.emplace_back("rotary_embedding_dim", int64_t{4});
    heads.emplace_back("num_heads", int64_t{3});
    expect_same({"RotaryEmbedding", 23, {x, mixed({5, 4}), counted({5, 4}), ids}, whole}, 13, {});
    expect_same({"RotaryEmbedding", 23, {x, mixed({2, 4, 2}), counted({2, 4, 2})}, part}, 11, {});
    expect_same({"RotaryEmbedding", 23, {packed, mixed({5, 4}), counted({5, 4}), ids}, heads}, 10, {});
  }
}

}  // namespace
}  // namespace assay::attention_test
