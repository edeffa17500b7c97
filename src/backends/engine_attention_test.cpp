// Attention in the forms that exporters write.
#include "backends/engine_fixture.h"

namespace assay::engine_attention_test {
namespace {

using Ints = std::vector<int64_t>;

class EngineAttentionTest : public EngineTest {
 protected:
  static constexpr int64_t kBatch = 2, kHeads = 3, kQueries = 5, kKeys = 7, kSize = 8;

  Value* reshape(Value* x, Ints shape) { return op("Reshape", {x, ints(std::move(shape))}); }
  Value* transpose(Value* x, Ints perm) { return op("Transpose", {x}, {{"perm", std::move(perm)}}); }
  Value* softmax(Value* x) { return op("Softmax", {x}, {{"axis", int64_t{-1}}}); }
  /// [batch, positions, heads * size] as [batch, heads, positions, size].
  Value* heads(Value* x, int64_t positions, int64_t count = kHeads) {
    return transpose(reshape(x, {kBatch, positions, count, kSize}), {0, 2, 1, 3});
  }
  Value* rows(const std::string& name, int64_t positions, int64_t count = kHeads) {
    return input(name, {kBatch, positions, count * kSize});
  }
  Value* join(Value* x) { return reshape(transpose(x, {0, 2, 1, 3}), {kBatch, kQueries, -1}); }
  Value* bools(const Shape& shape) {
    Tensor t = Tensor::zeros(DType::kBool, shape);
    for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<bool>()[i] = i % 3 == 1;
    return g.add_constant(g.unique_name("c"), t);
  }
  void expect_attention(size_t steps, size_t count = 1) {
    expect_agreement();
    const std::multiset<std::string> made = tactics();
    EXPECT_EQ(made.count("attention"), count) << testing::PrintToString(made);
    EXPECT_EQ(made.size(), steps) << testing::PrintToString(made);
  }
};

TEST_F(EngineAttentionTest, WithAMaskAndKeysTransposedAtOnce) {
  Value *q = rows("q", kQueries), *k = rows("k", kKeys), *v = rows("v", kKeys);
  Value* mask = input("m", {kBatch, 1, 1, kKeys});
  Value* keys = transpose(reshape(k, {kBatch, kKeys, kHeads, kSize}), {0, 2, 3, 1});
  Value* scores = op("Div", {op("MatMul", {heads(q, kQueries), keys}), scalar(2.5F)});
  output(join(op("MatMul", {softmax(op("Add", {scores, mask})), heads(v, kKeys)})));
  expect_attention(1);
}

TEST_F(EngineAttentionTest, OfOneProductOfAllThree) {
  Value* x = input("x", {kBatch, kQueries, 3 * kHeads * kSize});
  Value* all = transpose(reshape(x, {kBatch, kQueries, 3, kHeads, kSize}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) {
    return op("Gather", {all, g.add_constant(g.unique_name("i"), Tensor::scalar(i))}, {{"axis", int64_t{0}}});
  };
  Value* q = op("Mul", {part(0), scalar(0.3F)});
  output(join(op("MatMul", {softmax(op("MatMul", {q, transpose(part(1), {0, 1, 3, 2})})), part(2)})));
  expect_attention(1);
}

TEST_F(EngineAttentionTest, OfASplitWithACausalChoice) {
  Value* x = input("x", {kBatch, kQueries, 3 * kHeads * kSize});
  const std::vector<Value*> parts =
      layer(g, "Split", {x, ints({kHeads * kSize, kHeads * kSize, kHeads * kSize})}, {"a", "b", "c"},
            {.attributes = {{"axis", int64_t{2}}}});
  Value *k = heads(parts[1], kQueries), *v = heads(parts[2], kQueries);
  Value* scores = op("MatMul", {heads(parts[0], kQueries), transpose(k, {0, 1, 3, 2})});
  scores = op("Where", {bools({kQueries, kQueries}), scalar(-3e38F), op("Mul", {scalar(0.5F), scores})});
  output(join(op("MatMul", {softmax(scores), v})));
  // They have other uses, too.
  output(k);
  output(v);
  expect_agreement();
  EXPECT_EQ(tactics().count("attention"), 1U);
  EXPECT_EQ(tactics().count("dnnl_matmul"), 0U);
}

TEST_F(EngineAttentionTest, WithKeysThatArePastAndRepeated) {
  constexpr int64_t kGroups = 2, kAll = 6;
  Value *q = input("q", {kBatch, kAll, 1, kSize}), *past_k = input("pk", {kBatch, kGroups, kKeys, kSize}),
        *past_v = input("pv", {kBatch, kGroups, kKeys, kSize}), *k = input("k", {kBatch, kGroups, 1, kSize}),
        *v = input("v", {kBatch, kGroups, 1, kSize});
  const auto repeated = [&](Value* past, Value* fresh) {
    Value* all = op("Concat", {past, fresh}, {{"axis", int64_t{2}}});
    output(all);
    Value* more = op("Expand", {op("Unsqueeze", {all, ints({2})}),
                                ints({kBatch, kGroups, kAll / kGroups, kKeys + 1, kSize})});
    return reshape(more, {kBatch, kAll, kKeys + 1, kSize});
  };
  Value *keys = repeated(past_k, k), *values = repeated(past_v, v);
  Value* scores =
      op("MatMul", {op("Mul", {q, scalar(0.6F)}), op("Mul", {transpose(keys, {0, 1, 3, 2}), scalar(0.6F)})});
  output(op("MatMul", {softmax(scores), values}));
  expect_attention(3);  // two concatenations
}

TEST_F(EngineAttentionTest, OfStacksWithHeadsAndImagesInOne) {
  Value *q = rows("q", kQueries), *k = rows("k", kKeys), *v = rows("v", kKeys);
  const auto stack = [&](Value* x, int64_t n) { return reshape(heads(x, n), {kBatch * kHeads, n, kSize}); };
  Value* mask = input("m", {kBatch, 1, kQueries, kKeys});
  Value* scores = op("MatMul", {stack(q, kQueries), transpose(stack(k, kKeys), {0, 2, 1})});
  scores = op("Add", {reshape(scores, {kBatch, kHeads, kQueries, kKeys}), mask});
  Value* shares = softmax(reshape(scores, {kBatch * kHeads, kQueries, kKeys}));
  Value* mixed = reshape(op("MatMul", {shares, stack(v, kKeys)}), {kBatch, kHeads, kQueries, kSize});
  output(join(mixed));
  expect_agreement();
  EXPECT_EQ(tactics().count("attention"), 1U);
  EXPECT_EQ(tactics().count("softmax"), 0U);
}

// Shifted windows: each has its own mask, shared by the images of a batch.
TEST_F(EngineAttentionTest, OfWindowsWithAMaskEach) {
  constexpr int64_t kWindows = 3;
  for (const int64_t images : {1, 2})
    for (const int64_t own : {int64_t{1}, images}) {
      const std::string n = std::to_string(feed.size());
      const int64_t all = images * kWindows;
      Value *q = input("q" + n, {all, kHeads, kQueries, kSize}),
            *k = input("k" + n, {all, kHeads, kKeys, kSize}),
            *v = input("v" + n, {all, kHeads, kKeys, kSize});
      Value* scores = op("MatMul", {q, transpose(k, {0, 1, 3, 2})});
      scores = op("Add", {scores, weight({1, kHeads, kQueries, kKeys})});
      scores = reshape(scores, {images, kWindows, kHeads, kQueries, kKeys});
      scores = op("Add", {scores, weight({own, kWindows, 1, kQueries, kKeys})});
      scores = reshape(scores, {all, kHeads, kQueries, kKeys});
      output(op("MatMul", {softmax(scores), v}));
    }
  expect_agreement();
  EXPECT_EQ(tactics(), (std::multiset<std::string>{"attention", "attention", "attention", "attention"}));
}

TEST_F(EngineAttentionTest, OfMatrices) {
  Value *q = input("q", {kQueries, kSize}), *k = input("k", {kSize, kKeys}), *v = input("v", {kKeys, 3});
  output(op("MatMul", {softmax(op("MatMul", {q, k})), v}));
  expect_attention(1);
}

TEST_F(EngineAttentionTest, OverManyKeysAndRows) {
  Value *q = input("q", {1, 2, 101, 20}), *k = input("k", {1, 2, 20, 1203}),
        *v = input("v", {1, 2, 1203, 33});
  Value* mask = input("m", {101, 1203});
  output(op("MatMul", {softmax(op("Add", {mask, op("MatMul", {q, k})})), v}));
  expect_attention(1);
}

TEST_F(EngineAttentionTest, HeadsOfOneKey) {
  Value *q = input("q", {1, 4, 6, 8}), *k = input("k", {1, 1, 8, 9}), *v = input("v", {1, 1, 9, 5});
  output(op("MatMul", {softmax(op("MatMul", {q, k})), v}));
  expect_attention(1);
}

TEST_F(EngineAttentionTest, OfTheStandardsOperator) {
  model->opsets = {{"", 23}};
  for (const int64_t causal : {0, 1}) {
    const std::string n = std::to_string(causal);
    Value *q = input("q" + n, {kBatch, kQueries, 4 * kSize}), *k = input("k" + n, {kBatch, kKeys, 2 * kSize}),
          *v = input("v" + n, {kBatch, kKeys, 2 * kSize});
    output(op("Attention", {q, k, v},
              {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"is_causal", causal}}));
  }
  expect_attention(2, 2);
}

/// Intermediate results with other uses are computed as written.
TEST_F(EngineAttentionTest, NotWhereItsScoresAreWanted) {
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    Value *q = input("q" + n, {2, 4, 8}), *k = input("k" + n, {2, 8, 5}), *v = input("v" + n, {2, 5, 8});
    Value *scores = op("MatMul", {q, k}), *scaled = op("Mul", {scores, scalar(0.5F)}),
          *shares = softmax(scaled);
    output(op("MatMul", {shares, v}));
    output(i == 0 ? scores : i == 1 ? scaled : shares);
  }
  expect_agreement();
  EXPECT_EQ(tactics().count("attention"), 0U);
}

}  // namespace
}  // namespace assay::engine_attention_test
