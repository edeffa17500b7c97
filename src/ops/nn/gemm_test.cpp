#include "ops/nn/test_tensors.h"

namespace assay::gemm_test {
namespace {

/// A' = [[1, 2, 3], [4, 5, 6]], B' = [[1, 0], [0, 1], [1, 1]]; the product is [[4, 5], [10, 11]].
Tensor a(bool transposed) {
  return transposed ? Tensor::from<double>({3, 2}, {1, 4, 2, 5, 3, 6})
                    : Tensor::from<double>({2, 3}, {1, 2, 3, 4, 5, 6});
}
Tensor b(bool transposed) {
  return transposed ? Tensor::from<double>({2, 3}, {1, 0, 1, 0, 1, 1})
                    : Tensor::from<double>({3, 2}, {1, 0, 0, 1, 1, 1});
}

TEST(GemmOp, EveryTransposition) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      EXPECT_EQ(
          values(run_op("Gemm", 13, {a(ta), b(tb)}, {{"transA", int64_t{ta}}, {"transB", int64_t{tb}}})[0]),
          (Values{4, 5, 10, 11}));
}

TEST(GemmOp, CBroadcastsAndIsScaled) {
  const auto with = [&](Tensor c) {
    return values(
        run_op("Gemm", 13, {a(false), b(false), std::move(c)}, {{"alpha", 2.0F}, {"beta", 0.5F}})[0]);
  };
  EXPECT_EQ(with(Tensor::scalar(2.0)), (Values{9, 11, 21, 23}));
  EXPECT_EQ(with(Tensor::vector<double>({2, 4})), (Values{9, 12, 21, 24}));
  EXPECT_EQ(with(Tensor::from<double>({2, 1}, {2, 4})), (Values{9, 11, 22, 24}));
  EXPECT_EQ(with(Tensor::from<double>({2, 2}, {2, 4, 6, 8})), (Values{9, 12, 23, 26}));
}

TEST(GemmOp, IntegersWrap) {
  const Tensor x = Tensor::from<int32_t>({1, 2}, {INT32_MAX, 1}), y = Tensor::from<int32_t>({2, 1}, {1, 1});
  EXPECT_EQ(run_op("Gemm", 13, {x, y})[0].item<int32_t>(), INT32_MIN);
}

TEST(GemmOp, MagnitudeTakesEveryAbsoluteValue) {
  const OpTestNode n("Gemm", 13, {true, true, true}, {{"alpha", -2.0F}, {"beta", -1.0F}}, 1, "");
  EvalContext c(
      n.node(), n.op(), n.version(),
      {Tensor::from<double>({1, 2}, {1, -1}), Tensor::from<double>({2, 1}, {1, 1}), Tensor::scalar(-3.0)});
  n.op().numerics.magnitude(c);
  EXPECT_EQ(c.outputs()[0].item<double>(), 7);
}

TEST(GemmOp, InfersAndRefuses) {
  const Type x = Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(3)});
  EXPECT_EQ(infer_op("Gemm", 13, {x, b(false)}).str(), "float32[batch, 2]");
  EXPECT_THROW(infer_op("Gemm", 13, {x, b(true)}), Error);
  EXPECT_THROW(run_op("Gemm", 13, {a(false), b(true)}), Error);
  EXPECT_THROW(run_op("Gemm", 13, {a(false), b(false), Tensor::vector<double>({1, 2, 3})}), Error);
  EXPECT_THROW(run_op("Gemm", 13, {Tensor::vector<double>({1, 2, 3}), b(false)}), Error);
}

}  // namespace
}  // namespace assay::gemm_test
