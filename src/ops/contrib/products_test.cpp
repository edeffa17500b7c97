// Products with packed weights, and fused products, on numbers that a reader can follow.
#include <cmath>

#include "ops/contrib/contrib_test_util.h"

namespace assay::products_test {
namespace {

AttributeList layout(int64_t n, int64_t k, int64_t bits, int64_t block) {
  return {{"N", n}, {"K", k}, {"bits", bits}, {"block_size", block}};
}

/// Row i of the identity: the product with it is column i of the weights.
Tensor unit_row(int64_t k, int64_t i) {
  Tensor t = Tensor::zeros(DType::kFloat64, {1, k});
  t.mutable_data<double>()[i] = 1;
  return t;
}

TEST(MatMulNBits, ReadsLowBitsFirst) {
  const Tensor scales = Tensor::vector<double>({0.5});
  const auto weight = [&](int64_t bits, const Tensor& b, int64_t i) {
    return run_ms("MatMulNBits", {unit_row(16, i), b, scales}, layout(1, 16, bits, 16)).item<double>();
  };
  std::vector<int> b(8, 0x88);
  b[0] = 0x3f;  // elements 15 and 3, less the zero point 8
  EXPECT_EQ(weight(4, bytes({1, 1, 8}, b), 0), 3.5);
  EXPECT_EQ(weight(4, bytes({1, 1, 8}, b), 1), -2.5);
  EXPECT_EQ(weight(4, bytes({1, 1, 8}, b), 2), 0);
  EXPECT_EQ(weight(2, bytes({1, 1, 4}, {0b11100100, 0, 0, 0}), 3), 0.5);  // 3 - 2
  EXPECT_EQ(weight(2, bytes({1, 1, 4}, {0b11100100, 0, 0, 0}), 1), -0.5);
  std::vector<int> whole(16, 0);
  whole[5] = 130;
  EXPECT_EQ(weight(8, bytes({1, 1, 16}, whole), 5), 1);
}

TEST(MatMulNBits, FindsScaleAndZeroPointOfABlock) {
  // Two rows of two blocks; every quantized value is 5.
  const Tensor b = bytes({2, 2, 8}, std::vector<int>(32, 0x55)),
               scales = Tensor::from<double>({2, 2}, std::vector<double>{1, 2, 3, 4});
  const Tensor zeros = bytes({2, 1}, {0x21, 0x43});
  const auto row = [&](int64_t i, const Tensor& z, const Tensor& groups = {}) {
    return values(run_ms("MatMulNBits", {unit_row(32, i), b, scales, z, groups}, layout(2, 32, 4, 16)));
  };
  EXPECT_EQ(row(0, zeros), (Values{4, 6}));   // (5 - 1) 1, (5 - 3) 3
  EXPECT_EQ(row(20, zeros), (Values{6, 4}));  // (5 - 2) 2, (5 - 4) 4
  EXPECT_EQ(row(20, Tensor::vector<double>({1, 2.5, 3, 4.5})), (Values{5, 2}));
  std::vector<int32_t> groups(32, 1);
  EXPECT_EQ(row(0, zeros, Tensor::vector(groups)), (Values{6, 4}));
}

TEST(MatMulNBits, LetsInt8ActivationsErr) {
  const Tensor a = random_tensor({4, 64}, 1), b = bytes({3, 4, 8}, std::vector<int>(96, 0x3c)),
               scales = random_tensor({12}, 2);
  const auto largest_bound = [&](int64_t level) {
    AttributeList attributes = layout(3, 64, 4, 16);
    attributes.push_back({"accuracy_level", level});
    const OpTestNode n("MatMulNBits", 1, {true, true, true}, attributes, 1, kMsDomain);
    EvalContext c(n.node(), n.op(), n.version(), {a, b, scales});
    const Tensor bound = n.op().numerics.bound(c, 0x1p-24, 0, a);
    return *std::max_element(bound.data<double>(), bound.data<double>() + bound.numel());
  };
  EXPECT_LT(largest_bound(0), 1e-3);
  EXPECT_GT(largest_bound(4), 100 * largest_bound(0));
}

TEST(MatMulNBits, RefusesWhatDoesNotFit) {
  const Tensor a = random_tensor({1, 16}, 1), b = bytes({1, 1, 8}, std::vector<int>(8)),
               s = Tensor::vector<double>({1});
  AttributeList packed = layout(1, 16, 4, 16);
  packed.push_back({"weight_prepacked", int64_t{1}});
  expect_ms_refused("MatMulNBits",
                    {{{a, b, s}, layout(1, 16, 3, 16), "'bits' is 3"},
                     {{a, b, s}, layout(1, 16, 4, 24), "power of 2"},
                     {{a, b, s}, layout(1, 17, 4, 16), "K is 17"},
                     {{a, b, s}, layout(2, 16, 4, 16), "16 elements are needed"},
                     {{a, b, s}, layout(0, 16, 4, 16), "must be positive"},
                     {{a, b, Tensor::vector<double>({1, 2})}, layout(1, 16, 4, 16), "1 elements are needed"},
                     {{a, b, s}, packed, "packed for a device"},
                     {{a, b, s, {}, Tensor::vector<int32_t>(std::vector<int32_t>(16, 1))},
                      layout(1, 16, 4, 16),
                      "not a block"}});
}

TEST(MatMulBnb4, KnowsBothTables) {
  const auto weight = [](int64_t type, int bits, double largest) {
    std::vector<int> b(8, 0);
    b[0] = bits << 4;
    return run_ms("MatMulBnb4", {unit_row(16, 0), bytes({8}, b), Tensor::vector<double>({largest})},
                  {{"N", int64_t{1}}, {"K", int64_t{16}}, {"block_size", int64_t{16}}, {"quant_type", type}})
        .item<double>();
  };
  EXPECT_EQ(weight(0, 3, 2), 2);
  EXPECT_EQ(weight(0, 0b1010, 3), -2);
  EXPECT_EQ(weight(1, 0, 2), -2);
  EXPECT_EQ(weight(1, 7, 2), 0);
  EXPECT_EQ(weight(1, 15, 2), 2);
}

TEST(GatherBlockQuantized, UnpacksTheRowsItTakes) {
  // Two rows of 32 values of 4 bits in two blocks.
  std::vector<int> data(32, 0x21);
  data[16] = 0xf0;
  const Tensor scales = Tensor::from<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  const Tensor y =
      run_ms("GatherBlockQuantized", {bytes({2, 16}, data), Tensor::vector<int64_t>({1, -2}), scales},
             {{"block_size", int64_t{16}}});
  EXPECT_EQ(y.shape(), (Shape{2, 32}));
  EXPECT_EQ(y.dtype(), DType::kFloat32);
  const float* p = y.data<float>();
  EXPECT_EQ(p[0], -24);        // (0 - 8) 3
  EXPECT_EQ(p[1], 21);         // (15 - 8) 3
  EXPECT_EQ(p[32], -7);        // (1 - 8) 1 of row 0
  EXPECT_EQ(p[32 + 17], -12);  // (2 - 8) 2
  expect_ms_refused(
      "GatherBlockQuantized",
      {{{bytes({2, 16}, data), Tensor::vector<int64_t>({2}), scales}, {{"block_size", int64_t{16}}}, "2"},
       {{bytes({2, 16}, data), Tensor::vector<int64_t>({0}), scales},
        {{"block_size", int64_t{32}}},
        "scales have shape"},
       {{bytes({2, 16}, data), Tensor::vector<int64_t>({0}), scales},
        {{"bits", int64_t{3}}, {"block_size", int64_t{16}}},
        "'bits' is 3"},
       {{bytes({2, 16}, data), Tensor::vector<int64_t>({0}), scales},
        {{"block_size", int64_t{0}}},
        "'block_size' is 0"}});
}

TEST(FusedMatMul, TurnsTheBatch) {
  const Tensor a = random_tensor({4, 2, 3, 5}, 1), b = random_tensor({2, 3, 5, 6}, 2);
  const Tensor y = run_ms("FusedMatMul", {a, b}, {{"transBatchA", int64_t{1}}, {"alpha", 0.5F}});
  Tensor expected = run_op("MatMul", 13, {transposed(a, {1, 2, 0, 3}), b})[0];
  for (double& x : expected.mutable_span<double>()) x *= 0.5;
  expect_near(y, expected, 1e-12);
  EXPECT_EQ(infer_ms("FusedMatMul", {float_type({4, named("b"), 5}), float_type({named("b"), 6, 5})},
                     {{"transBatchA", int64_t{1}}, {"transB", int64_t{1}}}),
            "float32[b, 4, 6]");
  expect_ms_refused("FusedMatMul", {{{a, random_tensor({4, 6}, 3)}, {}, "inner extents"}});
}

TEST(FusedActivation, IsAppliedToTheSum) {
  const Tensor a = Tensor::from<double>({1, 2}, std::vector<double>{1, -2}),
               b = Tensor::from<double>({2, 1}, std::vector<double>{3, 4});
  EXPECT_EQ(
      run_ms("FusedGemm", {a, b}, {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.5F}})
          .item<double>(),
      -2.5);
  EXPECT_EQ(
      run_ms("FusedGemm", {a, b}, {{"activation", std::string("Relu")}, {"alpha", -1.0F}}).item<double>(), 5);
  expect_ms_refused("FusedGemm", {{{a, b}, {{"activation", std::string("Swoosh")}}, "'Swoosh' is unknown"}});
  const Tensor x = Tensor::from<double>({1, 1, 1, 2}, std::vector<double>{1, -3}),
               w = Tensor::from<double>({1, 1, 1, 1}, std::vector<double>{2});
  EXPECT_EQ(
      values(run_ms("FusedConv", {x, w, {}, Tensor::from<double>({1, 1, 1, 2}, std::vector<double>{1, 1})},
                    {{"activation", std::string("Clip")}, {"activation_params", std::vector<float>{-4, 2}}})),
      (Values{2, -4}));
}

}  // namespace
}  // namespace assay::products_test
