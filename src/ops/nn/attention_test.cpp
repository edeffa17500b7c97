#include <cmath>
#include <limits>

#include "ops/nn/test_tensors.h"

namespace assay::attention_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// softmax(scale q k^T + bias) v for one head, row by row.
Tensor one_head(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Tensor& bias) {
  const int64_t n = q.dim(0), m = k.dim(0), d = q.dim(1), e = v.dim(1);
  Tensor y = Tensor::zeros(DType::kFloat64, {n, e});
  for (int64_t i = 0; i < n; ++i) {
    Values p(static_cast<size_t>(m));
    double sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      double dot = 0;
      for (int64_t t = 0; t < d; ++t) dot += q.data<double>()[i * d + t] * k.data<double>()[j * d + t];
      sum += p[static_cast<size_t>(j)] = std::exp(scale * dot + bias.data<double>()[i * m + j]);
    }
    for (int64_t j = 0; sum > 0 && j < m; ++j)
      for (int64_t t = 0; t < e; ++t)
        y.mutable_data<double>()[i * e + t] += p[static_cast<size_t>(j)] / sum * v.data<double>()[j * e + t];
  }
  return y;
}

Tensor head(const Tensor& t, int64_t b, int64_t h) {
  return slice(slice(t, 0, b, b + 1), 1, h, h + 1).reshaped({t.dim(2), t.dim(3)});
}

struct Qkv {
  Tensor q, k, v;
};
Qkv random_qkv(int64_t batch, int64_t heads, int64_t key_heads, int64_t queries, int64_t keys) {
  return {random_tensor({batch, heads, queries, 4}, 1), random_tensor({batch, key_heads, keys, 4}, 2),
          random_tensor({batch, key_heads, keys, 3}, 3)};
}

TEST(Attention, EqualsTheDefinitionWithSharedKeyHeadsAndAMask) {
  const Qkv t = random_qkv(2, 4, 2, 3, 5);
  const Tensor mask = random_tensor({2, 1, 3, 5}, 4);
  const Tensor y = run_op("Attention", 23, {t.q, t.k, t.v, mask}, {{"scale", 0.75F}})[0];
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 4; ++h)
      expect_near(head(y, b, h),
                  one_head(head(t.q, b, h), head(t.k, b, h / 2), head(t.v, b, h / 2), 0.75, head(mask, b, 0)),
                  1e-14);
}

TEST(Attention, PackedHeadsAreTheSameHeads) {
  const Qkv t = random_qkv(2, 4, 2, 3, 5);
  const auto packed = [](const Tensor& x) {
    return transposed(x, {0, 2, 1, 3}).reshaped({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
  };
  const Tensor wanted = run_op("Attention", 23, {t.q, t.k, t.v})[0];
  const Tensor y = run_op("Attention", 23, {packed(t.q), packed(t.k), packed(t.v)},
                          {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}})[0];
  expect_near(y, packed(wanted), 1e-14);
}

TEST(Attention, DecodingWithAPastEqualsTheWholeSequence) {
  const Qkv t = random_qkv(1, 2, 2, 6, 6);
  const AttributeList causal = {{"is_causal", int64_t{1}}};
  const Tensor whole = run_op("Attention", 23, {t.q, t.k, t.v}, causal)[0];
  const std::vector<Tensor> y = run_op("Attention", 23,
                                       {slice(t.q, 2, 4, 6), slice(t.k, 2, 4, 6), slice(t.v, 2, 4, 6),
                                        Tensor(), slice(t.k, 2, 0, 4), slice(t.v, 2, 0, 4)},
                                       causal, 3);
  expect_near(y[0], slice(whole, 2, 4, 6), 1e-14);
  expect_near(y[1], t.k, 0);
  expect_near(y[2], t.v, 0);
  // The same with a cache that is longer than its content.
  const Tensor held = Tensor::vector<int64_t>({5});
  const Tensor cached =
      run_op("Attention", 24, {slice(t.q, 2, 3, 5), t.k, t.v, Tensor(), Tensor(), Tensor(), held}, causal)[0];
  expect_near(cached, slice(whole, 2, 3, 5), 1e-14);
}

TEST(Attention, WindowsAndMasksIntersect) {
  const Qkv t = random_qkv(1, 1, 1, 4, 4);
  Tensor bias = Tensor::zeros(DType::kFloat64, {4, 4}), mask = Tensor::allocate(DType::kBool, {4, 4});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      mask.mutable_data<bool>()[i * 4 + j] = j != 1;
      if (j < i - 1 || j > i + 1 || j == 1) bias.mutable_data<double>()[i * 4 + j] = -kInfinity;
    }
  const Tensor y = run_op("Attention", 25, {t.q, t.k, t.v, mask},
                          {{"left_window_size", int64_t{1}}, {"right_window_size", int64_t{1}}})[0];
  expect_near(head(y, 0, 0), one_head(head(t.q, 0, 0), head(t.k, 0, 0), head(t.v, 0, 0), 0.5, bias), 1e-14);
}

TEST(Attention, AQueryWithoutKeysGivesZeros) {
  const Qkv t = random_qkv(1, 1, 1, 2, 3);
  const Tensor mask = Tensor::from<double>({2, 3}, {-kInfinity, -kInfinity, -kInfinity, 0, 0, 0});
  const std::vector<Tensor> y =
      run_op("Attention", 23, {t.q, t.k, t.v, mask}, {{"qk_matmul_output_mode", int64_t{3}}}, 4);
  EXPECT_EQ(values(slice(y[0], 2, 0, 1)), (Values{0, 0, 0}));
  EXPECT_EQ(values(slice(y[3], 2, 0, 1)), (Values{0, 0, 0}));
  EXPECT_NE(values(slice(y[0], 2, 1, 2)), (Values{0, 0, 0}));
}

TEST(Attention, ShowsEveryStage) {
  const Qkv t = random_qkv(1, 1, 1, 2, 3);
  const Tensor mask = random_tensor({2, 3}, 4);
  const auto stage = [&](int64_t mode) {
    return run_op("Attention", 23, {t.q, t.k, t.v, mask},
                  {{"softcap", 2.0F}, {"qk_matmul_output_mode", mode}}, 4)[3];
  };
  Tensor capped = stage(0);
  for (double& x : capped.mutable_span<double>()) x = 2 * std::tanh(x / 2);
  expect_near(stage(1), capped, 1e-15);
  for (int64_t i = 0; i < 6; ++i) capped.mutable_data<double>()[i] += mask.data<double>()[i];
  expect_near(stage(2), capped, 1e-15);
  expect_near(stage(3), run_op("Softmax", 13, {capped})[0], 1e-15);
}

/// Y of one head in float32, as a plain loop.
std::vector<float> attention_in_float(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto at = [](const Tensor& t, int64_t i) { return static_cast<float>(t.data<double>()[i]); };
  const int64_t n = q.dim(2), m = k.dim(2), d = q.dim(3), e = v.dim(3);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  std::vector<float> y;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<float> p;
    float largest = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      float dot = 0;
      for (int64_t t = 0; t < d; ++t) dot += at(q, i * d + t) * at(k, j * d + t);
      p.push_back(dot * scale);
      largest = std::max(largest, p.back());
    }
    for (float& x : p) sum += x = std::exp(x - largest);
    for (int64_t t = 0; t < e; ++t) {
      float total = 0;
      for (int64_t j = 0; j < m; ++j) total += p[static_cast<size_t>(j)] / sum * at(v, j * e + t);
      y.push_back(total);
    }
  }
  return y;
}

TEST(Attention, NoiseAndBoundCoverFloatArithmetic) {
  constexpr int64_t kQueries = 40, kSize = 16;
  for (const int64_t keys : {1, 30, 1000})
    for (const double gain : {1.0, 10.0}) {
      std::vector<Tensor> in = {random_tensor({1, 1, kQueries, kSize}, 1),
                                random_tensor({1, 1, keys, kSize}, 2), random_tensor({1, 1, keys, kSize}, 3)};
      for (double& x : in[0].mutable_span<double>()) x *= gain;
      for (Tensor& t : in)
        for (double& x : t.mutable_span<double>()) x = static_cast<double>(static_cast<float>(x));
      const Tensor y = run_op("Attention", 23, in)[0], bound = custom_bound("Attention", 23, in, {}, 0x1p-24);
      const OpTestNode n("Attention", 23, {true, true, true}, {}, 1, "");
      double squares = 0, most = 0;
      for (uint64_t key = 1; key <= 3; ++key) {
        EvalContext c(n.node(), n.op(), n.version(), in);
        n.op().numerics.perturb(c, 0x1p-24, key);
        for (int64_t i = 0; i < y.numel(); ++i)
          squares += std::pow(c.outputs()[0].data<double>()[i] - y.data<double>()[i], 2);
      }
      const std::vector<float> computed = attention_in_float(in[0], in[1], in[2]);
      for (int64_t i = 0; i < y.numel(); ++i) {
        const double error =
            std::fabs(static_cast<double>(computed[static_cast<size_t>(i)]) - y.data<double>()[i]);
        ASSERT_LE(error, bound.data<double>()[i]) << keys << " at " << i;
        most = std::max(most, error);
      }
      const double explained = 8 * std::sqrt(squares / static_cast<double>(3 * y.numel()));
      EXPECT_LE(most, explained) << keys << " keys, gain " << gain;
      EXPECT_TRUE(keys == 1 || most >= explained / 100) << keys << " keys, gain " << gain;
    }
}

TEST(Attention, BoundStaysFiniteWhereAnArithmeticIsTooCoarse) {
  const Qkv t = random_qkv(1, 1, 1, 3, 5);
  Tensor q = t.q;
  for (double& x : q.mutable_span<double>()) x *= 1e6;
  for (const double b : values(custom_bound("Attention", 23, {q, t.k, t.v}, {}, 0x1p-8))) EXPECT_LT(b, 20);
}

TEST(Attention, InfersShapes) {
  const auto type = [](const char* length, int64_t heads) {
    return Type::tensor(DType::kFloat16, Dims{Dim::symbol("n"), Dim(heads), Dim::symbol(length), Dim(8)});
  };
  const InferResult y = infer_op(
      "Attention", 23,
      {type("s", 4), type("t", 2), type("t", 2), InferInput::missing(), type("p", 2), type("p", 2)}, {}, 4);
  EXPECT_EQ(y.types[0].str(), "float16[n, 4, s, 8]");
  EXPECT_EQ(y.types[1].str(), "float16[n, 2, p+t, 8]");
  EXPECT_EQ(y.types[3].str(), "float16[n, 4, s, p+t]");
}

TEST(AttentionErrors, NameTheBrokenRule) {
  const Qkv t = random_qkv(1, 2, 2, 3, 3);
  const Tensor flat = random_tensor({1, 3, 8}, 1);
  expect_refused("Attention", 23,
                 {{{t.q, t.k, t.v, Tensor(), t.k}, {}, "past_key and past_value must be given together"},
                  {{flat, flat, flat}, {}, "inputs of 3 dimensions need the attribute 'q_num_heads'"},
                  {{flat, flat, flat},
                   {{"q_num_heads", int64_t{3}}, {"kv_num_heads", int64_t{2}}},
                   "3 heads do not divide the hidden size 8"}});
  expect_error(
      [&] {
        run_op("Attention", 23, {t.q, t.k, t.v, random_tensor({2, 3}, 1)});
      },
      "cannot be broadcast together");
  expect_error(
      [&] {
        run_op("Attention", 23, {random_tensor({1, 3, 3, 4}, 1), t.k, t.v});
      },
      "Q has 3 heads, which the 2 of K do not divide");
  expect_error(
      [&] {
        run_op("Attention", 23, {t.q, t.k, t.v}, {{"qk_matmul_output_mode", int64_t{4}}});
      },
      "it must be 0 to 3");
}

TEST(RotaryEmbedding, KeepsLengthsAndComposes) {
  const Tensor x = random_tensor({2, 3, 4, 8}, 1);
  Tensor cosine = Tensor::allocate(DType::kFloat64, {6, 4}), sine = cosine;
  for (int64_t i = 0; i < 24; ++i) {
    cosine.mutable_data<double>()[i] = std::cos(0.1 * static_cast<double>(i));
    sine.mutable_data<double>()[i] = std::sin(0.1 * static_cast<double>(i));
  }
  const Tensor at = Tensor::from<int64_t>({2, 4}, {0, 1, 2, 3, 5, 4, 3, 2});
  for (const int64_t interleaved : {0, 1}) {
    const Tensor y = run_op("RotaryEmbedding", 23, {x, cosine, sine, at}, {{"interleaved", interleaved}})[0];
    for (int64_t row = 0; row < x.numel() / 8; ++row) {
      double before = 0, after = 0;
      for (int64_t i = row * 8; i < row * 8 + 8; ++i) {
        before += std::pow(x.data<double>()[i], 2);
        after += std::pow(y.data<double>()[i], 2);
      }
      EXPECT_NEAR(before, after, 1e-13);
    }
    EXPECT_NEAR(y.data<double>()[0], x.data<double>()[0] * std::cos(0.0), 1e-15);
  }
  expect_error(
      [&] {
        run_op("RotaryEmbedding", 23, {x, cosine, sine, Tensor::from<int64_t>({2, 4}, Ints(8, 6))});
      },
      "position 6 is outside the 6 positions");
}

}  // namespace
}  // namespace assay::attention_test
