#include <cmath>

#include "ops/nn/test_tensors.h"

namespace assay::recurrent_test {
namespace {

constexpr int64_t kSequence = 5, kBatch = 2, kInput = 3, kHidden = 4;

struct Cell {
  const char* op;
  int64_t gates;
  size_t outputs;
};
constexpr Cell kCells[] = {{"RNN", 1, 2}, {"GRU", 3, 2}, {"LSTM", 4, 3}};

/// X, W, R, B, no lengths, initial_h (and initial_c, P) for a cell.
std::vector<Tensor> inputs_of(const Cell& cell, int64_t directions, unsigned seed = 1) {
  const int64_t rows = cell.gates * kHidden;
  std::vector<Tensor> in = {random_tensor({kSequence, kBatch, kInput}, seed),
                            random_tensor({directions, rows, kInput}, seed + 1),
                            random_tensor({directions, rows, kHidden}, seed + 2),
                            random_tensor({directions, 2 * rows}, seed + 3),
                            Tensor(),
                            random_tensor({directions, kBatch, kHidden}, seed + 4)};
  if (cell.gates == 4) {
    in.push_back(random_tensor({directions, kBatch, kHidden}, seed + 5));
    in.push_back(random_tensor({directions, 3 * kHidden}, seed + 6));
  }
  return in;
}

AttributeList direction(const char* name) { return {{"direction", std::string(name)}}; }

/// The steps of X (axis 0) in reverse order.
Tensor reversed(const Tensor& x) {
  Tensor y = x;
  const int64_t n = x.dim(0), size = x.numel() / n;
  for (int64_t t = 0; t < n; ++t)
    std::copy_n(x.data<double>() + (n - 1 - t) * size, size, y.mutable_data<double>() + t * size);
  return y;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One unit and one feature, so that the equations can be written out.
TEST(Recurrent, FollowsTheEquations) {
  const Tensor x = Tensor::from<double>({1, 1, 1}, {0.5}), h = Tensor::from<double>({1, 1, 1}, {0.25});
  const auto weights = [](const Values& v) {
    return Tensor::from<double>({1, static_cast<int64_t>(v.size()), 1}, v);
  };
  const auto biases = [](const Values& v) {
    return Tensor::from<double>({1, static_cast<int64_t>(v.size())}, v);
  };

  const Tensor rnn =
      run_op("RNN", 14, {x, weights({2}), weights({4}), biases({1, -0.5}), Tensor(), h}, {}, 2)[1];
  EXPECT_DOUBLE_EQ(rnn.item<double>(), std::tanh(0.5 * 2 + 0.25 * 4 + 0.5));

  const std::vector<Tensor> gru = {
      x, weights({1, 2, 3}), weights({-1, 1, 2}), biases({0.1, 0.2, 0.3, 0.4, 0.5, 0.6}), Tensor(), h};
  const double z = sigmoid(0.5 - 0.25 + 0.5), r = sigmoid(1 + 0.25 + 0.7);
  const double before = std::tanh(1.5 + r * 0.25 * 2 + 0.6 + 0.3),
               after = std::tanh(1.5 + r * (0.25 * 2 + 0.6) + 0.3);
  EXPECT_DOUBLE_EQ(run_op("GRU", 14, gru, {}, 2)[1].item<double>(), (1 - z) * before + z * 0.25);
  EXPECT_DOUBLE_EQ(run_op("GRU", 14, gru, {{"linear_before_reset", int64_t{1}}}, 2)[1].item<double>(),
                   (1 - z) * after + z * 0.25);

  const std::vector<Tensor> lstm = {x,
                                    weights({1, 2, 3, 4}),
                                    weights({-1, 1, 2, -2}),
                                    biases(Values(8, 0.05)),
                                    Tensor(),
                                    h,
                                    Tensor::from<double>({1, 1, 1}, {0.75}),
                                    biases({0.3, -0.2, 0.4})};
  const double i = sigmoid(0.5 - 0.25 + 0.1 + 0.3 * 0.75), f = sigmoid(1.5 + 0.5 + 0.1 + 0.4 * 0.75);
  const double c = f * 0.75 + i * std::tanh(2 - 0.5 + 0.1), o = sigmoid(1 + 0.25 + 0.1 - 0.2 * c);
  const std::vector<Tensor> y = run_op("LSTM", 14, lstm, {}, 3);
  EXPECT_NEAR(y[2].item<double>(), c, 1e-15);
  EXPECT_NEAR(y[1].item<double>(), o * std::tanh(c), 1e-15);
  const double coupled = (1 - i) * 0.75 + i * std::tanh(2 - 0.5 + 0.1);
  EXPECT_NEAR(run_op("LSTM", 14, lstm, {{"input_forget", int64_t{1}}}, 3)[2].item<double>(), coupled, 1e-15);
}

TEST(Recurrent, ReverseWalksBackwards) {
  for (const Cell& cell : kCells) {
    std::vector<Tensor> in = inputs_of(cell, 1);
    const std::vector<Tensor> back = run_op(cell.op, 14, in, direction("reverse"), cell.outputs);
    in[0] = reversed(in[0]);
    const std::vector<Tensor> forward = run_op(cell.op, 14, in, {}, cell.outputs);
    expect_near(back[0], reversed(forward[0]), 1e-14, cell.op);
    for (size_t i = 1; i < cell.outputs; ++i) expect_near(back[i], forward[i], 1e-14, cell.op);
  }
}

TEST(Recurrent, BidirectionalIsBothDirections) {
  for (const Cell& cell : kCells) {
    const std::vector<Tensor> in = inputs_of(cell, 2);
    const std::vector<Tensor> both = run_op(cell.op, 14, in, direction("bidirectional"), cell.outputs);
    for (const int64_t d : {0, 1}) {
      std::vector<Tensor> half = in;
      for (size_t i = 1; i < half.size(); ++i)
        if (half[i].defined()) half[i] = slice(half[i], 0, d, d + 1);
      const std::vector<Tensor> one =
          run_op(cell.op, 14, half, direction(d == 0 ? "forward" : "reverse"), cell.outputs);
      expect_near(slice(both[0], 1, d, d + 1), one[0], 1e-14, cell.op);
      for (size_t i = 1; i < cell.outputs; ++i)
        expect_near(slice(both[i], 0, d, d + 1), one[i], 1e-14, cell.op);
    }
  }
}

TEST(Recurrent, LayoutOnePutsTheBatchFirst) {
  for (const Cell& cell : kCells) {
    std::vector<Tensor> in = inputs_of(cell, 2);
    const std::vector<Tensor> wanted = run_op(cell.op, 14, in, direction("bidirectional"), cell.outputs);
    for (const size_t i : {0, 5, 6})
      if (i < in.size()) in[i] = transposed(in[i], {1, 0, 2});
    AttributeList attributes = direction("bidirectional");
    attributes.emplace_back("layout", int64_t{1});
    const std::vector<Tensor> y = run_op(cell.op, 14, in, attributes, cell.outputs);
    expect_near(y[0], transposed(wanted[0], {2, 0, 1, 3}), 1e-14, cell.op);
    for (size_t i = 1; i < cell.outputs; ++i)
      expect_near(y[i], transposed(wanted[i], {1, 0, 2}), 1e-14, cell.op);
  }
}

TEST(Recurrent, ShorterSequencesEndEarlyAndPadWithZeros) {
  for (const Cell& cell : kCells)
    for (const char* way : {"forward", "reverse"}) {
      std::vector<Tensor> in = inputs_of(cell, 1);
      in[4] = Tensor::vector<int32_t>({3, 5});
      const std::vector<Tensor> y = run_op(cell.op, 14, in, direction(way), cell.outputs);
      std::vector<Tensor> alone = in;
      alone[0] = slice(in[0], 0, 0, 3);
      alone[4] = Tensor();
      const std::vector<Tensor> wanted = run_op(cell.op, 14, alone, direction(way), cell.outputs);
      expect_near(slice(slice(y[0], 0, 0, 3), 2, 0, 1), slice(wanted[0], 2, 0, 1), 1e-14, cell.op);
      expect_near(slice(y[1], 1, 0, 1), slice(wanted[1], 1, 0, 1), 1e-14, cell.op);
      for (const double v : values(slice(slice(y[0], 0, 3, 5), 2, 0, 1))) EXPECT_EQ(v, 0) << cell.op;
    }
}

TEST(Recurrent, HandsParametersToTheFunctionsThatTakeThem) {
  const Tensor x = Tensor::from<double>({1, 1, 1}, {-2}), one = Tensor::from<double>({1, 1, 1}, {1});
  const auto run = [&](const char* name, std::vector<float> alpha, std::vector<float> beta) {
    return run_op("RNN", 14, {x, one, one},
                  {{"activations", std::vector<std::string>{name}},
                   {"activation_alpha", std::move(alpha)},
                   {"activation_beta", std::move(beta)}},
                  2)[1]
        .item<double>();
  };
  EXPECT_EQ(run("Affine", {0.5F}, {3}), 2);
  EXPECT_EQ(run("LeakyRelu", {0.25F}, {}), -0.5);
  EXPECT_NEAR(run("LeakyRelu", {}, {}), -0.02, 1e-8);
  EXPECT_EQ(run("ThresholdedRelu", {-3}, {}), -2);
  EXPECT_DOUBLE_EQ(run("ScaledTanh", {2}, {0.5F}), 2 * std::tanh(-1));
  EXPECT_EQ(run("HardSigmoid", {0.25F}, {0.75F}), 0.25);
  EXPECT_DOUBLE_EQ(run("Elu", {2}, {}), 2 * std::expm1(-2));
  EXPECT_DOUBLE_EQ(run("softsign", {}, {}), -2.0 / 3);
  EXPECT_DOUBLE_EQ(run("Softplus", {}, {}), std::log1p(std::exp(-2)));
  EXPECT_EQ(run("RELU", {}, {}), 0);
}

TEST(Recurrent, ClipBoundsTheSums) {
  const Tensor x = Tensor::from<double>({1, 1, 1}, {5}), one = Tensor::from<double>({1, 1, 1}, {1});
  EXPECT_DOUBLE_EQ(run_op("RNN", 14, {x, one, one}, {{"clip", 0.5F}}, 2)[1].item<double>(), std::tanh(0.5));
}

TEST(Recurrent, InfersShapes) {
  const Type x = Type::tensor(DType::kFloat32, Dims{Dim::symbol("t"), Dim::symbol("n"), Dim(3)});
  const Type w = Type::tensor(DType::kFloat32, Shape{2, 16, 3}),
             r = Type::tensor(DType::kFloat32, Shape{2, 16, 4});
  const InferResult y = infer_op("LSTM", 14, {x, w, r}, direction("bidirectional"), 3);
  EXPECT_EQ(y.types[0].str(), "float32[t, 2, n, 4]");
  EXPECT_EQ(y.types[2].str(), "float32[2, n, 4]");
}

TEST(RecurrentErrors, NameTheBrokenRule) {
  std::vector<Tensor> in = inputs_of(kCells[2], 1);
  in.resize(3);
  expect_refused("LSTM", 14,
                 {{in, direction("sideways"), "direction 'sideways'"},
                  {in, {{"hidden_size", int64_t{5}}}, "attribute 'hidden_size' is 5, but R has 4 columns"}});
  const auto run = [&](size_t i, Tensor t, AttributeList attributes = {}) {
    std::vector<Tensor> changed = inputs_of(kCells[2], 1);
    changed[i] = std::move(t);
    run_op("LSTM", 14, changed, std::move(attributes), 3);
  };
  expect_error([&] { run(1, random_tensor({1, 16, 2}, 1)); }, "X has 3 features, but W takes 2");
  expect_error(
      [&] {
        run(3, random_tensor({1, 16}, 1));
      },
      "input B has shape (1, 16) where (1, 32) is needed");
  expect_error([&] { run(4, Tensor::vector<int32_t>({1, 6})); }, "a sequence length of 6 is not in [0, 5]");
  expect_error([&] { run(6, random_tensor({1, 2, 5}, 1)); }, "input initial_c has shape");
  expect_error(
      [&] {
        run(4, Tensor(), {{"activations", std::vector<std::string>{"Tanh"}}});
      },
      "attribute 'activations' has 1 functions where 3 are needed");
  expect_error(
      [&] {
        run(4, Tensor(), {{"activations", std::vector<std::string>{"Tanh", "Sin", "Tanh"}}});
      },
      "'Sin' is not an activation function");
}

TEST(LinearAttention, ContinuesFromItsState) {
  constexpr int64_t kSteps = 6, kHeads = 2, kKey = 4, kValue = 3;
  const Tensor q = random_tensor({1, kSteps, 2 * kHeads * kKey}, 1),
               k = random_tensor({1, kSteps, kHeads * kKey}, 2);
  const Tensor v = random_tensor({1, kSteps, kHeads * kValue}, 3), g = random_tensor({1, kSteps, kHeads}, 4);
  const Tensor beta = random_tensor({1, kSteps, 1}, 5);
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    const bool gated = std::string(rule).find("gated") == 0,
               delta = std::string(rule).find("delta") != std::string::npos;
    const auto run = [&](int64_t first, int64_t last, const Tensor& past) {
      const auto part = [&](const Tensor& t) { return slice(t, 1, first, last); };
      return run_op(
          "LinearAttention", 27,
          {part(q), part(k), part(v), past, gated ? part(g) : Tensor(), delta ? part(beta) : Tensor()},
          {{"q_num_heads", 2 * kHeads}, {"kv_num_heads", kHeads}, {"update_rule", std::string(rule)}}, 2);
    };
    const std::vector<Tensor> whole = run(0, kSteps, Tensor()), start = run(0, 4, Tensor()),
                              rest = run(4, kSteps, start[1]);
    expect_near(slice(whole[0], 1, 4, kSteps), rest[0], 1e-14, rule);
    expect_near(whole[1], rest[1], 1e-14, rule);
  }
  expect_refused("LinearAttention", 27,
                 {{{q, k, v},
                   {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{3}}},
                   "3 heads of keys do not divide 4"},
                  {{q, k, v},
                   {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}},
                   "'gated_delta' needs the input decay"}});
}

// Writing k v^T once and reading with q: scale (q . k) v.
TEST(LinearAttention, ReadsWhatItWrote) {
  const Tensor q = Tensor::from<double>({1, 1, 2}, {1, 2}), k = Tensor::from<double>({1, 1, 2}, {3, 4});
  const Tensor v = Tensor::from<double>({1, 1, 1}, {10});
  const AttributeList attributes = {{"q_num_heads", int64_t{1}},
                                    {"kv_num_heads", int64_t{1}},
                                    {"scale", 0.5F},
                                    {"update_rule", std::string("linear")}};
  EXPECT_EQ(values(run_op("LinearAttention", 27, {q, k, v}, attributes, 2)[0]), (Values{55}));
}

}  // namespace
}  // namespace assay::recurrent_test
