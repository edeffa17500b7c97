// Recurrences in float32 stay within the bound of Tracked, and within the spread that Noisy shows.
#include <cmath>
#include <functional>

#include "ops/nn/test_tensors.h"
#include "ops/rnn/arithmetic.h"

namespace assay::rounding_test {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;
/// Errors are explained up to this many spreads (kExplainedFactor of the reference).
constexpr double kSpreads = 8;

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// One layer in float32, batch 1: weights as ONNX has them, B included.
struct Layer {
  std::string op;
  int64_t steps, inputs, hidden;
  std::vector<Tensor> in;  ///< X, W, R, B; numbers of float32

  static Layer random(const std::string& op, int64_t steps, int64_t hidden, unsigned seed, double gain = 1) {
    const int64_t gates = op == "RNN" ? 1 : op == "GRU" ? 3 : 4, inputs = 12;
    Layer l{op, steps, inputs, hidden, {}};
    const double k = gain / std::sqrt(static_cast<double>(hidden));
    const auto rounded = [](Tensor t, double factor) {
      for (double& v : t.mutable_span<double>()) v = static_cast<double>(static_cast<float>(v * factor));
      return t;
    };
    l.in = {rounded(random_tensor({steps, 1, inputs}, seed), 2),
            rounded(random_tensor({1, gates * hidden, inputs}, seed + 1), k),
            rounded(random_tensor({1, gates * hidden, hidden}, seed + 2), k),
            rounded(random_tensor({1, 2 * gates * hidden}, seed + 3), k)};
    return l;
  }
  float at(size_t i, int64_t j) const { return static_cast<float>(in[i].data<double>()[j]); }
  int64_t gates() const { return in[1].dim(1) / hidden; }
  /// W x + b of gate row `row` at a step.
  float input(int64_t step, int64_t row) const {
    float sum = at(3, row);
    for (int64_t i = 0; i < inputs; ++i) sum += at(1, row * inputs + i) * at(0, step * inputs + i);
    return sum;
  }
  float recurrent(const std::vector<float>& h, int64_t row) const {
    float sum = at(3, gates() * hidden + row);
    for (int64_t i = 0; i < hidden; ++i) sum += at(2, row * hidden + i) * h[static_cast<size_t>(i)];
    return sum;
  }
  /// Y.
  std::vector<float> in_float() const {
    const auto n = static_cast<size_t>(hidden);
    std::vector<float> h(n), c(n), y;
    for (int64_t t = 0; t < steps; ++t) {
      std::vector<float> reset(n);
      const auto gate = [&](int64_t g, int64_t j) {
        return input(t, g * hidden + j) + recurrent(h, g * hidden + j);
      };
      std::vector<float> next = h;
      if (op == "GRU")
        for (size_t j = 0; j < n; ++j) reset[j] = sigmoid(gate(1, static_cast<int64_t>(j))) * h[j];
      for (size_t i = 0; i < n; ++i) {
        const auto j = static_cast<int64_t>(i);
        if (op == "RNN") {
          next[i] = std::tanh(gate(0, j));
        } else if (op == "GRU") {
          const float z = sigmoid(gate(0, j)),
                      g = std::tanh(input(t, 2 * hidden + j) + recurrent(reset, 2 * hidden + j));
          next[i] = (1 - z) * g + z * h[i];
        } else {
          c[i] = sigmoid(gate(2, j)) * c[i] + sigmoid(gate(0, j)) * std::tanh(gate(3, j));
          next[i] = sigmoid(gate(1, j)) * std::tanh(c[i]);
        }
      }
      h = next;
      y.insert(y.end(), h.begin(), h.end());
    }
    return y;
  }

  Tensor exact() const { return run_op(op, 14, in)[0]; }
  Tensor noisy(uint64_t key) const {
    const OpTestNode n(op, 14, std::vector<bool>(in.size(), true), {}, 1, "");
    EvalContext c(n.node(), n.op(), n.version(), in);
    n.op().numerics.perturb(c, kUnitRoundoff, key);
    return c.outputs()[0];
  }
  /// Root mean square of the noise over all elements.
  double spread() const {
    const Tensor y = exact();
    double sum = 0;
    for (uint64_t key = 1; key <= 3; ++key) {
      const Tensor noise = noisy(key);
      for (int64_t i = 0; i < y.numel(); ++i)
        sum += std::pow(noise.data<double>()[i] - y.data<double>()[i], 2);
    }
    return std::sqrt(sum / static_cast<double>(3 * y.numel()));
  }
};

struct Case {
  const char* op;
  int64_t steps, hidden;
};
class RecurrentRounding : public testing::TestWithParam<Case> {};

TEST_P(RecurrentRounding, InFloatIsWithinTheSpread) {
  const auto [op, steps, hidden] = GetParam();
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Layer layer = Layer::random(op, steps, hidden, 10 * seed);
    const Tensor y = layer.exact();
    const std::vector<float> computed = layer.in_float();
    double most = 0;
    for (int64_t i = 0; i < y.numel(); ++i)
      most = std::max(most,
                      std::fabs(static_cast<double>(computed[static_cast<size_t>(i)]) - y.data<double>()[i]));
    const double explained = kSpreads * layer.spread();
    EXPECT_LE(most, explained / 2) << seed;
    EXPECT_GE(most, explained / 100) << seed;
  }
}

TEST_P(RecurrentRounding, InFloatIsWithinTheBound) {
  const auto [op, steps, hidden] = GetParam();
  for (unsigned seed = 0; seed < 3; ++seed)
    for (const double gain : {0.1, 1.0, 6.0}) {
      const Layer layer = Layer::random(op, steps, hidden, 10 * seed, gain);
      const Tensor y = layer.exact(), bound = custom_bound(op, 14, layer.in, {}, kUnitRoundoff);
      const std::vector<float> computed = layer.in_float();
      for (int64_t i = 0; i < y.numel(); ++i) {
        const double error =
            std::fabs(static_cast<double>(computed[static_cast<size_t>(i)]) - y.data<double>()[i]);
        ASSERT_LE(error, bound.data<double>()[i]) << seed << " at " << i;
        if (i < hidden && gain <= 1) {
          ASSERT_LE(bound.data<double>()[i], 40 * static_cast<double>(hidden) * kUnitRoundoff);
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentRounding,
                         testing::Values(Case{"RNN", 1, 16}, Case{"RNN", 40, 16}, Case{"RNN", 10, 128},
                                         Case{"GRU", 1, 16}, Case{"GRU", 40, 16}, Case{"GRU", 10, 128},
                                         Case{"LSTM", 1, 16}, Case{"LSTM", 40, 16}, Case{"LSTM", 10, 128}));

TEST(RecurrentNoise, DependsOnTheKeyOnly) {
  const Layer layer = Layer::random("LSTM", 4, 8, 1);
  EXPECT_TRUE(layer.noisy(1).identical(layer.noisy(1)));
  EXPECT_FALSE(layer.noisy(1).identical(layer.noisy(2)));
  EXPECT_FALSE(layer.noisy(1).identical(layer.exact()));
}

TEST(RecurrentNoise, KeepsZerosAndInfinities) {
  const Tensor one = Tensor::from<double>({1, 1, 1}, {1});
  const auto noisy = [&](double x) {
    const OpTestNode n("RNN", 14, {true, true, true}, {{"activations", std::vector<std::string>{"Relu"}}}, 1,
                       "");
    EvalContext c(n.node(), n.op(), n.version(), {Tensor::from<double>({1, 1, 1}, {x}), one, one});
    n.op().numerics.perturb(c, kUnitRoundoff, 1);
    return c.outputs()[0].item<double>();
  };
  EXPECT_EQ(noisy(0), 0);
  EXPECT_EQ(noisy(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(noisy(NAN)));
  EXPECT_NE(noisy(1), 1);
  EXPECT_NEAR(noisy(1), 1, 20 * kUnitRoundoff);
}

TEST(RecurrentBound, IsInfiniteRatherThanUnknown) {
  // 60 steps of relu with row sums of 1000 and huge weights: no bound is known, and NaN must not result.
  Layer layer = Layer::random("RNN", 60, 16, 1);
  for (double& w : layer.in[2].mutable_span<double>()) w = 1e30;
  for (double& w : layer.in[1].mutable_span<double>()) w = 0;
  const AttributeList relu = {{"activations", std::vector<std::string>{"Relu"}}};
  for (double& b : layer.in[3].mutable_span<double>()) b = 0;
  layer.in[3].mutable_data<double>()[0] = 1e-300;
  const Tensor bound = custom_bound("RNN", 14, layer.in, relu, kUnitRoundoff);
  for (const double b : values(bound)) EXPECT_FALSE(std::isnan(b));
  EXPECT_EQ(bound.data<double>()[bound.numel() - 1], INFINITY);
}

TEST(ActivationChange, IsNeverExceeded) {
  using Kind = Activation::Kind;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-3, 3);
  for (int k = 0; k <= static_cast<int>(Kind::kThresholdedRelu); ++k)
    for (int round = 0; round < 2000; ++round) {
      const Activation f{.kind = static_cast<Kind>(k), .alpha = uniform(random), .beta = uniform(random)};
      const double x = uniform(random), reach = std::fabs(uniform(random)),
                   moved = x + reach * std::clamp(uniform(random), -1.0, 1.0);
      EXPECT_LE(std::fabs(f(moved) - f(x)), f.change(x, reach) * (1 + 1e-12) + 1e-15) << k << " at " << x;
      EXPECT_EQ(f.change(x, 0), 0);
    }
}

/// LinearAttention over one head, in float32.
std::vector<float> linear_attention_in_float(const std::vector<Tensor>& in, int64_t steps, int64_t size) {
  const auto at = [&](size_t i, int64_t j) { return static_cast<float>(in[i].data<double>()[j]); };
  const auto n = static_cast<size_t>(size);
  std::vector<float> state(n * n), y;
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  for (int64_t t = 0; t < steps; ++t) {
    const float factor = std::exp(at(4, t)), beta = at(5, t);
    for (float& s : state) s *= factor;
    for (size_t m = 0; m < n; ++m) {
      float read = 0;
      for (size_t d = 0; d < n; ++d) read += at(1, t * size + static_cast<int64_t>(d)) * state[d * n + m];
      const float w = beta * (at(2, t * size + static_cast<int64_t>(m)) - read);
      for (size_t d = 0; d < n; ++d) state[d * n + m] += at(1, t * size + static_cast<int64_t>(d)) * w;
    }
    for (size_t m = 0; m < n; ++m) {
      float sum = 0;
      for (size_t d = 0; d < n; ++d) sum += at(0, t * size + static_cast<int64_t>(d)) * state[d * n + m];
      y.push_back(scale * sum);
    }
  }
  return y;
}

TEST(LinearAttentionRounding, InFloatIsWithinSpreadAndBound) {
  for (const int64_t steps : {1, 8, 60}) {
    constexpr int64_t kSize = 8;
    std::vector<Tensor> in;
    for (unsigned i = 0; i < 3; ++i) in.push_back(random_tensor({1, steps, kSize}, i + 1));
    in.push_back(Tensor());
    for (unsigned i = 0; i < 2; ++i) in.push_back(random_tensor({1, steps, 1}, i + 7));
    for (double& k : in[1].mutable_span<double>()) k *= 0.4;
    for (double& g : in[4].mutable_span<double>()) g = -std::fabs(g) / 8;
    for (double& b : in[5].mutable_span<double>()) b = std::fabs(b);
    for (Tensor& t : in)
      if (t.defined())
        for (double& v : t.mutable_span<double>()) v = static_cast<double>(static_cast<float>(v));
    const AttributeList attributes = {{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}};
    const Tensor y = run_op("LinearAttention", 27, in, attributes)[0],
                 bound = custom_bound("LinearAttention", 27, in, attributes, kUnitRoundoff);
    const OpTestNode n("LinearAttention", 27, {true, true, true, false, true, true}, attributes, 1, "");
    double squares = 0, most = 0;
    for (uint64_t key = 1; key <= 3; ++key) {
      EvalContext c(n.node(), n.op(), n.version(), in);
      n.op().numerics.perturb(c, kUnitRoundoff, key);
      for (int64_t i = 0; i < y.numel(); ++i)
        squares += std::pow(c.outputs()[0].data<double>()[i] - y.data<double>()[i], 2);
    }
    const std::vector<float> computed = linear_attention_in_float(in, steps, kSize);
    for (int64_t i = 0; i < y.numel(); ++i) {
      const double error =
          std::fabs(static_cast<double>(computed[static_cast<size_t>(i)]) - y.data<double>()[i]);
      ASSERT_LE(error, bound.data<double>()[i]) << steps << " at " << i;
      most = std::max(most, error);
    }
    const double explained = kSpreads * std::sqrt(squares / static_cast<double>(3 * y.numel()));
    EXPECT_LE(most, explained) << steps;
    EXPECT_GE(most, explained / 100) << steps;
  }
}

}  // namespace
}  // namespace assay::rounding_test
