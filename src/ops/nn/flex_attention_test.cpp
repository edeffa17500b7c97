#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "ops/nn/test_tensors.h"

namespace assay::flex_attention_test {
namespace {

constexpr std::string_view kDomain = "ai.onnx.preview";

/// Replaces both subgraphs: applies a graph of that name to scores or probabilities.
class Modifiers final : public SubgraphRunner {
 public:
  using Function = std::function<double(double value, int64_t query, int64_t key)>;
  explicit Modifiers(std::map<std::string, Function> functions) : functions_(std::move(functions)) {}

  std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) override {
    seen.push_back(inputs[0]);
    Tensor t = to_float64(inputs[0]);
    const int64_t keys = t.shape().back(), queries = t.dim(2);
    double* x = t.mutable_data<double>();
    for (int64_t i = 0; i < t.numel(); ++i)
      x[i] = functions_.at(graph.name)(x[i], i / keys % queries, i % keys);
    return {t};
  }
  std::vector<Tensor> seen;

 private:
  std::map<std::string, Function> functions_;
};

AttributeList named_graph(const std::string& attribute) {
  auto graph = std::make_shared<Graph>();
  graph->name = attribute;
  return {{attribute, graph}};
}

Tensor run(const std::vector<Tensor>& inputs, AttributeList attributes, SubgraphRunner* modifiers = nullptr,
           bool ideal = true) {
  const OpTestNode n("FlexAttention", 1, {true, true, true}, std::move(attributes), 1, kDomain);
  n.node().output(0)->type = Type::tensor(DType::kFloat32);
  EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), inputs), modifiers);
  c.ideal = ideal;
  n.version().eval(c);
  return c.outputs()[0];
}

std::vector<Tensor> random_inputs(int64_t heads, int64_t key_heads) {
  return {random_tensor({2, heads, 3, 4}, 1), random_tensor({2, key_heads, 5, 4}, 2),
          random_tensor({2, key_heads, 5, 6}, 3)};
}

TEST(FlexAttention, WithoutModifiersIsAttention) {
  for (const int64_t key_heads : {1, 2, 4}) {
    const std::vector<Tensor> inputs = random_inputs(4, key_heads);
    expect_near(run(inputs, {}), run_op("Attention", 23, inputs)[0], 1e-14);
    expect_near(run(inputs, {{"scale", 0.3F}}), run_op("Attention", 23, inputs, {{"scale", 0.3F}})[0], 1e-14);
  }
}

TEST(FlexAttention, ScoresAreModifiedAfterScaling) {
  const std::vector<Tensor> inputs = random_inputs(4, 2);
  Modifiers causal({{"score_mod", [](double s, int64_t query, int64_t key) {
                       return key <= query ? s : -std::numeric_limits<double>::infinity();
                     }}});
  expect_near(run(inputs, named_graph("score_mod"), &causal),
              run_op("Attention", 23, inputs, {{"is_causal", int64_t{1}}})[0], 1e-14);
  Modifiers capped({{"score_mod", [](double s, int64_t, int64_t) { return 2 * std::tanh(s / 2); }}});
  expect_near(run(inputs, named_graph("score_mod"), &capped),
              run_op("Attention", 23, inputs, {{"softcap", 2.0F}})[0], 1e-14);
}

TEST(FlexAttention, ProbabilitiesAreModifiedBeforeTheValues) {
  const std::vector<Tensor> inputs = random_inputs(2, 2);
  Modifiers half({{"prob_mod", [](double p, int64_t, int64_t) { return p / 2; }}});
  const Tensor whole = run(inputs, {}), y = run(inputs, named_graph("prob_mod"), &half);
  for (int64_t i = 0; i < y.numel(); ++i)
    EXPECT_NEAR(2 * y.data<double>()[i], whole.data<double>()[i], 1e-15);
  double sum = 0;
  for (int64_t k = 0; k < 5; ++k) sum += half.seen[0].data<double>()[k];
  EXPECT_NEAR(sum, 1, 1e-15);
}

TEST(FlexAttention, SubgraphsSeeTheStoredTypeUnlessTheReferenceIsIdeal) {
  const std::vector<Tensor> inputs = random_inputs(2, 2);
  const auto same = [](double s, int64_t, int64_t) { return s; };
  const auto seen = [&](AttributeList attributes, bool ideal) {
    Modifiers m({{"score_mod", same}});
    run(inputs, std::move(attributes), &m, ideal);
    return m.seen[0].dtype();
  };
  AttributeList half = named_graph("score_mod");
  half.emplace_back("softmax_precision", int64_t{static_cast<int64_t>(DType::kFloat16)});
  EXPECT_EQ(seen(named_graph("score_mod"), true), DType::kFloat64);
  EXPECT_EQ(seen(named_graph("score_mod"), false), DType::kFloat32);
  EXPECT_EQ(seen(half, false), DType::kFloat16);
}

TEST(FlexAttention, RejectsInputsThatDoNotFit) {
  const Tensor q = random_tensor({2, 4, 3, 4}, 1), k = random_tensor({2, 2, 5, 4}, 2);
  EXPECT_THROW(run({q, random_tensor({2, 3, 5, 4}, 2), random_tensor({2, 3, 5, 4}, 2)}, {}), Error);
  EXPECT_THROW(run({q, k, random_tensor({2, 2, 4, 4}, 2)}, {}), Error);
  EXPECT_THROW(run({q, random_tensor({2, 2, 5, 3}, 2), k}, {}), Error);
  EXPECT_THROW(run({q, random_tensor({1, 2, 5, 4}, 2), k}, {}), Error);
  EXPECT_THROW(run({q, k, random_tensor({2, 5, 4}, 2)}, {}), Error);
  EXPECT_THROW(
      run({q, Tensor::zeros(DType::kFloat64, {2, 0, 5, 4}), Tensor::zeros(DType::kFloat64, {2, 0, 5, 4})},
          {}),
      Error);
  EXPECT_THROW(
      infer_op("FlexAttention", 1, {Type::tensor(DType::kFloat32, Dims(3)), Type(), Type()}, {}, 1, kDomain),
      Error);
  EXPECT_THROW(infer_op("FlexAttention", 1, {q, k, k}, {{"softmax_precision", int64_t{7}}}, 1, kDomain),
               Error);
}

TEST(FlexAttention, InfersTheOutputFromQueriesAndValues) {
  const auto dims = [](int64_t heads, int64_t size) {
    return Type::tensor(DType::kBFloat16, Dims{Dim::symbol("b"), Dim(heads), Dim(7), Dim(size)});
  };
  EXPECT_EQ(infer_op("FlexAttention", 1, {dims(4, 8), dims(2, 8), dims(2, 5)}, {}, 1, kDomain).str(),
            "bfloat16[b, 4, 7, 5]");
}

TEST(FlexAttention, BoundHoldsInFloat32AndIsNotLoose) {
  const std::vector<Tensor> inputs = random_inputs(1, 1);
  const OpTestNode n("FlexAttention", 1, {true, true, true}, named_graph("score_mod"), 1, kDomain);
  const auto add = [](double s, int64_t query, int64_t key) {
    return s + 0.1 * static_cast<double>(query - key);
  };
  Modifiers m({{"score_mod", add}});
  EvalContext c(n.node(), n.op(), n.version(), inputs, &m);
  c.ideal = true;
  n.version().eval(c);
  const Tensor y = c.outputs()[0], bound = n.op().numerics.bound(c, 0x1p-24, 0, y);
  const auto at = [](const Tensor& t, int64_t i) { return static_cast<float>(t.data<double>()[i]); };
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 3; ++i) {
      float p[5], sum = 0;
      for (int64_t j = 0; j < 5; ++j) {
        float s = 0;
        for (int64_t e = 0; e < 4; ++e)
          s += at(inputs[0], (b * 3 + i) * 4 + e) * at(inputs[1], (b * 5 + j) * 4 + e);
        sum += p[j] = std::exp(0.5F * s + 0.1F * static_cast<float>(i - j));
      }
      for (int64_t v = 0; v < 6; ++v) {
        float out = 0;
        for (int64_t j = 0; j < 5; ++j) out += p[j] / sum * at(inputs[2], (b * 5 + j) * 6 + v);
        const int64_t k = (b * 3 + i) * 6 + v;
        // The inputs were rounded to float32, too, which has the same error again.
        EXPECT_LE(std::fabs(static_cast<double>(out) - y.data<double>()[k]), 2 * bound.data<double>()[k]);
        EXPECT_LE(bound.data<double>()[k], 1e-5);
      }
    }
}

}  // namespace
}  // namespace assay::flex_attention_test
