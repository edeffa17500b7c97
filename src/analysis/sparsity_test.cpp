#include "analysis/sparsity.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::sparsity_test {
namespace {

/// Two of four neighbours along the axis are zero.
Tensor sparse(const Shape& shape, size_t axis, DType dtype = DType::kFloat32) {
  Tensor t = Tensor::zeros(dtype, shape);
  const int64_t inner = shape.numel(axis + 1, shape.size());
  for (int64_t i = 0; i < t.numel(); ++i) {
    if ((i / inner) % shape[axis] % 4 > 1) continue;
    if (dtype == DType::kFloat32)
      static_cast<float*>(t.mutable_data())[i] = 1;
    else
      static_cast<uint16_t*>(t.mutable_data())[i] = 0x3C00;
  }
  return t;
}

class SparsityTest : public testing::Test {
 protected:
  Value* input(const std::string& name) { return g.add_input(name, Type::tensor(DType::kFloat32)); }
  Value* weight(const std::string& name, Tensor t) { return g.add_constant(name, std::move(t)); }
  Value* node(const std::string& op, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* out = g.add_value(g.unique_name("v"));
    g.add_node(op, std::move(inputs), {out}, std::move(attributes), op + "_node");
    return out;
  }
  std::vector<std::pair<std::string, size_t>> targets() {
    std::vector<std::pair<std::string, size_t>> list;
    const SparsityTargets found = find_sparsity_targets(m);
    for (const auto& u : found.unreached) left_out.push_back(u.producer + " " + u.op_type);
    for (const auto& s : found.skipped) left_out.push_back(s.weight->name() + " " + s.reason);
    for (const SparsityTarget& t : found.eligible) list.emplace_back(t.weight->name(), t.axis);
    return list;
  }
  using List = std::vector<std::pair<std::string, size_t>>;

  Model m;
  Graph& g = *m.graph;
  std::vector<std::string> left_out;
};

TEST_F(SparsityTest, AxesOfProducts) {
  Value* x = input("x");
  node("Conv", {x, weight("conv", sparse({8, 4, 3, 3}, 1))});
  node("MatMul", {x, weight("right", sparse({4, 3}, 0))});
  node("MatMul", {weight("left", sparse({3, 4}, 1)), x});
  node("Gemm", {x, weight("gemm", sparse({4, 3}, 0))});
  node("Gemm", {x, weight("gemm_t", sparse({3, 4}, 1))}, {{"transB", int64_t{1}}});
  EXPECT_EQ(targets(), (List{{"conv", 1}, {"right", 0}, {"left", 1}, {"gemm", 0}, {"gemm_t", 1}}));
}

TEST_F(SparsityTest, LooksThroughCastsQuantizationAndTransposes) {
  Value* x = input("x");
  Value* cast = node("Cast", {weight("half", sparse({4, 8}, 0, DType::kFloat16))}, {{"to", int64_t{1}}});
  node("MatMul", {x, node("DequantizeLinear", {node("QuantizeLinear", {cast})})});
  node("MatMul",
       {x, node("Transpose", {weight("t", sparse({3, 4}, 1))}, {{"perm", std::vector<int64_t>{1, 0}}})});
  node("MatMul", {x, node("Transpose", {weight("reversed", sparse({3, 4}, 1))})});
  // Output axis 1 is input axis 2.
  node("Conv", {x, node("Transpose", {weight("cycle", sparse({2, 2, 4}, 2))},
                        {{"perm", std::vector<int64_t>{0, 2, 1}}})});
  EXPECT_EQ(targets(), (List{{"half", 0}, {"t", 1}, {"reversed", 1}, {"cycle", 2}}));
}

TEST_F(SparsityTest, SaysWhatItLeavesOut) {
  Value* x = input("x");
  node("MatMul", {x, node("Sub", {weight("w", sparse({4, 4}, 0))})});
  node("MatMul", {x, node("Reshape", {weight("u", sparse({4, 4}, 0))})});
  node("MatMul", {x, weight("odd", Tensor::zeros(DType::kFloat32, {6, 4}))});
  node("MatMul", {x, weight("batch", Tensor::zeros(DType::kFloat32, {4, 4, 4}))});
  node("MatMul", {x, weight("bytes", Tensor::zeros(DType::kInt8, {4, 4}))});
  EXPECT_EQ(targets(), List());
  ASSERT_EQ(left_out.size(), 4U);
  EXPECT_EQ(left_out[0], "Sub_node Sub");
  const auto says = [&](const std::string& text) {
    return std::find(left_out.begin(), left_out.end(), text) != left_out.end();
  };
  EXPECT_TRUE(says("bytes unsupported type: int8"));
}

TEST_F(SparsityTest, EveryGroupOfFourNeedsTwoZeros) {
  for (const size_t axis : {0U, 1U, 2U})
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
      EXPECT_TRUE(has_2_4_sparsity(sparse({8, 4, 12}, axis, dtype), axis)) << axis;
  EXPECT_TRUE(has_2_4_sparsity(Tensor::from<float>({4}, std::vector<float>{1, -0.0F, 0.0F, 2}), 0));
  EXPECT_FALSE(has_2_4_sparsity(Tensor::from<float>({4}, std::vector<float>{1, 0, 3, 2}), 0));
  Tensor last = sparse({8, 4}, 1);
  static_cast<float*>(last.mutable_data())[31] = 1e-40F;
  EXPECT_FALSE(has_2_4_sparsity(last, 1));
}

}  // namespace
}  // namespace assay::sparsity_test
